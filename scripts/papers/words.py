"""Numbers, tables and paragraphs in words."""

import math
import textwrap


def number(value):
    """Three significant digits, without an exponent where that is readable."""
    if value and not 1e-3 <= abs(value) < 1e6:
        return f"{value:.2e}"
    return f"{value:.{max(0, 2 - math.floor(math.log10(abs(value))))}f}" if value else "0"


def seconds(value):
    """A time with its unit."""
    for unit, scale in (("s", 1), ("ms", 1e3)):
        if value * scale >= 1:
            return f"{number(value * scale)} {unit}"
    return f"{number(value * 1e6)} µs"


def percent(value):
    """A share."""
    return f"{number(100 * value)} %"


def gigabytes(value):
    """A bandwidth."""
    return f"{number(value / 1e9)} GB/s"


def markdown_table(head, rows):
    """A table whose columns but the first two are numbers."""
    rule = ["---"] * 2 + ["---:"] * (len(head) - 2)
    return "\n".join("| " + " | ".join(map(str, cells)) + " |" for cells in [head, rule, *rows])


def paragraph(text):
    """A paragraph in lines of the page's width."""
    return textwrap.fill(text, 100, break_long_words=False, break_on_hyphens=False)
