// The file of an earlier sweep: whether it is one, what differs from another one, and whether its
// rows may be combined with new ones under one head.
#pragma once

#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "bench/measure.hpp"

namespace lugpu {

/// The entry of `unfinished` for a case that is being measured.
nlohmann::json unfinished_record(const Case& what, const Samples& samples);

/// What an entry of `unfinished` holds (read_sweep).
EarlierSamples earlier_samples(const nlohmann::json& record);

/// Adds to `tool` of a report what tells two builds of one revision apart: digests of the program
/// and of the kernels, those of kernel_dir if it is not empty.
void add_digests(nlohmann::json& report, const std::string& kernel_dir);

/// Reads the file of a sweep back. Throws InputError that names the file and, for the first invalid
/// row, its index, the field and what that should be. reader: what needs it, e.g. "--resume".
nlohmann::json read_sweep(const std::string& path, const std::string& reader);

/// What decides about speed and differs between two reports (read_sweep), each e.g. `host ("x" in
/// A, "y" in B)`: build, kernels, host, libraries, devices and their drivers.
std::vector<std::string> differences(const nlohmann::json& a, const nlohmann::json& b);

/// Throws InputError that says what differs unless the rows of `earlier` (read_sweep of path) are
/// comparable with those of a run whose head is `now` (report_head, add_libraries, add_digests).
/// What may differ: command line, time, load, environment variables, threads, which are fields of
/// rows, and devices that are new. What must not: build and kernels, host, its processor and
/// system, libraries, and every device of the file with its driver. A build of a changed tree
/// (-dirty) or of no checkout is known by the digest of the program alone.
void require_comparable(const nlohmann::json& earlier, const nlohmann::json& now,
                        const std::string& path);

}  // namespace lugpu
