// What reads bytes that anybody may have written, each by its name.
#pragma once

#include <functional>
#include <map>
#include <string>

namespace lugpu {

/// By name: every matrix format by its extension without the dot; `resume` and `compare` for the
/// files of a sweep, `sizes` and `flags` for the command line. A call takes the bytes of one input;
/// it returns whether they were taken or refused with a sentence. Anything else ends the process: a
/// crash, an error of another kind, a matrix that is not read back as it was written.
const std::map<std::string, std::function<void(const std::string& bytes)>>& fuzz_targets();

}  // namespace lugpu
