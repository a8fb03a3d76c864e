#include "advise_report.hpp"

#include "outputs.hpp"
#include "terminal.hpp"

namespace lugpu::cli {

Exit finish_advice(const Advice& advice, const std::string& matrix, const Options& options,
                   nlohmann::json report) {
  report["advice"] = {
      {"best", advice.best ? nlohmann::json(*advice.best) : nlohmann::json(nullptr)},
      {"digits", advice.wanted ? nlohmann::json(*advice.wanted) : nlohmann::json(nullptr)},
      {"singular", advice.singular},
      {"sentence", advice.sentence}};
  JsonOutput json(options);
  json.write(report);
  if (advice.best) return json.status(Exit::ok);
  print_error(matrix + ": " + advice.sentence);
  const Exit none = advice.finished ? Exit::check_failed : Exit::failure;
  return json.status(advice.singular ? Exit::singular : none);
}

}  // namespace lugpu::cli
