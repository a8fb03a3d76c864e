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
  return cell((good ? "" : "<b>✗</b> ") + escaped(text), good ? "status" : "status bad");
}

// Rows with a heading of their own; none without rows.
std::string group(const std::string& heading, std::size_t columns, const std::string& rows) {
  if (rows.empty()) return "";
  return "<tbody>\n<tr class=\"group\"><th scope=\"rowgroup\" colspan=\"" +
         std::to_string(columns) + "\"><span>" + heading + "</span></th></tr>\n" + rows +
         "</tbody>\n";
}

std::string size_cell(const std::string& html) {
  return "<th scope=\"row\" class=\"num\">" + html + "</th>";
}

// The last column is text.
std::string title_cells(const std::vector<std::string>& titles) {
  std::string html;
  for (std::size_t i = 0; i < titles.size(); ++i) {
    const bool number = i + 1 < titles.size();
    html += std::string("<th scope=\"col\"") + (number ? " class=\"num\">" : ">") +
            escaped(titles[i]) + "</th>";
  }
  return "<thead><tr>" + html + "</tr></thead>\n";
}

std::vector<std::string> result_titles(const Subject& subject, const std::vector<Column>& columns) {
  std::vector<std::string> titles;
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

std::string result_row(const Row& row, const std::vector<Column>& columns) {
  std::string html = row.status == "ok" ? "<tr>" : "<tr class=\"bad\">";
  html += size_cell(data(row.size, number_text(row.size)));
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

// "a – b", or one of them where they are the same.
std::string from_to(const std::string& a, const std::string& b) {
  return a == b ? a : a + " – " + b;
}

// Of the first and the last result of a lead.
std::string speeds_text(const Row& first, const Row& last) {
  if (first.kind == Kind::structured || !first.speed || !last.speed) {
    return from_to(seconds_text(first.median), seconds_text(last.median));
  }
  return from_to(number_text(*first.speed), number_text(*last.speed)) +
         (first.kind == Kind::dense ? " GFLOP/s" : " frames/s");
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
                  number_text(contest.rival->size),
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
  const std::vector<std::string> titles = result_titles(subject, columns);
  std::string html = title_cells(titles);
  for (const Series& series : subject.series) {
    std::string rows;
    for (const Row* row : series.rows) rows += result_row(*row, columns);
    html += group(escaped(series.label), titles.size(), rows);
  }
  return scrolling(html, "Results: " + subject.title);
}

std::string leads_table(const std::vector<Subject>& subjects) {
  std::string html;
  for (const Subject& subject : subjects) {
    std::string rows;
    for (const Lead& lead : leads_of(subject)) {
      const Row &first = *lead.rows.front(), &last = *lead.rows.back();
      const std::string label = escaped(lead.series->label);
      rows += "<tr><th scope=\"row\">" + (lead.series->rival() ? label : "<b>" + label + "</b>") +
              "</th>" + cell(from_to(number_text(first.size), number_text(last.size)), "num") +
              cell(speeds_text(first, last), "num") + "</tr>\n";
    }
    html += group(escaped(subject.title), 3, rows);
  }
  if (html.empty()) return "";
  return scrolling(
      "<thead><tr><th scope=\"col\">fastest</th><th scope=\"col\" class=\"num\">size</th>"
      "<th scope=\"col\" class=\"num\">speed</th></tr></thead>\n" +
          html,
      "The fastest at each size; methods of lugpu in bold");
}

std::string rivals_table(const std::vector<Subject>& subjects) {
  std::string html;
  for (const Subject& subject : subjects) {
    std::string rows;
    for (const Rivalry& rivalry : rivalries_of(subject)) {
      const Extremes found = extremes_of(rivalry);
      rows += "<tr><th scope=\"row\">" + escaped(rivalry.label) + "</th>" +
              cell(data(found.geometric_mean, ratio_text(found.geometric_mean)), "num") +
              extreme_cell(*found.worst) + extreme_cell(*found.best) +
              cell(std::to_string(found.faster) + " : " + std::to_string(found.slower), "num") +
              "</tr>\n";
    }
    html += group(escaped(subject.title), 5, rows);
  }
  if (html.empty()) return "";
  return scrolling(
      "<thead><tr><th scope=\"col\">rival</th><th scope=\"col\" class=\"num\">mean</th>"
      "<th scope=\"col\" class=\"num\">worst</th><th scope=\"col\" class=\"num\">best</th>"
      "<th scope=\"col\" class=\"num\">won : lost</th></tr></thead>\n" +
          html,
      "Time of each rival over the time of lugpu: above 1, lugpu is faster; geometric means, "
      "and at how many sizes lugpu is clearly faster and slower");
}

}  // namespace lugpu::report
