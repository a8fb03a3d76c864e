"""Tables 1 and 2: bytes and multiply-adds."""

from papers.lu_gpu_2005.results import rows_of, select
from papers.pages import Finding
from papers.running import NotMade
from papers.verdicts import judge_counts
from papers.words import markdown_table, number

# Tables 1 and 2: sums over the steps, in bytes (single precision) and in multiply-adds.
BYTES = {"gauss-jordan": lambda n: 6 * n * (n + 1) + 4 * n * (n + 1) + 8 * n * n * (n + 1),
         "lu": lambda n: (4 + 6 + 4) * n * (n + 1) + 8 * (n - 1) * n * (2 * n - 1) // 3}
LEADING_BYTES = {"gauss-jordan": ("8 n³", 8), "lu": ("16/3 n³", 16 / 3)}
MULTIPLY_ADDS = {"gauss-jordan": lambda n: n * n * (n + 1) // 2,
                 "lu": lambda n: (n - 1) * n * (2 * n - 1) // 6}
LEADING_MULTIPLY_ADDS = {"gauss-jordan": ("n³/2", 1 / 2), "lu": ("n³/3", 1 / 3)}


def counts(records, schedule):
    """{(routine, n): counters} of a schedule."""
    found = {(row["routine"], row["n"]): row["counters"]
             for row in select(rows_of(records), schedule=schedule)}
    if any(not any(routine == name for name, _ in found) for routine in BYTES):
        raise NotMade(f"the {schedule} schedule has no result of lu or of gauss-jordan.")
    return found


def largest_of(routine, *found):
    """The largest n that a routine has in all of these counts."""
    return max(n for name, n in found[0] if name == routine
               and all((name, n) in other for other in found))


def bytes_table(records, device):
    """Table 1."""
    paper, fused = counts(records, "paper"), counts(records, "fused")
    lines, sentences, right = [], [], []
    for (routine, n), counters in sorted(paper.items()):
        term, leading = LEADING_BYTES[routine][0], LEADING_BYTES[routine][1] * n**3
        cells = [BYTES[routine](n), counters["bytes_model"], counters["bytes_counted"],
                 fused.get((routine, n), {}).get("bytes_counted")]
        lines.append([routine, term, n, f"{leading:.0f}"]
                     + ["" if cell is None else f"{cell} ({cell / leading:.3f})" for cell in cells])
    for routine in BYTES:
        n = largest_of(routine, paper, fused)
        exact, counters = BYTES[routine](n), paper[routine, n]
        counted = counters["bytes_counted"] / exact
        right.append(counters["bytes_model"] == exact and abs(counted - 1) <= 0.05)
        sentences.append(f"For {routine} at n = {n} the paper's sum is {exact} bytes; the launches "
                         f"of the paper's schedule move {number(counted)} of it, the fused one's "
                         f"{number(fused[routine, n]['bytes_counted'] / exact)}.")
    head = ["method", "leading term", "n", "leading term, bytes", "paper's sum", "program's model",
            "counted, paper's schedule", "counted, fused"]
    return Finding(judge_counts(all(right)), " ".join(sentences),
                   "counted bytes are the paper's" if all(right) else "counted bytes differ",
                   table=markdown_table(head, lines) + "\n\nIn brackets: over the leading term.")


def multiply_adds_table(records, device):
    """Table 2."""
    paper = counts(records, "paper")
    lines, sentences, right = [], [], []
    for (routine, n), counters in sorted(paper.items()):
        term, leading = LEADING_MULTIPLY_ADDS[routine][0], LEADING_MULTIPLY_ADDS[routine][1] * n**3
        lines.append([routine, term, n, f"{leading:.0f}"]
                     + [f"{cell} ({cell / leading:.3f})" for cell in
                        (MULTIPLY_ADDS[routine](n), counters["elements_updated"])])
    for routine in MULTIPLY_ADDS:
        n = largest_of(routine, paper)
        exact, done = MULTIPLY_ADDS[routine](n), paper[routine, n]["elements_updated"]
        right.append(abs(done / exact - 1) <= 0.05)
        sentences.append(f"For {routine} at n = {n} the program updates {done} elements, "
                         f"{number(done / exact)} of the paper's sum and "
                         f"{number(done / (LEADING_MULTIPLY_ADDS[routine][1] * n**3))} of "
                         f"{LEADING_MULTIPLY_ADDS[routine][0]}.")
    head = ["method", "leading term", "n", "leading term, multiply-adds", "paper's sum",
            "program's count"]
    return Finding(judge_counts(all(right)), " ".join(sentences),
                   "the counts are the paper's" if all(right) else "the counts differ",
                   table=markdown_table(head, lines) + "\n\nIn brackets: over the leading term.")
