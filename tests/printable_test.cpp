// How text from outside may be shown on a terminal.
#include "base/printable.hpp"

#include <gtest/gtest.h>

#include <string>

namespace lugpu {
namespace {

using namespace std::string_literals;

TEST(Printable, TextStaysAsItIs) {
  for (const std::string text :
       {"", "a b", "größe 数 матрица 🙂", "back\\slash 'quoted' \"so\"", "\u00A0",
        "\u07FF", "\u0800", "\uD7FF", "\uE000", "\uFFFD", "\U00010000", "\U0010FFFF"}) {
    EXPECT_EQ(printable(text), text);
    EXPECT_EQ(printable_lines(text), text);
  }
}

TEST(Printable, ControlCharactersAreEscaped) {
  EXPECT_EQ(printable("a\033[31mred\007\b\177"), "a\\x1b[31mred\\x07\\x08\\x7f");
  EXPECT_EQ(printable("two\nlines\r\tand a tab"), "two\\nlines\\r\\tand a tab");
  EXPECT_EQ(printable("\0end"s), "\\x00end");
  for (int c = 0; c < 0x20; ++c) {
    const std::string shown = printable(std::string(1, static_cast<char>(c)));
    EXPECT_EQ(shown.front(), '\\') << c;
    for (const char d : shown) EXPECT_TRUE(d > ' ' && d <= '~') << c;
  }
  // The control characters beyond ASCII: U+009B begins an escape sequence, like ESC [.
  EXPECT_EQ(printable("\u009B31m"), "\\xc2\\x9b31m");
  EXPECT_EQ(printable("\u0080\u009F\u00A0"), "\\xc2\\x80\\xc2\\x9f\u00A0");
}

TEST(Printable, WhatIsNotUtf8IsEscaped) {
  EXPECT_EQ(printable("a\xE9.csv"), "a\\xe9.csv");
  EXPECT_EQ(printable("\x9B"
                      "31m"),
            "\\x9b31m");
  EXPECT_EQ(printable("\xC3"), "\\xc3");           // cut off
  EXPECT_EQ(printable("\xE6\x95"), "\\xe6\\x95");  // cut off
  EXPECT_EQ(printable("\xF0\x9F\x99\033"), "\\xf0\\x9f\\x99\\x1b");
  EXPECT_EQ(printable("\xC0\x8A"), "\\xc0\\x8a");           // LF in two bytes
  EXPECT_EQ(printable("\xE0\x80\x8A"), "\\xe0\\x80\\x8a");  // LF in three
  EXPECT_EQ(printable("\xF0\x80\x80\x8A"), "\\xf0\\x80\\x80\\x8a");
  EXPECT_EQ(printable("\xED\xA0\x80"), "\\xed\\xa0\\x80");  // a surrogate
  EXPECT_EQ(printable("\xF4\x90\x80\x80"), "\\xf4\\x90\\x80\\x80");
  EXPECT_EQ(printable("\xFF\xFE"), "\\xff\\xfe");
}

TEST(Printable, LinesStayLines) {
  EXPECT_EQ(printable_lines("a\033\n\nb\tc\r\n"), "a\\x1b\n\nb\\tc\\r\n");
  EXPECT_EQ(printable_lines("\n"), "\n");
}

}  // namespace
}  // namespace lugpu
