#include "opencl/patched_program.hpp"

#include "base/error.hpp"

namespace lugpu {
namespace {

[[noreturn]] void refuse(const std::string& why) {
  throw Unsupported("A program's binary cannot be patched: " + why);
}

std::size_t count_of(const std::string& text, const std::string& piece) {
  std::size_t count = 0;
  for (std::size_t at = 0; (at = text.find(piece, at)) != std::string::npos; at += piece.size())
    ++count;
  return count;
}

void replace_all(std::string& text, const std::string& from, const std::string& to) {
  for (std::size_t at = 0; (at = text.find(from, at)) != std::string::npos; at += to.size())
    text.replace(at, from.size(), to);
}

// Where `piece` is, which must be there once.
std::size_t place_of(const std::string& text, const std::string& piece) {
  const std::size_t count = count_of(text, piece);
  if (count != 1) refuse("it has \"" + piece + "\" " + std::to_string(count) + " times, not once.");
  return text.find(piece);
}

std::string in_brackets(std::size_t bytes) {
  std::string text = "[";
  return text.append(std::to_string(bytes)).append("]");
}

}  // namespace

std::string patched_ptx(std::string text, const Patch& patch) {
  const std::string hidden = "//@ ", target = ".target sm_90";
  if (count_of(text, hidden) == 0) refuse("it has no hidden instructions.");
  replace_all(text, hidden, "");

  const std::size_t target_end = place_of(text, target) + target.size();
  const char next = target_end < text.size() ? text[target_end] : '\n';
  if (next != '\n' && next != ',' && next != ' ') refuse("its target is not sm_90.");
  text.insert(target_end, 1, 'a');

  const std::string placeholder = in_brackets(patch.placeholder_bytes);
  const std::size_t array = place_of(text, placeholder);
  const std::size_t line = text.rfind('\n', array) + 1;
  if (text.substr(line, array - line).find(".shared") == std::string::npos)
    refuse("the array of " + placeholder + " bytes is not in local memory.");
  text.replace(array, placeholder.size(), in_brackets(patch.local_bytes));

  // The limit makes the assembler use no more registers than so many work-groups can have.
  const std::string size = ".reqntid ";
  if (count_of(text, size) == 0 || count_of(text, size) != count_of(text, ".entry "))
    refuse("a kernel does not require its work-group size.");
  replace_all(text, size, ".minnctapersm " + std::to_string(patch.groups) + "\n" + size);
  return text;
}

cl::Program patched_program(const cl::Program& program, const cl::Device& device,
                            const Patch& patch) {
  cl::Program result;
  try {
    const auto binaries = program.getInfo<CL_PROGRAM_BINARIES>();
    if (binaries.size() != 1) refuse("it is not for one device.");
    std::string text(binaries[0].begin(), binaries[0].end());
    text = patched_ptx(text.c_str(), patch);  // up to its NUL
    result = cl::Program(program.getInfo<CL_PROGRAM_CONTEXT>(), {device},
                         {std::vector<unsigned char>(text.begin(), text.end())});
    result.build({device});
  } catch (const cl::BuildError& error) {
    refuse(describe(error) + ": " + build_log(result, device));
  } catch (const cl::Error& error) {
    refuse(describe(error) + ".");
  }
  return result;
}

}  // namespace lugpu
