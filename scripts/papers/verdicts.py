"""What measurements say about a statement, by the number and spread of their samples."""

import math
import statistics
from dataclasses import dataclass

from papers.words import number

HOLDS, NO_LONGER, UNCLEAR = "holds", "no longer holds", "unclear"
WRONG = "does not hold"  # of statements that depend on no machine
NOT_MEASURED, NOT_MADE = "not measured", "not made"

# Student's distribution, two-sided 95 %, for 1, 2, ... degrees of freedom; the last for more.
STUDENT = (12.71, 4.30, 3.18, 2.78, 2.57, 2.45, 2.36, 2.31, 2.26, 2.23)
TIMED_ONCE = 2  # the factor within which a time with only one sample is known


def uncertainty(samples):
    """The factor within which these samples know what they measure, with 95 % confidence."""
    if len(samples) < 2:
        return math.inf
    student = STUDENT[min(len(samples) - 1, len(STUDENT)) - 1]
    deviation = statistics.stdev(map(math.log, samples))
    return math.exp(min(student * deviation / math.sqrt(len(samples)), 700))


def together(*factors):
    """The factor within which the quotient of values is known, each of which is within one."""
    return math.exp(min(math.hypot(*map(math.log, factors)), 700))


@dataclass(frozen=True)
class Claim:
    """That a value, known within a factor, is at least (or at most) this large. A value under `least`
    is impossible: its samples had something in common that their spread does not show."""
    value: float
    factor: float
    limit: float
    at_most: bool = False
    least: float = 0

    def verdict(self):
        """Unclear if the value may lie on either side of the limit, or is impossible."""
        low, high = self.value / self.factor, self.value * self.factor
        if high < self.least:
            return UNCLEAR
        if self.at_most:
            return HOLDS if high <= self.limit else NO_LONGER if low > self.limit else UNCLEAR
        return HOLDS if low >= self.limit else NO_LONGER if high < self.limit else UNCLEAR

    def doubt(self):
        """A sentence, if unclear."""
        if self.verdict() != UNCLEAR:
            return ""
        if self.value * self.factor < self.least:
            return (f" {number(self.value)} is less than is possible, so something else must "
                    "have slowed one of the two.")
        if self.factor >= 1e3:
            return f" For {number(self.value)} the samples are too few or too far apart to judge."
        return (f" By the number and spread of the samples, the {number(self.value)} may be "
                f"{number(self.value / self.factor)} to {number(self.value * self.factor)}.")


def judge(*claims):
    """(the verdict of a rule that makes these claims, sentences about doubts)."""
    verdicts = [claim.verdict() for claim in claims]
    worst = next(verdict for verdict in (NO_LONGER, UNCLEAR, HOLDS) if verdict in verdicts)
    doubts = [claim.doubt() for claim in claims] if worst == UNCLEAR else []
    return worst, "".join(doubts)


def judge_counts(right):
    """The verdict of a rule about counts, which are exact."""
    return HOLDS if right else NO_LONGER
