#include <charconv>
#include <filesystem>
#include <iostream>
#include <memory>

#include "animation.hpp"
#include "base/error.hpp"
#include "base/output_file.hpp"
#include "bench/report.hpp"
#include "bench/simulation_run.hpp"
#include "bench/statistics.hpp"
#include "bench/wording.hpp"
#include "commands.hpp"
#include "formats/png.hpp"
#include "help.hpp"
#include "options.hpp"
#include "outputs.hpp"
#include "simulation/picture.hpp"
#include "terminal.hpp"
#include "window.hpp"

namespace lugpu::cli {
namespace {

// Steps where neither the user nor the scene says how many.
constexpr std::size_t kUsualSteps = 200;
constexpr std::size_t kUsualEvery = 10;

struct SimulateArguments {
  Options options;
  std::string physics;
  std::string scene, grid = "256", method, precision = "single";
  std::optional<double> tolerance, time_step, reynolds, density_ratio;
  std::optional<std::size_t> iterations, steps, inclusions;
  std::size_t every = kUsualEvery;
  bool explicit_diffusion = false, semi_lagrangian = false;
  double confinement = 0;
  std::string frames, animate, profile;
  bool window = false;
};

std::vector<std::string> physics_names() {
  std::vector<std::string> names;
  for (const SimulationKind& kind : simulations()) names.emplace_back(kind.name);
  return names;
}

// "N", "NxM" or "NxMxK"; N alone is a square.
std::array<std::size_t, 3> parse_grid(const std::string& text) {
  std::vector<std::size_t> sizes;
  const char* at = text.data();
  const char* const end = at + text.size();
  while (true) {
    std::size_t size = 0;
    const auto [stop, error] = std::from_chars(at, end, size);
    const bool good = error == std::errc() && size >= 1 && size <= 1u << 20 && sizes.size() < 3;
    if (!good || (stop != end && *stop != 'x')) {
      throw InputError("--grid \"" + text + "\" is not N, NxM or NxMxK with sizes from 1 to 2^20.");
    }
    sizes.push_back(size);
    if (stop == end) break;
    at = stop + 1;
  }
  if (sizes.size() == 1) sizes.push_back(sizes[0]);
  if (sizes.size() == 2) sizes.push_back(1);
  return {sizes[0], sizes[1], sizes[2]};
}

SimulationOptions simulation_options(const SimulateArguments& given) {
  SimulationOptions options;
  options.size = parse_grid(given.grid);
  options.scene = given.scene.empty() ? find_simulation(given.physics).scenes.front() : given.scene;
  options.method = given.method;
  options.precision = to_precision(given.precision);
  options.tolerance = given.tolerance;
  if (given.iterations) {
    options.tolerance = 0;
    options.iterations = *given.iterations;
  }
  options.time_step = given.time_step;
  options.reynolds = given.reynolds;
  options.explicit_diffusion = given.explicit_diffusion;
  options.semi_lagrangian = given.semi_lagrangian;
  options.confinement = given.confinement;
  options.density_ratio = given.density_ratio;
  if (given.inclusions) {
    if (options.scene != "cells") {
      throw InputError("--inclusions is for bubbles, scene cells.");
    }
    options.inclusions = *given.inclusions;
  }
  return options;
}

std::string number_text(double value) {
  return format("%.3g", value);
}

// What the run was, and how fast and how well it went.
void print_run(const SimulationRun& run) {
  const SimulationOptions& options = run.what.options;
  const auto& [nx, ny, nz] = options.size;
  std::string grid = std::to_string(nx) + " x " + std::to_string(ny);
  if (nz > 1) grid += " x " + std::to_string(nz);
  const auto line = [](const std::string& label, const std::string& text) {
    std::cout << format("%-12s", label.c_str()) << wrapped(text, 12, 12) << "\n";
  };
  line(run.what.physics, options.scene + ", " + grid + ", " + run.method + ", " +
                             name(options.precision) + ", time step " + number_text(run.time_step));
  line("device", run.device);
  line("speed", format("%.1f frames/s, ", run.frames_per_s()) + duration(median(run.times_s)) +
                    " a frame, " + std::to_string(run.steps) + " steps");
  std::string phases;
  for (const PhaseTime& phase : run.phases) {
    phases += (phases.empty() ? "" : ", ") + phase.name + " " + duration(phase.seconds);
  }
  line("phases", phases);
  if (run.solver_iterations > 0) {
    line("solver", number_text(run.solver_iterations) + " iterations a step");
  }
  if (run.left.empty()) return;
  line(run.left_name, "left of it: first " + number_text(run.left.front()) + ", median " +
                          number_text(run.median_left()) + ", largest " +
                          number_text(run.largest_left()) + ", last " +
                          number_text(run.left.back()));
}

// Frames of an earlier run in the folder would be taken for those of this one.
void prepare_folder(const std::string& folder, bool force) {
  namespace fs = std::filesystem;
  std::error_code error;
  fs::create_directories(folder, error);
  if (error || !fs::is_directory(folder, error)) {
    throw Error(ErrorKind::failure, "Cannot make the folder " + folder + ".");
  }
  if (force) return;
  for (const fs::directory_entry& entry : fs::directory_iterator(folder)) {
    const std::string file = entry.path().filename();
    if (file.starts_with("frame-") && file.ends_with(".png")) {
      throw InputError("--frames " + folder +
                       " has the frames of another run; choose another "
                       "folder, or --force.");
    }
  }
}

void write_frame(const std::string& folder, std::size_t step, const Picture& picture) {
  const std::string path =
      (std::filesystem::path(folder) / format("frame-%06zu.png", step)).string();
  OutputFile file(path);
  write_png(picture, file.stream());
  file.commit();
}

void write_profile(const std::string& path, const std::vector<ProfilePoint>& points) {
  write_file(path, [&](std::FILE* out) {
    std::fputs("x,y,u,v\n", out);
    for (const ProfilePoint& point : points) {
      std::fprintf(out, "%.9g,%.9g,%.9g,%.9g\n", point.x, point.y, point.u, point.v);
    }
  });
}

// The checks that come before the work.
void check(const SimulateArguments& given) {
  std::vector<NamedFile> outputs;
  if (!given.animate.empty()) outputs.push_back({"--animate", given.animate});
  if (!given.profile.empty()) outputs.push_back({"--profile", given.profile});
  check_outputs(given.options, outputs, {});
  if (!given.frames.empty()) {
    require_png();
    prepare_folder(given.frames, given.options.force);
  }
  if (!given.animate.empty()) Animation::require(given.animate);
}

Exit simulate(const SimulateArguments& given, const std::vector<std::string>& arguments) {
  SimulationCase what{given.physics, simulation_options(given), -1};
  if (given.window) {
    show_window(given.options, given.physics, what.options, given.steps);
    return Exit::ok;
  }
  check(given);
  JsonOutput output(given.options);
  DeviceContext context = std::move(open_devices(given.options).front());
  what.device_index = context.device().index;
  nlohmann::json report = report_head(arguments, {context.device()}, context.settings());
  std::unique_ptr<Animation> animation;
  std::vector<ProfilePoint> profile;
  const bool draws = !given.frames.empty() || !given.animate.empty();
  const RunLength length{given.steps, kUsualSteps, draws ? given.every : 0};
  const SimulationRun run =
      run_simulation(context, what, length, [&](Physics& simulation, std::size_t step, bool last) {
        show_progress(given.physics + ": step " + std::to_string(step));
        if (last && !given.profile.empty()) profile = simulation.profile();
        if (!draws) return;
        const Picture picture = paint(context, simulation.drawn());
        if (!given.frames.empty()) write_frame(given.frames, step, picture);
        if (given.animate.empty()) return;
        if (!animation) animation = std::make_unique<Animation>(given.animate, picture);
        animation->add(picture);
      });
  show_progress("");
  if (animation) animation->end();
  if (!given.profile.empty()) write_profile(given.profile, profile);
  report["results"].push_back(to_json(run));
  output.write(report);
  if (given.options.prints()) print_run(run);
  if (run.status == RunStatus::ok) return output.status(Exit::ok);
  print_error(run.reason + " (step " + std::to_string(run.steps) + ").");
  return output.status(Exit::check_failed);
}

std::string scenes_help() {
  std::string help;
  for (const SimulationKind& kind : simulations()) {
    help += (help.empty() ? "" : "; ") + std::string(kind.name) + ": ";
    for (std::size_t i = 0; i < kind.scenes.size(); ++i) {
      help += (i == 0 ? "" : ", ") + kind.scenes[i];
    }
  }
  return "What is shown. " + help + " (default: the first)";
}

void add_physics_options(CLI::App& command, SimulateArguments& given) {
  command.option_defaults()->group("What is simulated");
  command.add_option("--scene", given.scene, scenes_help())
      ->transform(not_empty())
      ->type_name("NAME");
  command.add_option("--grid", given.grid, "Cells along x, y and z (default: 256)")
      ->transform(not_empty())
      ->type_name("NxMxK");
  command
      .add_option("--steps", given.steps, "Time steps (default: 200, or until a flow is steady)")
      ->transform(whole_number(1, 100000000))
      ->type_name("S");
  command.add_option("--time-step", given.time_step, "Length of a step (default: by the scene)")
      ->transform(number(1e-12, 1e6))
      ->type_name("DT");
  command.add_option("--reynolds", given.reynolds, "Fluids: speed x length / viscosity")
      ->transform(number(1e-6, 1e12))
      ->type_name("R");
  command
      .add_option("--confinement", given.confinement,
                  "Fluids: strength of the vorticity confinement (default: 0)")
      ->transform(number(0, 1000))
      ->type_name("C");
  command
      .add_option("--density-ratio", given.density_ratio,
                  "Bubbles: density of the liquid over that of the gas (default: 1000)")
      ->transform(number(1, 1e6))
      ->type_name("R");
  command
      .add_option("--inclusions", given.inclusions,
                  "Bubbles of scene cells: of each cell, 32 unknowns each (default: 16)")
      ->transform(whole_number(1, 1024))
      ->type_name("M");
}

void add_solver_options(CLI::App& command, SimulateArguments& given) {
  command.option_defaults()->group("How it is solved");
  command
      .add_option("--method", given.method,
                  "Of the linear systems, or explicit for waves (default: the fastest)")
      ->check(CLI::IsMember(simulation_method_names()))
      ->type_name("NAME");
  CLI::Option* const iterations =
      command
          .add_option("--iterations", given.iterations,
                      "Of every linear system, whatever is left of its residual")
          ->transform(whole_number(1, 1000000))
          ->type_name("K");
  command
      .add_option("--tolerance", given.tolerance,
                  "What may be left of the divergence or the residual (default: 1e-3 in single "
                  "precision, 1e-6 in double)")
      ->transform(number(1e-15, 1))
      ->excludes(iterations)
      ->type_name("T");
  command.add_option("--precision", given.precision, "Precision (default: single)")
      ->check(CLI::IsMember(precision_names()))
      ->type_name("NAME");
  command.add_flag("--explicit-diffusion", given.explicit_diffusion,
                   "Fluids: diffuse by an explicit step, stable for small ones");
  command.add_flag("--semi-lagrangian", given.semi_lagrangian,
                   "Fluids: advect by the method of first order");
}

}  // namespace

Command add_simulate(CLI::App& app) {
  CLI::App* command = app.add_subcommand("simulate", "Water waves, stable fluids, bubbly flow");
  const auto given = std::make_shared<SimulateArguments>();
  command->add_option("physics", given->physics, "What is simulated")
      ->required()
      ->check(CLI::IsMember(physics_names()))
      ->type_name("PHYSICS");
  add_physics_options(*command, *given);
  add_solver_options(*command, *given);
  command->option_defaults()->group("Pictures and profiles");
  CLI::Option* const window = command->add_flag("--window", given->window,
                                                "Show it in a window until it is closed, or for "
                                                "--steps; the mouse pushes, h prints the keys");
  command->add_option("--frames", given->frames, "Write pictures frame-*.png into this folder")
      ->transform(not_empty())
      ->type_name("DIR");
  command->add_option("--animate", given->animate, "Write an animation, .gif or .mp4, by ffmpeg")
      ->transform(not_empty())
      ->type_name("FILE");
  command->add_option("--every", given->every, "Steps from picture to picture (default: 10)")
      ->transform(whole_number(1, 1000000))
      ->type_name("K");
  command
      ->add_option("--profile", given->profile,
                   "Fluids: write the velocity along the centre lines at the end, x,y,u,v")
      ->transform(not_empty())
      ->type_name("FILE");
  add_device_options(*command, given->options, DeviceUse::one);
  add_output_options(*command, given->options);
  for (const char* file : {"--frames", "--animate", "--every", "--profile", "--json"}) {
    window->excludes(command->get_option(file));
  }
  command->footer(
      exit_statuses({Exit::ok, Exit::failure, Exit::usage, Exit::check_failed, Exit::no_device}));
  return [given](const std::vector<std::string>& arguments) { return simulate(*given, arguments); };
}

}  // namespace lugpu::cli
