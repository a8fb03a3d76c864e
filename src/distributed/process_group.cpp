#include "distributed/process_group.hpp"

#include <dlfcn.h>

#include <array>
#include <charconv>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <optional>

#include "base/error.hpp"

namespace lugpu {
namespace {

class OneProcess : public ProcessGroup {
 public:
  std::size_t rank() const override { return 0; }
  std::size_t size() const override { return 1; }
  std::function<void()> begin_broadcast(void*, std::size_t, std::size_t) override {
    return [] {};
  }
  void move(void*, std::size_t, std::size_t, std::size_t) override {}
  void barrier() override {}
  std::shared_ptr<char> shared_memory(std::size_t) override { return nullptr; }
  void abort(const std::string& sentence) override { throw Error(ErrorKind::failure, sentence); }
};

std::optional<std::size_t> number_in(const char* variable) {
  const char* const text = std::getenv(variable);
  if (!text) return std::nullopt;
  std::size_t number = 0;
  const char* const end = text + std::strlen(text);
  const auto [rest, error] = std::from_chars(text, end, number);
  if (error != std::errc() || rest != end) return std::nullopt;
  return number;
}

// Next to the program, as it is built, or in the libraries' folder as it is installed.
std::filesystem::path plug_in() {
  std::error_code none;
  const auto program = std::filesystem::read_symlink("/proc/self/exe", none).parent_path();
  const auto built = program / "liblugpu_mpi.so";
  return std::filesystem::exists(built, none) ? built : program / LUGPU_PLUG_IN;
}

ProcessGroup& open_plug_in(std::size_t processes) {
  const std::string path = plug_in().lexically_normal();
  // Global: MPI's own plug-ins use its symbols.
  void* const library = dlopen(path.c_str(), RTLD_NOW | RTLD_GLOBAL);
  const std::string obstacle = library ? path + " is another version's" : dlerror();
  if (void* const open = library ? dlsym(library, kOpenProcessGroup) : nullptr) {
    return *reinterpret_cast<OpenProcessGroup*>(open)();
  }
  throw Error(ErrorKind::failure,
              "mpirun has started " + std::to_string(processes) +
                  " processes, which need lugpu's plug-in for Open MPI (" + obstacle +
                  "); install Open MPI and build lugpu with it, or start one process.");
}

}  // namespace

Launch launch() {
  struct Names {
    const char *rank, *size, *local_rank;
  };
  // Open MPI's mpirun; srun --mpi=pmi2 and hydra; srun --mpi=pmix.
  static constexpr std::array<Names, 3> kLaunchers = {
      {{"OMPI_COMM_WORLD_RANK", "OMPI_COMM_WORLD_SIZE", "OMPI_COMM_WORLD_LOCAL_RANK"},
       {"PMI_RANK", "PMI_SIZE", "SLURM_LOCALID"},
       {"PMIX_RANK", "SLURM_NTASKS", "SLURM_LOCALID"}}};
  for (const Names& names : kLaunchers) {
    const auto rank = number_in(names.rank), size = number_in(names.size);
    if (rank && size && *rank < *size)
      return {*rank, *size, number_in(names.local_rank).value_or(0)};
  }
  return {};
}

ProcessGroup& one_process() {
  static OneProcess alone;
  return alone;
}

ProcessGroup& process_group() {
  static ProcessGroup& group = launch().size > 1 ? open_plug_in(launch().size) : one_process();
  return group;
}

}  // namespace lugpu
