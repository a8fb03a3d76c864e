// LU over several processes: the same bits as in one. The test starts itself by mpirun; then the
// first process checks and the others do what it announces.
#include <unistd.h>

#include <cstdlib>
#include <filesystem>

#include "base/error.hpp"
#include "distributed/distributed_lu.hpp"
#include "distributed/worker.hpp"
#include "factors.hpp"

namespace lugpu {
namespace {

/// The processes, whose panels go by messages, as between hosts, if the test has been told so.
class Messages : public ProcessGroup {
 public:
  explicit Messages(ProcessGroup& processes) : processes_(processes) {}
  std::size_t rank() const override { return processes_.rank(); }
  std::size_t size() const override { return processes_.size(); }
  std::function<void()> begin_broadcast(void* data, std::size_t bytes, std::size_t root) override {
    return processes_.begin_broadcast(data, bytes, root);
  }
  void move(void* data, std::size_t bytes, std::size_t from, std::size_t to) override {
    processes_.move(data, bytes, from, to);
  }
  void barrier() override { processes_.barrier(); }
  std::shared_ptr<char> shared_memory(std::size_t) override { return nullptr; }
  void abort(const std::string& sentence) override { processes_.abort(sentence); }

 private:
  ProcessGroup& processes_;
};

constexpr const char* kByMessages = "LUGPU_TEST_BY_MESSAGES";

ProcessGroup& processes() {
  static Messages by_messages(process_group());
  return std::getenv(kByMessages) ? by_messages : process_group();
}

/// One device, two and three of a process; each is the same one in contexts of its own.
std::vector<Team> open_teams() {
  static std::vector<std::unique_ptr<DeviceContext>> contexts;
  std::vector<Team> teams;
  Team team;
  for (std::size_t d = 0; d < 3; ++d) {
    contexts.push_back(std::make_unique<DeviceContext>(shared_context().device()));
    team.push_back(contexts.back().get());
    teams.push_back(team);
  }
  return teams;
}

struct SharedKind {
  Precision precision;
  Pivot pivot;
};

void PrintTo(const SharedKind& kind, std::ostream* out) {
  *out << name(kind.precision) << "_" << name(kind.pivot);
}

/// What a factorization and solutions left.
struct Answer {
  Matrix lu, x, transposed;
  Outcome outcome;
};

class UnderMpirun : public testing::TestWithParam<SharedKind> {
 protected:
  static void SetUpTestSuite() {
    if (processes().size() > 1) crew_ = std::make_unique<Crew>(processes(), open_teams());
  }
  static void TearDownTestSuite() { crew_.reset(); }
  void SetUp() override {
    if (!crew_) GTEST_SKIP() << "Processes.ShareASystem starts mpirun";
    const std::string missing =
        missing_on(handle_of(shared_context().device()), {precision, Storage::buffer});
    if (!missing.empty()) GTEST_SKIP() << missing;
  }

  Answer answer(std::size_t team, Crew* crew, const Matrix& a, const Matrix& b) const {
    DenseOptions options = {pivot, precision};
    options.nb = 64;
    options.crew = crew;
    const Team& devices = crew_->team(team);
    options.others.assign(devices.begin() + 1, devices.end());
    DistributedLu lu(*devices.front(), Size::square(a.rows(), b.cols()), options);
    Answer answer{Matrix(a.rows(), a.rows()), Matrix(a.rows(), b.cols()), b, {}};
    for (int again = 0; again < 2; ++again) {
      lu.upload(a, b);
      lu.factor();
    }
    answer.outcome = lu.outcome();
    lu.download_factors(0, answer.lu.view());
    if (answer.outcome.info > 0) return answer;
    lu.solve();
    lu.download(answer.x.view());
    lu.apply_inverse(answer.transposed, Op::transpose);
    return answer;
  }

  void expect_same(std::size_t team, const Matrix& a, const Matrix& b) const {
    SCOPED_TRACE(std::to_string(a.rows()) + ", devices " + std::to_string(team + 1));
    const Answer one = answer(0, nullptr, a, b), shared = answer(team, crew_.get(), a, b);
    EXPECT_TRUE(equal(shared.lu, one.lu));
    EXPECT_TRUE(equal(shared.x, one.x));
    EXPECT_TRUE(equal(shared.transposed, one.transposed));
    EXPECT_EQ(shared.outcome.ipiv, one.outcome.ipiv);
    EXPECT_EQ(shared.outcome.info, one.outcome.info);
    EXPECT_EQ(shared.outcome.pivots, one.outcome.pivots);
  }

  static std::unique_ptr<Crew> crew_;
  const Precision precision = GetParam().precision;
  const Pivot pivot = GetParam().pivot;
};

std::unique_ptr<Crew> UnderMpirun::crew_;

TEST_P(UnderMpirun, TheSameBits) {
  for (const std::size_t n : {1, 2, 63, 64, 65, 127, 128, 129, 191, 193, 257, 320, 333, 449, 700}) {
    const Matrix a = harmless_for(pivot, precision, n, n, n), b = random_in(precision, n, 3, 3);
    for (const std::size_t team : {0, 1}) expect_same(team, a, b);
    if (n == 333) expect_same(2, a, b);
  }
}

TEST_P(UnderMpirun, InfoIsTheFirstZeroPivot) {
  for (const std::size_t zero : {0, 64, 129, 199}) {
    Matrix a = diagonal(200, 4);
    a(zero, zero) = a(199, 199) = 0;
    expect_same(1, a, Matrix(200, 1));
  }
}

TEST_P(UnderMpirun, SeveralSystemsAtOnce) {
  DenseOptions options = {pivot, precision};
  options.nb = 64;
  options.crew = crew_.get();
  const Size size = Size::square(200, 0);
  const Matrix a = harmless_for(pivot, precision, 200, 200, 1), none(200, 0);
  DistributedLu first(*crew_->team(0).front(), size, options);
  first.upload(a, none);
  {
    DistributedLu second(*crew_->team(0).front(), size, options);
    second.upload(harmless_for(pivot, precision, 200, 200, 2), none);
    second.factor();
  }
  first.factor();
  Matrix lu(200, 200);
  first.download_factors(0, lu.view());
  EXPECT_TRUE(equal(lu, answer(0, nullptr, a, none).lu));
}

// That one process cannot build is an error on the first, and the next system is solved.
TEST_P(UnderMpirun, RefusesOnAll) {
  DenseOptions options = {pivot, precision};
  options.nb = 50;  // no multiple of 64
  options.crew = crew_.get();
  EXPECT_THROW(DistributedLu(*crew_->team(0).front(), Size::square(100, 0), options), Unsupported);
  const Matrix a = harmless_for(pivot, precision, 100, 100, 1);
  expect_same(0, a, Matrix(100, 1));
}

INSTANTIATE_TEST_SUITE_P(Kinds, UnderMpirun,
                         testing::Values(SharedKind{Precision::single_precision, Pivot::none},
                                         SharedKind{Precision::single_precision, Pivot::partial},
                                         SharedKind{Precision::double_precision, Pivot::none},
                                         SharedKind{Precision::double_precision, Pivot::partial}),
                         testing::PrintToStringParamName());

TEST(Processes, ShareASystem) {
  if (processes().size() > 1) return;
  const std::filesystem::path program = std::filesystem::read_symlink("/proc/self/exe");
  if (!std::filesystem::exists(program.parent_path() / "liblugpu_mpi.so")) {
    GTEST_SKIP() << "this build found no Open MPI";
  }
  if (std::system("command -v mpirun >/dev/null") != 0) GTEST_SKIP() << "there is no mpirun";
  setenv("OMPI_ALLOW_RUN_AS_ROOT", "1", 0);
  setenv("OMPI_ALLOW_RUN_AS_ROOT_CONFIRM", "1", 0);
  const auto mpirun = [&](const std::string& count, const std::string& filter) {
    const std::string command = "mpirun --oversubscribe -n " + count + " '" + program.string() +
                                "' --gtest_filter=" + filter;
    EXPECT_EQ(std::system(command.c_str()), 0) << command;
  };
  mpirun("2", "*UnderMpirun*");
  mpirun("3", "*UnderMpirun*");
  setenv(kByMessages, "1", 1);
  mpirun("2", "*UnderMpirun.TheSameBits/double_partial");
  mpirun("3", "*UnderMpirun.TheSameBits/single_partial");
}

}  // namespace
}  // namespace lugpu

int main(int argc, char** argv) {
  testing::InitGoogleTest(&argc, argv);
  lugpu::ProcessGroup& processes = lugpu::processes();
  if (processes.rank() > 0) {
    lugpu::work(processes, lugpu::open_teams);
    return 0;
  }
  const int status = RUN_ALL_TESTS();
  lugpu::Task end;
  processes.broadcast(&end, sizeof end, 0);
  return status;
}
