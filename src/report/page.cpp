#include "report/page.hpp"

#include <algorithm>
#include <set>

#include "accuracy/checks.hpp"
#include "report/figures.hpp"
#include "report/markup.hpp"
#include "report/style.hpp"
#include "report/tables.hpp"

namespace lugpu::report {
namespace {

// The devices of all files, each once.
std::string heading(const Record& record) {
  std::vector<std::string> names;
  for (const Run& run : record.runs) {
    for (const std::string& device : run.devices) {
      if (std::ranges::find(names, device) == names.end()) names.push_back(device);
    }
  }
  return names.empty() ? "lugpu on the host" : "lugpu on " + joined(names, ", ");
}

std::string files_line(const Record& record) {
  std::vector<std::string> parts;
  for (const Run& run : record.runs) {
    parts.push_back(run.name + (run.date.empty() ? "" : " (" + run.date.substr(0, 10) + ")"));
  }
  return "<p class=\"dim\">" + escaped(joined(parts, ", ")) + "</p>\n";
}

// E.g. "36 results: 34 ok, 2 failed."
std::string counts_line(const Record& record) {
  std::vector<std::pair<std::string, std::size_t>> counts;
  for (const char* status : {"ok", "failed", "unsupported", "skipped", "error"}) {
    const auto is_one = [&](const Row& row) { return row.status == status; };
    const auto count = static_cast<std::size_t>(std::ranges::count_if(record.rows, is_one));
    if (count > 0) counts.emplace_back(status, count);
  }
  std::vector<std::string> parts;
  for (const auto& [status, count] : counts) {
    parts.push_back(std::to_string(count) + ' ' + (status == "ok" ? "passed" : status));
  }
  return "<p><b>" + std::to_string(record.rows.size()) + " results:</b> " + joined(parts, ", ") +
         ". A result that is not ok shows no speed.</p>\n";
}

std::string checks_line(const Record& record) {
  struct Check {
    const char* name;
    double limit;
  };
  std::vector<std::string> parts;
  for (const auto& [name, limit] :
       {Check{"factor_ratio", kFactorRatioLimit}, Check{"solve_ratio", kSolveRatioLimit},
        Check{"hpl_residual", kHplResidualLimit}}) {
    double largest = 0;
    for (const Row& row : record.rows) {
      const auto found = row.checks.find(name);
      if (row.status == "ok" && found != row.checks.end())
        largest = std::max(largest, found->second);
    }
    if (largest > 0) {
      parts.push_back(std::string(name) + ' ' + number_text(largest) + " (limit " +
                      number_text(limit) + ")");
    }
  }
  if (parts.empty()) return "";
  return "<p>Largest of those that passed: " + escaped(joined(parts, ", ")) + ".</p>\n";
}

// What casts doubt on the files, and on how many of their results.
std::vector<std::string> warnings_of(const Record& record) {
  constexpr double kNoisy = 0.05, kOtherLoad = 0.1;  // as bench and compare say it
  std::vector<std::string> all;
  for (const Run& run : record.runs) {
    for (const std::string& warning : run.warnings) {
      all.push_back(record.runs.size() > 1 ? run.name + ": " + warning : warning);
    }
  }
  std::size_t noisy = 0, disturbed = 0, warned = 0;
  for (const Row& row : record.rows) {
    if (row.interval && row.timed()) {
      noisy += (row.interval->high - row.interval->low) / 2 > kNoisy * row.median;
    }
    disturbed += row.other_load > kOtherLoad;
    warned += !row.warnings.empty();
  }
  const auto add = [&](const char* which, std::size_t count) {
    if (count > 0) all.push_back(std::string(which) + ": " + std::to_string(count) + '.');
  };
  add("Results with a median that is uncertain by more than 5\u00a0%", noisy);
  add("Results while other programs had more than a tenth of the processors", disturbed);
  add("Results with a warning of their own, ⚠ in the tables", warned);
  return all;
}

std::string warnings_list(const Record& record) {
  std::string items;
  for (const std::string& warning : warnings_of(record))
    items += "<li>" + escaped(warning) + "</li>\n";
  return items.empty() ? "" : "<p><b>Warnings</b></p>\n<ul class=\"plain\">\n" + items + "</ul>\n";
}

std::string contexts(const Record& record) {
  std::string html = "<section>\n<h2 id=\"context\">What ran where</h2>\n";
  for (const Run& run : record.runs) {
    html += "<h3>" + escaped(run.name) + "</h3>\n<dl>\n";
    for (const auto& [label, text] : run.facts) {
      const bool is_code = label == "command" || label == "environment";
      html += "<dt>" + label + "</dt><dd>" + (is_code ? "<code>" : "") + escaped(text) +
              (is_code ? "</code>" : "") + "</dd>\n";
    }
    html += "</dl>\n";
  }
  return html + "</section>\n";
}

std::string contents(const std::vector<Subject>& subjects, bool pivoting) {
  std::string items;
  for (std::size_t i = 0; i < subjects.size(); ++i) {
    items +=
        "<li><a href=\"#f" + std::to_string(i) + "\">" + escaped(subjects[i].title) + "</a></li>\n";
  }
  if (pivoting) items += "<li><a href=\"#pivoting\">cost of pivoting</a></li>\n";
  return "<nav aria-label=\"Contents\">\n<ul>\n" + items +
         "<li><a href=\"#context\">what ran where</a></li>\n</ul>\n</nav>\n";
}

std::string section(const std::string& id, const std::string& title, const std::string& figures,
                    const std::string& table) {
  return "<section>\n<h2 id=\"" + id + "\">" + escaped(title) + "</h2>\n" +
         (figures.empty() ? "" : "<div class=\"figures\">\n" + figures + "</div>\n") + table +
         "</section>\n";
}

}  // namespace

std::string page_of(const Record& record) {
  const std::vector<Subject> subjects = subjects_of(record);
  const std::string pivoting = pivoting_figures(subjects);
  std::string html =
      "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\"/>\n"
      "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\"/>\n<title>" +
      escaped(heading(record)) + "</title>\n<style>" + kStyle +
      "</style>\n</head>\n<body>\n<main>\n";
  html += "<h1>" + escaped(heading(record)) + "</h1>\n" + files_line(record);
  html += counts_line(record) + checks_line(record) + warnings_list(record);
  html += contents(subjects, !pivoting.empty());
  html += "<div class=\"beside\">\n" + leads_table(subjects) + rivals_table(subjects) + "</div>\n";
  Styles styles;
  for (std::size_t i = 0; i < subjects.size(); ++i) {
    const std::string id = "f" + std::to_string(i);
    html += section(id, subjects[i].title, figures_of(subjects[i], id, styles),
                    results_table(subjects[i]));
  }
  if (!pivoting.empty()) html += section("pivoting", "Cost of pivoting", pivoting, "");
  return html + contexts(record) + "</main>\n</body>\n</html>\n";
}

}  // namespace lugpu::report
