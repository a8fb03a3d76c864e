// The parts of a report's page: numbers in words, marks of axes, charts, and who is compared.
#include <gtest/gtest.h>

#include "report/markup.hpp"
#include "report/subjects.hpp"
#include "report/svg_chart.hpp"
#include "report/ticks.hpp"

namespace lugpu::report {
namespace {

std::vector<double> values(const std::vector<Tick>& ticks) {
  std::vector<double> all;
  for (const Tick& tick : ticks) all.push_back(tick.value);
  return all;
}

std::vector<std::string> texts(const std::vector<Tick>& ticks) {
  std::vector<std::string> all;
  for (const Tick& tick : ticks) all.push_back(tick.text);
  return all;
}

TEST(Markup, EscapesWhatMeansSomething) {
  EXPECT_EQ(escaped("a<b> & \"c\" 'd'"), "a&lt;b&gt; &amp; &quot;c&quot; &#39;d&#39;");
  EXPECT_EQ(escaped("tab\t, bad \xff"), "tab\\t, bad \\xff");
}

TEST(Markup, NumbersInWords) {
  EXPECT_EQ(number_text(0), "0");
  EXPECT_EQ(number_text(16384), "16384");
  EXPECT_EQ(number_text(31732.7), "31733");
  EXPECT_EQ(number_text(999.4), "999.4");
  EXPECT_EQ(number_text(12.34), "12.3");
  EXPECT_EQ(number_text(1), "1");
  EXPECT_EQ(number_text(0.012345), "0.0123");
  EXPECT_EQ(number_text(1e-6), "10⁻⁶");
  EXPECT_EQ(number_text(9.97e-7), "10⁻⁶");
  EXPECT_EQ(number_text(-2.5e12), "-2.5·10¹²");
  EXPECT_EQ(number_text(67108864), "67108864");
  EXPECT_EQ(seconds_text(0.0923977), "92.4 ms");
  EXPECT_EQ(seconds_text(38.5e-6), "38.5 µs");
  EXPECT_EQ(seconds_text(0.9999e-3), "1.00 ms");
  EXPECT_EQ(seconds_text(2), "2 s");
  EXPECT_EQ(si_text(4.196e12, "B/s"), "4.2 TB/s");
  EXPECT_EQ(ratio_text(0.8451), "0.85");
  EXPECT_EQ(ratio_text(12.34), "12.3");
  EXPECT_EQ(data(0.1, "a&b"), "<data value=\"0.1\">a&amp;b</data>");
}

TEST(Ticks, PowersOfTenOrTheirParts) {
  EXPECT_EQ(values(log_ticks(1, 100)), (std::vector<double>{1, 10, 100}));
  EXPECT_EQ(values(log_ticks(3, 40)), (std::vector<double>{5, 10, 20}));
  EXPECT_EQ(texts(log_ticks(1, 2)),
            (std::vector<std::string>{"1", "1.2", "1.4", "1.6", "1.8", "2"}));
  EXPECT_EQ(texts(log_ticks(1e-6, 1e-4)), (std::vector<std::string>{"10⁻⁶", "10⁻⁵", "10⁻⁴"}));
  EXPECT_EQ(values(log_ticks(1e-14, 1)), (std::vector<double>{1e-12, 1e-9, 1e-6, 1e-3, 1}));
  EXPECT_LE(log_ticks(1e-300, 1e300).size(), 9U);
}

TEST(Ticks, MultiplesOfOneTwoAndFive) {
  EXPECT_EQ(texts(linear_ticks(0, 1)),
            (std::vector<std::string>{"0", "0.2", "0.4", "0.6", "0.8", "1"}));
  EXPECT_EQ(texts(linear_ticks(0, 30)),
            (std::vector<std::string>{"0", "5", "10", "15", "20", "25", "30"}));
  EXPECT_EQ(linear_ticks(2, 2).size(), 1U);
}

TEST(Ticks, SizesThatLeaveRoom) {
  EXPECT_EQ(texts(size_ticks({64, 128, 256}, {50, 150, 250})),
            (std::vector<std::string>{"64", "128", "256"}));
  EXPECT_EQ(texts(size_ticks({1023, 1024, 2048}, {200, 201, 400})),
            (std::vector<std::string>{"1024", "2048"}));
}

Chart chart_of(std::vector<Point> points) {
  Chart chart;
  chart.title = "T";
  chart.x_title = "x";
  chart.y_title = "y";
  chart.lines = {{"a<b", 0, false, std::move(points)}};
  return chart;
}

TEST(Chart, DrawsWhatHasAPlace) {
  EXPECT_FALSE(has_points(chart_of({{8, 0, {}}, {0, 1, {}}, {8, NAN, {}}, {INFINITY, 1, {}}})));
  const std::string svg = figure(chart_of({{8, 1, {}}, {16, 0, {}}, {32, 100, {}}}), "f");
  EXPECT_NE(svg.find("a&lt;b: 1 at 8, 100 at 32."), std::string::npos);
  // 5 % of the axes' lengths on either side: x from 60 to 406, y from 250 to 26.
  EXPECT_NE(svg.find("d=\"M75.7,239.8 L390.3,36.2\""), std::string::npos) << svg;
  EXPECT_NE(svg.find(">8</text>"), std::string::npos);
  EXPECT_EQ(svg.find(">16</text>"), std::string::npos);
}

TEST(Chart, CrossesMarkWhatFailed) {
  const std::string svg = figure(chart_of({{8, 1, {}}, {16, 2, {}, true}}), "f");
  EXPECT_NE(svg.find("class=\"cross\""), std::string::npos);
  EXPECT_NE(svg.find("</svg>failed</li>"), std::string::npos);
}

TEST(Bars, SharesAddUp) {
  const std::string svg =
      figure(Bars{"T", "", {"8"}, {"4 s"}, {{"panel", {1}}, {"update", {3}}}}, "f");
  EXPECT_NE(svg.find("8 (4 s): panel 25 %, update 75 %."), std::string::npos) << svg;
  EXPECT_NE(svg.find("width=\"74.0\""), std::string::npos) << svg;
  EXPECT_NE(svg.find("width=\"222.0\""), std::string::npos);
}

// A timed result of so many seconds.
Row row_of(const std::string& routine, double size, double seconds, const std::string& device) {
  Row row;
  row.subject = "s";
  row.routine = routine;
  row.rival = routine == "getrf";
  row.on_host = row.rival;
  row.size = size;
  row.fields = {{"device", row.rival ? "" : device}, {"pivot", "partial"}, {"matrix", "random"}};
  row.status = "ok";
  row.samples = {seconds, seconds};
  row.median = seconds;
  return row;
}

TEST(Subjects, LabelsSayWhatTellsSeriesApart) {
  Record record;
  record.rows = {row_of("getrf", 8, 1, ""), row_of("lu", 8, 1, "a"), row_of("lu", 16, 1, "a")};
  std::vector<Subject> subjects = subjects_of(record);
  ASSERT_EQ(subjects.size(), 1U);
  ASSERT_EQ(subjects[0].series.size(), 2U);
  EXPECT_EQ(subjects[0].series[0].label, "lu");  // lugpu's first
  EXPECT_EQ(subjects[0].series[1].label, "getrf");
  record.rows.push_back(row_of("lu", 32, 1, "b"));
  record.rows[1].fields["nb"] = "nb 64";  // follows the size
  record.rows[2].fields["nb"] = "nb 128";
  subjects = subjects_of(record);
  ASSERT_EQ(subjects[0].series.size(), 3U);
  EXPECT_EQ(subjects[0].series[0].label, "lu (a)");
  EXPECT_EQ(subjects[0].series[1].label, "lu (b)");
}

TEST(Subjects, RivalsMeetTheFastestOfTheirFile) {
  Record record;
  record.rows = {row_of("lu", 8, 4, "a"), row_of("gauss-jordan", 8, 2, "a"),
                 row_of("getrf", 8, 6, ""), row_of("lu", 8, 1, "a"), row_of("getrf", 16, 1, "")};
  record.rows[3].run = 1;
  const std::vector<Subject> subjects = subjects_of(record);
  const std::vector<Rivalry> rivalries = rivalries_of(subjects[0]);
  ASSERT_EQ(rivalries.size(), 1U);
  ASSERT_EQ(rivalries[0].contests.size(), 1U);
  EXPECT_EQ(rivalries[0].contests[0].ratio.value, 3);
  EXPECT_EQ(rivalries[0].contests[0].lugpu->routine, "gauss-jordan");
}

TEST(Subjects, RivalsMeetAsManyCores) {
  Record record;
  record.rows = {row_of("lu", 8, 4, "a"), row_of("lu", 8, 2, "a"), row_of("getrf", 8, 8, "")};
  record.rows[0].fields["compute_units"] = "2 cores";
  record.rows[1].fields["compute_units"] = "4 cores";
  record.rows[2].fields["threads"] = "2 threads";
  EXPECT_EQ(rivalries_of(subjects_of(record)[0])[0].contests[0].ratio.value, 2);
}

TEST(Subjects, NeighboursWithOneWinnerAreJoined) {
  Record record;
  record.rows = {row_of("lu", 8, 2, "a"), row_of("getrf", 8, 1, ""), row_of("lu", 16, 1, "a"),
                 row_of("getrf", 16, 2, ""), row_of("lu", 32, 1, "a")};
  const std::vector<Subject> subjects = subjects_of(record);
  const std::vector<Lead> leads = leads_of(subjects[0]);
  ASSERT_EQ(leads.size(), 2U);
  EXPECT_EQ(leads[0].series->label, "getrf");
  EXPECT_EQ(leads[1].rows.size(), 2U);
}

}  // namespace
}  // namespace lugpu::report
