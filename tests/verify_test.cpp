// `lugpu verify`: what it covers, that it finds kernels that are wrong, and what follows for auto.
#include "bench/verify.hpp"

#include <sys/stat.h>

#include <map>
#include <set>

#include "base/error.hpp"
#include "contenders.hpp"
#include "kernel_files.hpp"
#include "opencl_fixture.hpp"
#include "solve/failed_paths.hpp"

namespace lugpu {
namespace {

std::string path_of(const Case& what) {
  return path_name(find_method(what.routine), what.problem);
}

TEST(VerificationCases, CoverEveryPathWithEveryKind) {
  for (const bool thorough : {false, true}) {
    std::map<std::string, std::set<std::string>> kinds, orders;
    std::map<std::string, std::set<std::size_t>> parts;
    for (const Case& what : verification_cases(shared_context().device(), thorough)) {
      kinds[path_of(what)].insert(what.matrix);
      orders[path_of(what)].insert(std::to_string(what.problem.size.n));
      parts[path_of(what)].insert(verification_part(what));
      EXPECT_LT(verification_part(what), kVerificationParts);
    }
    std::size_t paths = 0;
    for (const Method& method : methods()) {
      const std::size_t schedules = method.block_size ? 1 : 2;
      paths += method.pivots().size() * schedules * all_kinds().size();
      // Mixed precision, with factors in single.
      if (method.block_size) paths += method.pivots().size() * all_kinds().size() / 2;
    }
    EXPECT_EQ(kinds.size(), paths);
    for (const auto& [path, its_kinds] : kinds) {
      const bool without = path.find(" none ") != std::string::npos;
      EXPECT_EQ(its_kinds.size(), without ? 5u : 13u) << path;
      EXPECT_EQ(orders[path].size(), thorough ? 17u : 6u) << path;
      EXPECT_EQ(parts[path].size(), 1u) << path;
    }
  }
}

/// The quick cases of order up to n with this text in the name of their path.
std::vector<Case> cases_with(const Device& device, const std::string& part, std::size_t n) {
  std::vector<Case> cases = verification_cases(device, false);
  std::erase_if(cases, [&](const Case& what) {
    return what.problem.size.n > n || path_of(what).find(part) == std::string::npos;
  });
  return cases;
}

Verification run(DeviceContext context, const std::vector<Case>& cases) {
  std::vector<DeviceContext> contexts;
  contexts.push_back(std::move(context));
  Verification verification;
  std::size_t begun = cases.size();
  verify(
      cases, contexts, [&](std::size_t i) { begun = i; },
      [&](std::size_t i, const Finding& finding) {
        EXPECT_EQ(i, begun);
        verification.add(cases[i], finding);
      });
  return verification;
}

TEST(Verify, ThisDeviceIsRight) {
  const Device& device = shared_context().device();
  const Verification verification = run(DeviceContext(device), cases_with(device, "single", 33));
  EXPECT_TRUE(verification.passed());
  EXPECT_TRUE(verification.failed_paths().empty());
  for (const Verdict& verdict : verification.paths) {
    EXPECT_EQ(verdict.wrong, 0u) << verdict.name << ": " << verdict.reason;
    if (verdict.status == RunStatus::unsupported) {
      EXPECT_EQ(verdict.systems, 0u);
      EXPECT_FALSE(verdict.reason.empty());
    } else {
      EXPECT_EQ(verdict.status, RunStatus::ok);
      EXPECT_EQ(verdict.systems, verdict.path.problem.dense.pivot == Pivot::none ? 20u : 52u);
      EXPECT_GT(verdict.largest_ratio, 0);
      EXPECT_LT(verdict.largest_ratio, 30);
    }
  }
}

/// The unblocked paths of single precision on plain buffers that fail with one line of a kernel
/// changed.
std::vector<std::string> failing(const std::string& file, const std::string& right,
                                 const std::string& wrong) {
  Folder folder;
  copy_kernels(folder.path() / "kernels", file, right, wrong);
  const Device& device = shared_context().device();
  const Verification verification =
      run(DeviceContext(device, {(folder.path() / "kernels").string()}),
          cases_with(device, "single buffer r ", 33));
  std::set<std::string> named;
  for (const nlohmann::json& record : verification.wrong) {
    EXPECT_NE(record["reason"], "");
    std::string path;
    for (const char* key : {"routine", "pivot", "precision", "storage", "texel", "schedule"}) {
      path += (path.empty() ? "" : " ") + record[key].get<std::string>();
    }
    named.insert(path);
  }
  const std::vector<std::string> failed = verification.failed_paths();
  EXPECT_EQ(named, std::set<std::string>(failed.begin(), failed.end()));
  EXPECT_EQ(verification.passed(), failed.empty());
  return failed;
}

/// The paths of lu with one schedule.
std::vector<std::string> lu_paths(const std::string& schedule) {
  std::vector<std::string> paths;
  for (const Pivot pivot : find_method("lu").pivots()) {
    paths.push_back(std::string("lu ") + name(pivot) + " single buffer r " + schedule);
  }
  return paths;
}

TEST(Verify, NamesThePathsWithWrongFactors) {
  EXPECT_EQ(failing("dense/finish.clh", "element / pivots[j]", "element"), lu_paths("fused"));
}

// A reduction that forgets the second half of the work-items.
TEST(Verify, NamesThePathsWhosePivotSearchMissesElements) {
  EXPECT_EQ(
      failing("dense/pivot_search.clh", "magnitude[other] > magnitude[me] || ",
              "magnitude[other] > magnitude[me] && stride < 16 || "),
      (std::vector<std::string>{
          "lu partial single buffer r fused", "lu partial single buffer r paper",
          "lu scaled single buffer r fused", "lu scaled single buffer r paper",
          "lu rook single buffer r fused", "lu rook single buffer r paper",
          "gauss-jordan partial single buffer r fused",
          "gauss-jordan partial single buffer r paper", "gauss-jordan scaled single buffer r fused",
          "gauss-jordan scaled single buffer r paper"}));
}

TEST(Verify, NamesThePathsThatMissAZeroPivot) {
  EXPECT_EQ(failing("dense/normalize.clh", "if (row == k) pivots[k] = pivot;",
                    "if (row == k) pivots[k] = pivot == 0 ? 1 : pivot;"),
            lu_paths("paper"));
}

// L(1:n, 0) of a matrix whose first column is zero; info is right, and there is no X.
TEST(Verify, NamesThePathsWithWrongFactorsOfSingularMatrices) {
  EXPECT_EQ(failing("dense/finish.clh", "element / pivots[j] : element;",
                    "element / pivots[j] : j < i ? element + 1 : element;"),
            (std::vector<std::string>{"lu partial single buffer r fused",
                                      "lu scaled single buffer r fused"}));
}

// That a program does not build may pass, as when the disk is full: no verdict.
TEST(Verify, WithKernelsThatDoNotBuildNothingIsKnown) {
  Folder folder;
  copy_kernels(folder.path() / "kernels", "dense/fused.cl", "__kernel", "kernel of nothing");
  const Device& device = shared_context().device();
  const Verification verification =
      run(DeviceContext(device, {(folder.path() / "kernels").string()}),
          cases_with(device, "lu partial single buffer r ", 2));
  EXPECT_TRUE(verification.failed_paths().empty());
  EXPECT_TRUE(verification.passed());
  for (const Verdict& verdict : verification.paths) {
    const bool fused = verdict.name.ends_with("fused");
    EXPECT_EQ(verdict.status, fused ? RunStatus::unknown : RunStatus::ok) << verdict.name;
  }
  ASSERT_EQ(verification.unknown_paths().size(), 1u);
  const Verdict& unknown = *verification.unknown_paths().front();
  EXPECT_EQ(unknown.name, "lu partial single buffer r fused");
  EXPECT_NE(unknown.reason.find("clBuildProgram failed with CL_BUILD_PROGRAM_FAILURE (-11): "),
            std::string::npos)
      << unknown.reason;
}

TEST(Verify, APathWhoseSystemsCannotBeTriedIsGivenUp) {
  Folder folder;
  copy_kernels(folder.path() / "kernels", "dense/fused.cl", "__kernel", "kernel of nothing");
  const Device& device = shared_context().device();
  std::vector<DeviceContext> contexts;
  contexts.emplace_back(device, KernelSettings{(folder.path() / "kernels").string()});
  const std::vector<Case> cases = cases_with(device, "lu partial single buffer r fused", 33);
  std::vector<std::size_t> found;
  verify(
      cases, contexts, [](std::size_t) {},
      [&](std::size_t i, const Finding& finding) {
        found.push_back(i);
        EXPECT_EQ(finding.status, RunStatus::unknown);
      });
  EXPECT_GT(cases.size(), 2u);
  EXPECT_EQ(found, (std::vector<std::size_t>{0, 1}));
}

/// The status of a path whose systems have these.
RunStatus status_of(const std::vector<RunStatus>& findings) {
  Verification verification;
  Case what;
  what.routine = "lu";
  for (const RunStatus status : findings) verification.add(what, {status, "reason", 0, {{"n", 1}}});
  EXPECT_EQ(verification.paths.size(), 1u);
  EXPECT_EQ(verification.paths.front().reason.empty(),
            verification.paths.front().status == RunStatus::ok);
  EXPECT_EQ(verification.unknown_paths().empty(),
            verification.paths.front().status != RunStatus::unknown);
  return verification.paths.front().status;
}

TEST(Verdict, WrongGoesBeforeUnknownAndThatBeforeRight) {
  constexpr RunStatus kOk = RunStatus::ok, kUnknown = RunStatus::unknown,
                      kNo = RunStatus::unsupported;
  EXPECT_EQ(status_of({kOk, kUnknown}), kUnknown);
  EXPECT_EQ(status_of({kUnknown, kOk}), kUnknown);
  EXPECT_EQ(status_of({kUnknown, kNo}), kUnknown);
  EXPECT_EQ(status_of({kNo, kUnknown}), kUnknown);
  EXPECT_EQ(status_of({kUnknown, RunStatus::failed}), RunStatus::failed);
  EXPECT_EQ(status_of({RunStatus::error, kUnknown}), RunStatus::error);
  EXPECT_EQ(status_of({RunStatus::failed, kUnknown, kOk}), RunStatus::failed);
  EXPECT_EQ(status_of({kNo, kOk, kNo}), kOk);
  EXPECT_EQ(status_of({kNo, kNo}), kNo);
}

TEST(Verify, WithoutDoublePrecisionItIsUnsupported) {
  Device device = shared_context().device();
  device.double_precision = false;
  const Verification verification =
      run(DeviceContext(device), cases_with(device, "lu partial double buffer r fused", 3));
  ASSERT_EQ(verification.paths.size(), 1u);
  EXPECT_EQ(verification.paths[0].status, RunStatus::unsupported);
  EXPECT_TRUE(verification.passed());
}

// The file of failed paths.

class FailedPathsFile : public testing::Test {
 protected:
  void SetUp() override {
    setenv("XDG_CACHE_HOME", cache_.path().c_str(), 1);
    device_.platform = "P";
    device_.name = "Ada";
    device_.driver_version = "1.0";
  }
  void TearDown() override { unsetenv("XDG_CACHE_HOME"); }

  std::vector<std::string> read() const { return read_record(kFailedPathsRecord, device_, {}); }
  fs::path file() const {
    const fs::path folder = cache_.path() / "lugpu";
    return fs::directory_iterator(folder)->path();
  }

  Folder cache_;
  Device device_;
  const std::vector<std::string> two_ = {"lu partial single image r fused",
                                         "lu-blocked none double buffer r"};
};

TEST_F(FailedPathsFile, AreReadAsWritten) {
  EXPECT_TRUE(read().empty());
  write_record(kFailedPathsRecord, device_, {}, two_);
  EXPECT_EQ(read(), two_);
  write_record(kFailedPathsRecord, device_, {}, {two_[1]});
  EXPECT_EQ(read(), std::vector<std::string>{two_[1]});
}

TEST_F(FailedPathsFile, AreForgottenWhenThereAreNone) {
  write_record(kFailedPathsRecord, device_, {}, {});
  write_record(kFailedPathsRecord, device_, {}, two_);
  write_record(kFailedPathsRecord, device_, {}, {});
  EXPECT_TRUE(read().empty());
  EXPECT_TRUE(fs::is_empty(cache_.path() / "lugpu"));
}

TEST_F(FailedPathsFile, AreOfOneDeviceDriverAndSetOfKernels) {
  write_record(kFailedPathsRecord, device_, {}, two_);
  for (std::string Device::*field : {&Device::platform, &Device::name, &Device::driver_version}) {
    Device other = device_;
    other.*field += "1";
    EXPECT_TRUE(read_record(kFailedPathsRecord, other, {}).empty());
  }
  EXPECT_TRUE(read_record(kFailedPathsRecord, device_, {"", false}).empty());

  Folder folder;
  copy_kernels(folder.path() / "same", "common/copy.clh", "__kernel", "__kernel");
  EXPECT_EQ(read_record(kFailedPathsRecord, device_, {(folder.path() / "same").string()}), two_);
  copy_kernels(folder.path() / "other", "common/copy.clh", "__kernel", "__kernel ");
  EXPECT_TRUE(
      read_record(kFailedPathsRecord, device_, {(folder.path() / "other").string()}).empty());
  EXPECT_TRUE(
      read_record(kFailedPathsRecord, device_, {(folder.path() / "none").string()}).empty());
}

TEST_F(FailedPathsFile, ACutOffFileIsIgnored) {
  write_record(kFailedPathsRecord, device_, {}, two_);
  const std::string whole = text_of(file());
  for (std::size_t length = 0; length < whole.size(); ++length) {
    write_text(file(), whole.substr(0, length));
    EXPECT_TRUE(read().empty()) << length;
  }
  write_text(file(), whole);
  EXPECT_EQ(read(), two_);
}

TEST_F(FailedPathsFile, WhatIsNoSuchFileIsIgnored) {
  write_record(kFailedPathsRecord, device_, {}, two_);
  const fs::path path = file();
  const std::string whole = text_of(path);
  for (const std::string& text :
       {std::string("end\n"), std::string(1000, '\0'), std::string("\xff\xfe garbage\nend\n"),
        whole + "more", whole.substr(1), "x" + whole, std::string(1 << 20, '\n') + "end\n"}) {
    write_text(path, text);
    EXPECT_TRUE(read().empty());
  }
  fs::remove(path);
  fs::create_directory(path);
  EXPECT_TRUE(read().empty());
  fs::remove(path);
  ASSERT_EQ(mkfifo(path.c_str(), 0600), 0);
  EXPECT_TRUE(read().empty());
}

TEST_F(FailedPathsFile, AreListedAndForgotten) {
  EXPECT_TRUE(all_records(kFailedPathsRecord).empty());
  write_record(kFailedPathsRecord, device_, {}, two_);
  Device other = device_;
  other.name = "Grace";
  Folder folder;
  copy_kernels(folder.path() / "kernels", "common/copy.clh", "__kernel", "__kernel ");
  write_record(kFailedPathsRecord, other, {(folder.path() / "kernels").string(), false}, {two_[1]});
  write_text(cache_.path() / "lugpu" / "notes.txt", text_of(file()));

  std::vector<DeviceRecord> records = all_records(kFailedPathsRecord);
  ASSERT_EQ(records.size(), 2u);
  if (records[0].device != "Ada") std::swap(records[0], records[1]);
  EXPECT_EQ(records[0].platform, "P");
  EXPECT_EQ(records[0].device, "Ada");
  EXPECT_EQ(records[0].driver, "1.0");
  EXPECT_TRUE(records[0].of_embedded_kernels);
  EXPECT_EQ(records[0].lines, two_);
  EXPECT_EQ(records[1].device, "Grace");
  EXPECT_FALSE(records[1].of_embedded_kernels);
  EXPECT_TRUE(records[1].kernels.ends_with(", no vendor's")) << records[1].kernels;
  EXPECT_EQ(records[1].lines, std::vector<std::string>{two_[1]});

  forget(records[0]);
  EXPECT_TRUE(read().empty());
  EXPECT_EQ(all_records(kFailedPathsRecord).size(), 1u);
}

TEST_F(FailedPathsFile, WithoutAFolderTheyAreNotKept) {
  const std::string home = std::getenv("HOME") ? std::getenv("HOME") : "";
  setenv("XDG_CACHE_HOME", "relative", 1);
  unsetenv("HOME");
  EXPECT_TRUE(read().empty());
  EXPECT_THROW(write_record(kFailedPathsRecord, device_, {}, two_), Error);
  EXPECT_NO_THROW(write_record(kFailedPathsRecord, device_, {}, {}));
  setenv("HOME", cache_.path().c_str(), 1);
  write_record(kFailedPathsRecord, device_, {}, two_);
  EXPECT_EQ(read(), two_);
  EXPECT_TRUE(fs::is_directory(cache_.path() / ".cache" / "lugpu"));
  write_text(cache_.path() / "file", "");
  setenv("XDG_CACHE_HOME", (cache_.path() / "file").c_str(), 1);
  EXPECT_TRUE(read().empty());
  EXPECT_THROW(write_record(kFailedPathsRecord, device_, {}, two_), Error);
  setenv("HOME", home.c_str(), 1);
}

// What auto makes of them.

class Automatic : public testing::Test {
 protected:
  std::string path(const Problem& problem, std::optional<Texel> texel = std::nullopt) const {
    const Method& method = automatic_method(device_, problem, texel, {failed_, {}});
    return path_name(method, completed(problem, method, device_, texel, 0, {failed_, {}}));
  }
  Device device_;
  FailedPaths failed_;
  const Problem partial_ = problem_of(8, 1, Pivot::partial, Precision::double_precision,
                                      Storage::buffer, Texel::r, Schedule::fused);
};

TEST_F(Automatic, TakesTheNextFastestPathThatIsNotKnownToFail) {
  device_.type = "cpu";
  const char* paths[] = {"lu-blocked partial double buffer r", "lu partial double buffer r fused",
                         "gauss-jordan partial double buffer r fused"};
  for (const char* expected : paths) {
    EXPECT_EQ(path(partial_), expected);
    failed_.push_back(expected);
  }
  EXPECT_THROW(path(partial_), Unsupported);
  Problem single = partial_;
  single.dense.precision = Precision::single_precision;
  EXPECT_EQ(path(single), "lu-blocked partial single buffer r");
}

TEST_F(Automatic, TakesOtherTexelsBeforeAnotherMethod) {
  device_.type = "gpu";
  Problem full = partial_;
  full.dense.pivot = Pivot::full;
  EXPECT_EQ(path(full), "lu full double buffer rgba fused");
  failed_ = {"lu full double buffer rgba fused"};
  EXPECT_EQ(path(full), "lu full double buffer r fused");
  EXPECT_EQ(path(full, Texel::rgba), "gauss-jordan full double buffer rgba fused");
}

}  // namespace
}  // namespace lugpu
