#include "outputs.hpp"

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <utility>

#include "base/output_file.hpp"
#include "bench/report.hpp"
#include "bench/trace.hpp"
#include "bench/wording.hpp"
#include "exit.hpp"
#include "opencl/kernel_sources.hpp"
#include "terminal.hpp"

namespace lugpu::cli {
namespace {

// The Trace Event Format, before and after the events.
const std::string kTraceHead = "{\n\"displayTimeUnit\": \"ns\",\n\"traceEvents\": [";
const std::string kTraceEnd = "\n]\n}\n";

std::string text_of(const NamedFile& file) {
  return file.name + " " + file.path;
}

// Whether the file holds results that any version of `lugpu bench` has written.
bool holds_sweep(const std::string& path) {
  std::error_code none;
  if (!std::filesystem::is_regular_file(path, none)) return false;
  std::ifstream stream(path);
  const nlohmann::json report = nlohmann::json::parse(stream, nullptr, false);
  const nlohmann::json::json_pointer arguments("/tool/argv"), results("/results");
  if (!report.is_object() || !report.contains(arguments) || !report.contains(results)) return false;
  const nlohmann::json& words = report.at(arguments);
  return (!report.at(results).empty() || report.contains("unfinished")) &&
         std::find(words.begin(), words.end(), "bench") != words.end();
}

void check_against_outputs(const std::vector<NamedFile>& outputs) {
  for (std::size_t i = 0; i < outputs.size(); ++i) {
    for (std::size_t j = 0; j < i; ++j) {
      if (!is_same_file(outputs[i].path, outputs[j].path)) continue;
      throw InputError(text_of(outputs[j]) + " and " + text_of(outputs[i]) +
                       " are the same file; give them different names.");
    }
  }
}

void check_against_inputs(const std::vector<NamedFile>& outputs,
                          const std::vector<NamedFile>& inputs) {
  for (const NamedFile& output : outputs) {
    for (const NamedFile& input : inputs) {
      if (!is_same_file(output.path, input.path)) continue;
      throw InputError(text_of(output) + " would overwrite " + text_of(input) +
                       "; give another file, or add --force.");
    }
  }
}

// Calls `write` and returns whether the file is where it should be; if not, says where, and `path`
// becomes that.
bool attempt_at(std::string& path, const std::function<void()>& write) {
  try {
    write();
    return true;
  } catch (const KeptElsewhere& error) {
    show_progress("");
    print_error(error.what());
    path = error.place();
    return false;
  }
}

}  // namespace

void check_outputs(const Options& options, std::vector<NamedFile> outputs,
                   std::vector<NamedFile> inputs) {
  if (!options.json_to_stdout()) outputs.push_back({"--json", options.json});
  const auto not_given = [](const NamedFile& file) { return file.path.empty(); };
  std::erase_if(outputs, not_given);
  std::erase_if(inputs, not_given);
  if (!options.kernel_dir.empty()) {
    for (const KernelSource& source : kernel_sources()) {
      inputs.push_back({"kernel file", options.kernel_dir + "/" + source.name});
    }
  }
  check_against_outputs(outputs);
  if (!options.force) {
    check_against_inputs(outputs, inputs);
    if (!options.resume && !options.json_to_stdout() && holds_sweep(options.json)) {
      throw InputError("--json " + options.json +
                       " holds the results of an earlier `lugpu bench`; give another file, or add "
                       "--force to replace them, or bench --resume to continue from them.");
    }
  }
  for (const NamedFile& output : outputs) check_writable(output.path);
}

bool attempt_to_write(const std::function<void()>& write) {
  try {
    write();
    return true;
  } catch (const Error& error) {
    print_error(words(error));
    return false;
  }
}

// Without destructors: they would wait for what does not come back.
void end_late(const std::string& sentence) {
  show_progress("");
  print_error(sentence);
  std::_Exit(static_cast<int>(Exit::failure));
}

JsonOutput::JsonOutput(const Options& options)
    : path_(options.json_to_stdout() ? "" : options.json),
      to_stdout_(options.json_to_stdout() || options.format == Format::json) {}

bool JsonOutput::has_file() const {
  return !path_.empty() && !is_stream(path_);
}

void JsonOutput::update(const nlohmann::json& report) {
  if (has_file()) write_to_path(report);
}

void JsonOutput::end(const nlohmann::json& report) {
  if (to_stdout_) {
    const std::string text = to_text(report);
    std::string place;
    failed_ |= !(std::cout << text << std::flush) && !attempt_at(place, [&] {
      keep_elsewhere("Cannot write to standard output", "results.json",
                     [&](std::FILE* file) { std::fwrite(text.data(), 1, text.size(), file); });
    });
  }
  if (!path_.empty() && is_stream(path_)) {
    write_to_path(report);
  }
}

void JsonOutput::write(const nlohmann::json& report) {
  update(report);
  end(report);
}

void JsonOutput::write_to_path(const nlohmann::json& report) {
  failed_ |= !attempt_at(path_, [&] { write_report(report, path_); });
}

TraceOutput::TraceOutput(std::string path)
    : path_(std::move(path)), text_(kTraceHead + kTraceEnd) {}

void TraceOutput::add(const Result& result) {
  if (path_.empty() || result.commands.empty()) return;
  const std::string array = to_text(trace_events(result, ++processes_));
  const std::string events = (processes_ > 1 ? "," : "") + array.substr(1, array.rfind("\n]") - 1);
  text_.insert(text_.size() - kTraceEnd.size(), events);
  if (is_stream(path_)) return;
  if (processes_ == 1 || !insert_before_end(path_, kTraceEnd, events)) write_all();
}

void TraceOutput::end() {
  if (!path_.empty() && (is_stream(path_) || processes_ == 0)) write_all();
}

void TraceOutput::write_all() {
  failed_ |= !attempt_at(path_, [&] {
    write_file(path_, [&](std::FILE* file) { std::fwrite(text_.data(), 1, text_.size(), file); });
  });
}

}  // namespace lugpu::cli
