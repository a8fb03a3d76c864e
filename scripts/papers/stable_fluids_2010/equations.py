"""Equations 3 and 4 and the orders of Gauss-Seidel, computed with NumPy in double precision."""

import functools

import numpy
from papers.drawing import FIRST, SECOND, Line, Panel, look
from papers.pages import Finding
from papers.stable_fluids_2010.plan import SOME_CONVERGENCE
from papers.stable_fluids_2010.tables import POWER
from papers.verdicts import HOLDS, WRONG
from papers.words import number, percent

DIFFUSED = 5e-3  # k t at the end
TIME_STEPS = 50
SWEEPS = 10
FIELD_POINTS = {2: 32, 3: 16}  # along each axis, for sweeps in one step
TWICE = 1.5  # a ratio that counts as two
ORDER_POINTS = 32


def inside(x):
    """The points of x within its walls."""
    return x[(slice(1, -1),) * x.ndim]


def neighbours(x):
    """The sum of the neighbours of every inner point of x; x has the walls around it."""
    total = 0
    for axis in range(x.ndim):
        for ends in (slice(None, -2), slice(2, None)):
            places = [slice(1, -1)] * x.ndim
            places[axis] = ends
            total = total + x[tuple(places)]
    return total


def start(n, dimensions=2):
    """The product of sin(pi x) for every axis on n inner points, with walls at zero."""
    wave = numpy.sin(numpy.pi * numpy.arange(n + 2) / (n + 1))
    wave[[0, -1]] = 0
    return functools.reduce(numpy.multiply.outer, [wave] * dimensions)


def sweep(x, right, a, diagonal):
    """One of Jacobi's sweeps for diagonal x - a (sum of neighbours) = right."""
    new = numpy.zeros_like(x)
    inside(new)[...] = (inside(right) + a * neighbours(x)) / diagonal
    return new


# --- Diffusion -----------------------------------------------------------------------------------

@functools.cache
def decay(n, power):
    """[(k t, largest value over that at the start)] of the diffusion in 2D with a = k dt / h^power
    and the diagonal 1 + 4 a, each implicit step solved by Jacobi to 1e-10."""
    step = DIFFUSED / TIME_STEPS
    a = step * (n + 1) ** power
    field, points = start(n), [(0.0, 1.0)]
    largest = float(field.max())  # less than 1 where no point is in the middle
    for count in range(1, TIME_STEPS + 1):
        right, change = field, 1.0
        while change > 1e-10:
            new = sweep(field, right, a, 1 + 4 * a)
            change, field = float(abs(new - field).max()), new
        points.append((count * step, float(field.max()) / largest))
    return points


def growth(dimensions, diagonal):
    """[(sweep, largest value over that at the start)] of Jacobi's sweeps in one step with a = 1 that
    starts from the field itself."""
    field = right = start(FIELD_POINTS[dimensions], dimensions)
    points, largest = [(0, 1.0)], float(field.max())
    for count in range(1, SWEEPS + 1):
        field = sweep(field, right, 1, diagonal)
        points.append((count, float(field.max()) / largest))
    return points


def diffusion(records, device):
    """h² against h³, and the diagonal."""
    exact = [(k_t, float(numpy.exp(-2 * numpy.pi ** 2 * k_t))) for k_t, _ in decay(8, 2)]
    curves = {(power, n): decay(n, power) for power, n in ((2, 16), (2, 32), (3, 16), (3, 32))}
    off = {key: points[-1][1] / exact[-1][1] - 1 for key, points in curves.items()}
    printed = {dimensions: growth(dimensions, 2) for dimensions in (2, 3)}
    right = {dimensions: growth(dimensions, 1 + 2 * dimensions) for dimensions in (2, 3)}
    measured = (f"After k t = {DIFFUSED:g} the exact solution sin πx sin πy has decayed to "
                f"{number(exact[-1][1])}. With k dt / h² the implicit steps give "
                f"{number(curves[2, 32][-1][1])} on 32² points, {percent(abs(off[2, 32]))} off, and "
                f"{number(curves[2, 16][-1][1])} on 16². With the printed k dt / h³ they give "
                f"{number(curves[3, 32][-1][1])} and {number(curves[3, 16][-1][1])}: the fluid's "
                f"viscosity grows with the grid, by 1/h. With the printed diagonal 1 + a (a = 1), "
                f"{SWEEPS} of Jacobi's sweeps make the field {number(printed[2][-1][1])} times as "
                f"large in 2D and {number(printed[3][-1][1])} times in 3D, and go on; with 1 + 4a "
                f"in 2D and 1 + 6a in 3D, as the equation has it, it stays at "
                f"{number(right[2][-1][1])} and {number(right[3][-1][1])}. The paper's programs "
                "must have had another one.")
    styles = {(2, 16): (FIRST, "s"), (2, 32): (FIRST, "o"), (3, 16): (SECOND, "v"),
              (3, 32): (SECOND, "^")}
    lines = [Line(f"k dt / h{POWER[power]}, {n}²", points, look(
        styles[power, n][0], "image" if n == 32 else "buffer", styles[power, n][1])
        | {"markevery": (n // 4, 10)}) for (power, n), points in curves.items()]
    lines.append(Line("exact", exact, {"color": "black", "linestyle": ":"}))
    sweeps = [Line(f"{name}, {dimensions}D", points[dimensions],
                   look(colour, "image" if dimensions == 2 else "buffer", marker))
              for dimensions in (2, 3) for name, points, colour, marker in (
                  (f"diagonal 1 + {2 * dimensions}a", right, FIRST, "Ds"[dimensions - 2]),
                  ("1 + a, as printed", printed, SECOND, "Pv"[dimensions - 2]))]
    panels = [Panel("Decay of a diffusion", "largest value", lines, lambda y, _: f"{y:g}",
                    log=False, kind="reals", x_label="k t"),
              Panel("Jacobi's sweeps, a = 1", "largest value", sweeps, lambda y, _: f"{y:g}",
                    kind="steps", x_label="sweep")]
    sound = abs(off[3, 32]) < 0.05 and printed[2][-1][1] < 1
    return Finding(HOLDS if sound else WRONG, measured,
                   f"{percent(abs(off[3, 32]))} off with h³, {percent(abs(off[2, 32]))} with h²",
                   panels)


# --- Projection ----------------------------------------------------------------------------------

PERIODIC_POINTS = (16, 32, 64, 128)


def difference(x, axis):
    """The difference of both neighbours along an axis, on a grid that goes round."""
    return numpy.roll(x, -1, axis) - numpy.roll(x, 1, axis)


@functools.cache
def divergence_left(n, factor):
    """The share of a velocity's divergence that is left where the pressure solves
    (sum of neighbours) - 4 p = factor h (differences of the velocity)."""
    h = 1 / n
    x, y = numpy.meshgrid(numpy.arange(n) * h, numpy.arange(n) * h, indexing="ij")
    velocity = (numpy.sin(2 * numpy.pi * (x + y)), numpy.cos(2 * numpy.pi * (x - y)))
    differences = sum(difference(part, axis) for axis, part in enumerate(velocity))
    cosines = numpy.cos(2 * numpy.pi * numpy.fft.fftfreq(n))
    laplacian = 2 * cosines[:, None] + 2 * cosines - 4
    laplacian[0, 0] = 1  # of the mean, which is zero
    pressure = numpy.fft.ifft2(numpy.fft.fft2(factor * h * differences) / laplacian).real
    left = sum(difference(part - difference(pressure, axis) / (2 * h), axis)
               for axis, part in enumerate(velocity))
    return float(abs(left).max() / abs(differences).max())


def projection(records, device):
    """The right-hand side of the pressure's equation."""
    printed, right = ([(n, divergence_left(n, factor)) for n in PERIODIC_POINTS]
                      for factor in (1, 1 / 2))
    n = PERIODIC_POINTS[-1]
    measured = (f"On {n}² points the printed equation leaves {percent(printed[-1][1])} of the "
                f"divergence, with its sign changed: the pressure is twice as large as it should "
                f"be. Half of the right-hand side, as the differences are over 2h, leaves "
                f"{percent(right[-1][1])}, the error of the differences.")
    panels = [Panel("Divergence after the projection", "share of that before", [
        Line("half of the right-hand side", right, look(FIRST, "image", "o")),
        Line("as printed", printed, look(SECOND, "image", "P"))],
        lambda y, _: f"{y:g}", x_label="points along each axis")]
    return Finding(HOLDS if printed[-1][1] < 0.05 else WRONG, measured,
                   f"{percent(printed[-1][1])} of the divergence is left", panels)


# --- The order of Gauss-Seidel -------------------------------------------------------------------

def row_by_row(n):
    """Sets of points that one sweep takes in turn: the diagonals, on which no point needs another,
    give the same values as the points one after the other."""
    i, j = numpy.meshgrid(numpy.arange(1, n + 1), numpy.arange(1, n + 1), indexing="ij")
    return [(i[i + j == k], j[i + j == k]) for k in range(2, 2 * n + 1)]


def red_black(n):
    """The same of the sweep by colours."""
    i, j = numpy.meshgrid(numpy.arange(1, n + 1), numpy.arange(1, n + 1), indexing="ij")
    return [(i[(i + j) % 2 == colour], j[(i + j) % 2 == colour]) for colour in (0, 1)]


@functools.cache
def errors(order):
    """The largest error after each of Gauss-Seidel's sweeps for the pressure, from one to some
    convergence."""
    x = numpy.zeros((ORDER_POINTS + 2,) * 2)
    inside(x)[...] = 1
    left, places = [1.0], order(ORDER_POINTS)
    while left[-1] > SOME_CONVERGENCE:
        for i, j in places:
            x[i, j] = (x[i - 1, j] + x[i + 1, j] + x[i, j - 1] + x[i, j + 1]) / 4
        left.append(float(x.max()))
    return left


def ordering(records, device):
    """Red and black points against all points in a row."""
    coloured, plain = errors(red_black), errors(row_by_row)
    counts = len(coloured) - 1, len(plain) - 1
    measured = (f"On {ORDER_POINTS}² points {counts[0]} sweeps by colours and {counts[1]} row by row "
                f"bring an error of one below {SOME_CONVERGENCE}, {number(counts[0] / counts[1])} "
                "times as many: both orders have the same rate of convergence (Young 1954). The "
                "paper's factor of two may come from counting the sweep of one colour as a whole "
                "one.")
    panels = [Panel("Error over sweeps", "largest error", [
        Line("red, then black points", list(enumerate(coloured)),
             look(SECOND, "image", "D") | {"markevery": (0, 30)}),
        Line("row by row", list(enumerate(plain)),
             look(FIRST, "buffer", "o") | {"markevery": (15, 30)})],
        lambda y, _: f"{y:g}", kind="steps", x_label="sweeps",
        marks={f"some convergence: {SOME_CONVERGENCE}": SOME_CONVERGENCE})]
    return Finding(HOLDS if counts[0] >= TWICE * counts[1] else WRONG, measured,
                   f"{number(counts[0] / counts[1])} times as many sweeps", panels)
