#include "report/tables.hpp"

#include <algorithm>
#include <cmath>

#include "report/markup.hpp"

namespace lugpu::report {
namespace {

std::string cell(const std::string& html, const char* css = "") {
  return *css ? std::string("<td class=\"") + css + "\">" + html + "</td>"
              : "<td>" + html + "</td>";
}

std::string number_cell(const std::optional<double>& value,
                        std::string (*text)(double) = number_text) {
  return cell(value ? data(*value, text(*value)) : "–", "num");
}

// A column of numbers: a check, or a rate.
struct Column {
  const char* title;
  Numbers Row::*numbers;
  const char* name;
};

std::vector<Column> columns_of(const Subject& subject) {
  switch (subject.kind) {
    case Kind::dense:
      return {{"factor ratio", &Row::checks, "factor_ratio"},
              {"solve ratio", &Row::checks, "solve_ratio"},
              {"HPL residual", &Row::checks, "hpl_residual"},
              {"growth", &Row::checks, "growth"}};
    case Kind::structured:
      return {{"residual", &Row::checks, "residual"},
              {"error", &Row::checks, "error"},
              {"solve ratio", &Row::checks, "solve_ratio"}};
    case Kind::simulation:
      break;
  }
  return {{"left, median", &Row::checks, "median"}, {"left, largest", &Row::checks, "largest"}};
}

bool has(const Subject& subject, const Column& column) {
  return std::ranges::any_of(subject.series, [&](const Series& series) {
    return std::ranges::any_of(
        series.rows, [&](const Row* row) { return (row->*column.numbers).contains(column.name); });
  });
}

std::string interval_cell(const Row& row) {
  if (!row.timed() || !row.interval) return cell("–", "num");
  const auto& [low, high] = *row.interval;
  return cell(data(low, seconds_text(low)) + " – " + data(high, seconds_text(high)), "num");
}

std::string status_cell(const Row& row) {
  std::string text = row.status;
  if (!row.reason.empty()) text += ": " + row.reason;
  for (const std::string& warning : row.warnings) text += " ⚠ " + warning;
  const bool good = row.status == "ok";
  return cell((good ? "" : "<b>✗</b> ") + escaped(text), good ? "" : "bad");
}

std::string title_cells(const std::vector<std::string>& titles, std::size_t texts) {
  std::string html;
  for (std::size_t i = 0; i < titles.size(); ++i) {
    const bool number = i >= texts && i + 1 < titles.size();
    html += std::string("<th scope=\"col\"") + (number ? " class=\"num\">" : ">") +
            escaped(titles[i]) + "</th>";
  }
  return "<thead><tr>" + html + "</tr></thead>\n";
}

std::vector<std::string> result_titles(const Subject& subject, const std::vector<Column>& columns) {
  std::vector<std::string> titles = {"method"};
  titles.emplace_back(subject.kind == Kind::dense        ? "n"
                      : subject.kind == Kind::structured ? "unknowns"
                                                         : "cells");
  titles.emplace_back(subject.kind == Kind::structured ? "median, with setup" : "median");
  titles.emplace_back("95 % interval");
  if (subject.kind == Kind::dense) titles.emplace_back("GFLOP/s");
  if (subject.kind == Kind::structured) titles.emplace_back("iterations");
  if (subject.kind == Kind::simulation) titles.emplace_back("frames/s");
  for (const Column& column : columns) titles.emplace_back(column.title);
  titles.emplace_back("status");
  return titles;
}

std::string result_row(const Series& series, const Row& row, const std::vector<Column>& columns) {
  std::string html = "<tr" + std::string(row.status == "ok" ? "" : " class=\"bad\"") +
                     "><th scope=\"row\">" + escaped(series.label) + "</th>";
  html += number_cell(row.size);
  html += number_cell(row.timed() ? std::optional(row.median) : std::nullopt, seconds_text);
  html += interval_cell(row);
  html += number_cell(row.kind == Kind::structured ? row.iterations
                      : row.timed()                ? row.speed
                                                   : std::nullopt);
  for (const Column& column : columns) {
    const Numbers& numbers = row.*column.numbers;
    const auto found = numbers.find(column.name);
    html += number_cell(found == numbers.end() ? std::nullopt : std::optional(found->second));
  }
  return html + status_cell(row) + "</tr>\n";
}

std::string speed_text(Kind kind, const Row& row) {
  if (kind == Kind::structured || !row.speed) return seconds_text(row.median);
  return number_text(*row.speed) + (kind == Kind::dense ? " GFLOP/s" : " frames/s");
}

// "a – b", or one of them where they are the same.
std::string from_to(const std::string& a, const std::string& b) {
  return a == b ? a : a + " – " + b;
}

struct Extremes {
  const Contest *worst = nullptr, *best = nullptr;
  double geometric_mean = 0;
  std::size_t faster = 0, slower = 0;
};

Extremes extremes_of(const Rivalry& rivalry) {
  Extremes found;
  double logarithms = 0;
  for (const Contest& contest : rivalry.contests) {
    const double ratio = contest.ratio.value;
    logarithms += std::log(ratio);
    if (!found.worst || ratio < found.worst->ratio.value) found.worst = &contest;
    if (!found.best || ratio > found.best->ratio.value) found.best = &contest;
    found.faster += contest.ratio.change == Change::faster;
    found.slower += contest.ratio.change == Change::slower;
  }
  found.geometric_mean = std::exp(logarithms / static_cast<double>(rivalry.contests.size()));
  return found;
}

std::string extreme_cell(const Contest& contest) {
  return cell(data(contest.ratio.value, ratio_text(contest.ratio.value)) + " at " +
                  escaped(number_text(contest.rival->size)),
              "num");
}

}  // namespace

std::string scrolling(const std::string& table, const std::string& caption) {
  return "<div class=\"scroll\" tabindex=\"0\" role=\"region\" aria-label=\"" + escaped(caption) +
         "\">\n<table>\n<caption><span>" + escaped(caption) + "</span></caption>\n" + table +
         "</table>\n</div>\n";
}

std::string results_table(const Subject& subject) {
  std::vector<Column> columns = columns_of(subject);
  std::erase_if(columns, [&](const Column& column) { return !has(subject, column); });
  std::string html = title_cells(result_titles(subject, columns), 1) + "<tbody>\n";
  for (const Series& series : subject.series) {
    for (const Row* row : series.rows) html += result_row(series, *row, columns);
  }
  return scrolling(html + "</tbody>\n", "Results: " + subject.title);
}

std::string leads_table(const std::vector<Subject>& subjects) {
  std::string html;
  for (const Subject& subject : subjects) {
    for (const Lead& lead : leads_of(subject)) {
      const Row &first = *lead.rows.front(), &last = *lead.rows.back();
      html +=
          "<tr><th scope=\"row\">" + escaped(subject.title) + "</th>" +
          cell(escaped(from_to(number_text(first.size), number_text(last.size))), "num") +
          cell((lead.series->rival() ? "" : "<b>") + escaped(lead.series->label) +
               (lead.series->rival() ? "" : "</b>")) +
          cell(escaped(from_to(speed_text(subject.kind, first), speed_text(subject.kind, last))),
               "num") +
          "</tr>\n";
    }
  }
  if (html.empty()) return "";
  return scrolling(
      "<thead><tr><th scope=\"col\">what</th><th scope=\"col\" class=\"num\">size</th>"
      "<th scope=\"col\">fastest</th><th scope=\"col\" class=\"num\">speed</th></tr></thead>\n"
      "<tbody>\n" +
          html + "</tbody>\n",
      "The fastest at each size; methods of lugpu in bold");
}

std::string rivals_table(const std::vector<Subject>& subjects) {
  std::string html;
  for (const Subject& subject : subjects) {
    for (const Rivalry& rivalry : rivalries_of(subject)) {
      const Extremes found = extremes_of(rivalry);
      const std::string counts = std::to_string(found.faster) + " faster, " +
                                 std::to_string(found.slower) + " slower, of " +
                                 std::to_string(rivalry.contests.size());
      html += "<tr><th scope=\"row\">" + escaped(rivalry.label) + "</th>" +
              cell(escaped(subject.title)) +
              cell(data(found.geometric_mean, ratio_text(found.geometric_mean)), "num") +
              extreme_cell(*found.worst) + extreme_cell(*found.best) + cell(counts) + "</tr>\n";
    }
  }
  if (html.empty()) return "";
  return scrolling(
      "<thead><tr><th scope=\"col\">rival</th><th scope=\"col\">what</th>"
      "<th scope=\"col\" class=\"num\">geometric mean</th><th scope=\"col\" "
      "class=\"num\">worst</th>"
      "<th scope=\"col\" class=\"num\">best</th><th scope=\"col\">lugpu is</th></tr></thead>\n"
      "<tbody>\n" +
          html + "</tbody>\n",
      "Time of each rival over the time of lugpu: above 1, lugpu is faster");
}

}  // namespace lugpu::report
