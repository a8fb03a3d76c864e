"""Linear Algebra Operators for GPU Implementation of Numerical Algorithms, SIGGRAPH 2003."""

import dataclasses
from dataclasses import dataclass

from papers.drawing import FIRST, SECOND, THIRD, Line, Panel, look, spell_factor, spell_rate
from papers.grids import (ELEMENT, METHOD_LOOKS, PAPER_LOOK, POINTS, SIDES, WAVE_TOLERANCE,
                          against_copy, against_paper, at_most_the_paper, elements, known_probes,
                          left_out, milliseconds, plain_rivals, probe_command, probes_of, quotient,
                          rate_panel, residual_panel, step_line, step_times, time_lines,
                          times_panel, wave_command, wave_results)
from papers.pages import Figure, Finding, Paper
from papers.running import Command, NotMade, Unsupported, listed
from papers.simulated import Demo, demo_commands, frames, left, left_panel, runs_of
from papers.verdicts import HOLDS, WRONG, Claim, judge, uncertainty
from papers.words import gigabytes, markdown_table, number, percent, seconds
from simulation_figures import left_by_step

CARD = "paper, ATI 9800"
PRODUCT_S = {512: 0.2e-3, 1024: 0.72e-3, 2048: 2.8e-3}
REDUCTION_S = {1024: 1.6e-3, 2048: 5.4e-3}  # the paper prints 1024² for both
SPARSE_PRODUCT_S, CG_STEP_S = {1024: 4.54e-3}, {1024: 15.4e-3}  # of the wave equation
ORDER, FULL_PRODUCT_S, TEN_DIAGONALS_S = 4096, 0.23, 0.72e-3  # of other matrices
SIDE = 64  # of a grid with as many points
STEPS = 5  # of CG in a time step
CPU_PRODUCT, CPU_REDUCTION = 12, 3  # times the speed of a CPU
TEXTURES = 2  # times the speed of 1D textures
WAVE = Demo("wave", STEPS, {"512²": 43, "1024²": 13}, CARD)
FLUID = Demo("fluid", 4, {"1024²": 9}, CARD)
ACCURATE = 0.1  # of a divergence
WORDS = {"product": 3, "reduction": 1}


# --- What to measure -----------------------------------------------------------------------------

@dataclass(frozen=True)
class Plan:
    """Sizes for a kind of device. Images are slow on a CPU: `images` are the sizes for them."""
    vectors: tuple
    images: tuple
    full: tuple  # orders of full matrices, and points along each axis of grids' stored ones
    runs: int
    steps: int  # of a simulation


PLANS = {"quick": Plan((512, 1024), (256,), (256,), 3, 30),
         "cpu": Plan((512, 1024, 2048), (256, 512), (512, 1024), 7, 200),
         "gpu": Plan((512, 1024, 2048), (512, 1024, 2048), (1024, ORDER), 9, 2000)}


def plan_for(device, quick):
    """The plan of a device, without images that it does not have."""
    plan = PLANS["quick" if quick else "cpu" if device["type"] == "cpu" else "gpu"]
    return plan if device["images"] else dataclasses.replace(plan, images=())


def commands_vectors(plan, device):
    """Operations on buffers."""
    return [probe_command("vectors", "vectors,grids", plan.vectors, "buffer", plan.runs)]


def commands_matrices(plan, device):
    """Products with stored matrices."""
    return [probe_command("matrices", "products", (SIDE, *plan.full), "buffer", plan.runs)]


def commands_banded(plan, device):
    """The matrix of the wave equation, not stored and stored."""
    return commands_vectors(plan, device) + commands_matrices(plan, device)


def commands_cpu(plan, device):
    """Both and NumPy."""
    return commands_banded(plan, device) + [
        Command("numpy", ("-n", listed(plan.vectors), "--orders", listed(plan.full)),
                script="scripts/papers/numpy_vectors.py")]


def commands_images(plan, device):
    """Operations on both storages, at sizes that images can take."""
    return [probe_command("images", "vectors,grids", plan.images, "image,buffer",
                          plan.runs)] if plan.images else []


def commands_wave(plan, device):
    """Conjugate gradients on an implicit step of the wave equation, until they have converged."""
    return [wave_command([n for n in plan.vectors if n <= 1024])]


def commands_rain(plan, device):
    """Rain on water with the paper's iterations, and solved."""
    return demo_commands("wave", "rain", (512, 1024), WAVE.iterations, plan.steps)


def commands_fluid(plan, device):
    """Smoke as the paper simulates fluids, with its iterations, and solved. It states no Reynolds
    number; an explicit step of the diffusion needs a large one."""
    return demo_commands("fluid", "smoke", (512, 1024), FLUID.iterations, plan.steps,
                         "--explicit-diffusion", "--semi-lagrangian", "--reynolds", "100000")


# --- The figures ---------------------------------------------------------------------------------

def bandwidth_of_paper(times, words):
    """(least, most) bytes a second that the paper's times take."""
    rates = [words * ELEMENT * n * n / time for n, time in times.items()]
    return min(rates), max(rates)


def product(records, device):
    """The product of two vectors."""
    probes = known_probes(records, "multiply")
    verdict, doubt, sizes = at_most_the_paper(probes, PRODUCT_S)
    rate = WORDS["product"] * ELEMENT * sizes[-1] ** 2 / probes[sizes[-1]]["median_s"]
    low, high = bandwidth_of_paper(PRODUCT_S, WORDS["product"])
    measured = (f"The product takes {against_paper(probes, PRODUCT_S, sizes)}, at "
                f"{against_copy(rate, records)}.{doubt} With three words an element, the paper's times mean {gigabytes(low)} to "
                f"{gigabytes(high)}.")
    panels = [times_panel("Product of two vectors", time_lines(
        "lugpu, product", probes, look(FIRST, "image", "o"), PRODUCT_S, CARD)),
        rate_panel("Three words an element", {"product": probes}, WORDS, records)]
    return Finding(verdict, measured, f"{seconds(probes[sizes[-1]]['median_s'])} at "
                   f"{elements(sizes[-1])}", panels)


def reduction(records, device):
    """The sum of a vector."""
    probes, products = known_probes(records, "sum"), known_probes(records, "multiply")
    verdict, doubt, sizes = at_most_the_paper(probes, REDUCTION_S)
    ratios = {n: probes[n]["median_s"] / products[n]["median_s"]
              for n in sorted(probes.keys() & products.keys())}
    n = max(ratios)
    printed = {n: REDUCTION_S[n] / PRODUCT_S[n] for n in REDUCTION_S}
    growth = [f" From {elements(1024)} to {elements(2048)}, which is four times the work, ours grow "
              f"{number(probes[2048]['median_s'] / probes[1024]['median_s'])} times."
              if {1024, 2048} <= probes.keys() else ""]
    measured = (f"The sum takes {against_paper(probes, REDUCTION_S, sizes)}.{doubt} It takes "
                f"{number(ratios[n])} times the time of a product at {elements(n)}, of whose memory it "
                f"reads a third; in the paper, {number(printed[1024])} times at 1024². The "
                "paper prints two times for one size, 1024²: the second must be of 2048², "
                f"{number(REDUCTION_S[2048] / REDUCTION_S[1024])} times the first.{growth[0]}")
    panels = [times_panel("Reduction of a vector", time_lines(
        "lugpu, sum", probes, look(THIRD, "image", "D"), REDUCTION_S, CARD)),
        Panel("Reduction over product", "ratio of times", [
            Line("lugpu, sum over product", list(ratios.items()), look(SECOND, "image", "s")),
            Line("paper, reduction over product", list(printed.items()), PAPER_LOOK)],
            spell_factor, x_label=SIDES, marks={"a third: the memory read": 1 / 3})]
    return Finding(verdict, measured,
                   f"{seconds(probes[sizes[-1]]['median_s'])} at {elements(sizes[-1])}", panels)


def against_cpu(records, device):
    """Products and reductions against one thread of NumPy."""
    found = {}
    for name, operation in (("product", "multiply"), ("reduction", "sum")):
        ours, host = (known_probes(records, operation, storage) for storage in ("buffer", "host"))
        found[name] = {n: quotient(host[n], ours[n]) for n in sorted(ours.keys() & host.keys())}
        if not found[name]:
            raise NotMade("no size was measured on both sides.")
    n = max(found["product"])
    (fast, fast_factor), (slow, slow_factor) = found["product"][n], found["reduction"][n]
    claims = [Claim(fast, fast_factor, CPU_PRODUCT), Claim(slow, slow_factor, CPU_REDUCTION)]
    ours, host = (probes_of(records, "columns product", storage) for storage in ("buffer", "host"))
    full = "Products of full matrices with a vector were not measured"
    if orders := ours.keys() & host.keys():
        order = max(orders)
        claims.append(Claim(*quotient(host[order], ours[order]), CPU_PRODUCT))
        full = (f"The product of a full matrix of order {order} with a vector is "
                f"{number(claims[-1].value)} times as fast")
    verdict, doubt = judge(*claims)
    same = (" The device is the CPU itself here, with all its cores." if device["type"] == "cpu"
            else "")
    measured = (f"At {elements(n)} a product is {number(fast)} times and a reduction {number(slow)} "
                f"times as fast as NumPy with one thread. {full}.{doubt}{same}")
    looks = {"product": (FIRST, "o"), "reduction": (THIRD, "D")}
    lines = [Line(name, [(size, ratio) for size, (ratio, _) in ratios.items()],
                  look(looks[name][0], "image", looks[name][1]))
             for name, ratios in found.items()]
    panels = [Panel("Speed over one thread of NumPy", "time of NumPy / time of lugpu", lines,
                    spell_factor, x_label=SIDES,
                    marks={f"paper, products: {CPU_PRODUCT}": CPU_PRODUCT,
                           f"paper, reductions: {CPU_REDUCTION}": CPU_REDUCTION})]
    return Finding(verdict, measured, f"{number(fast)} and {number(slow)} times at {elements(n)}",
                   panels)


def textures(records, device):
    """Images against buffers."""
    if not records:
        raise Unsupported(f"{device['name']} has no images.")
    names = {"multiply": ("product", FIRST, "o"), "sum": ("reduction", THIRD, "D"),
             "grid product": ("product with a grid's matrix", SECOND, "s")}
    gains = {}
    for name in names:
        image, buffer = (probes_of(records, name, storage) for storage in ("image", "buffer"))
        gains[name] = {n: quotient(buffer[n], image[n])
                       for n in sorted(image.keys() & buffer.keys())}
    if not gains["multiply"]:
        raise NotMade("no product was timed on both storages.")
    n = max(gains["multiply"])
    gain, factor = gains["multiply"][n]
    verdict, doubt = judge(Claim(gain, factor, TEXTURES))
    others = ", ".join(f"{number(gains[name][n][0])} times for the {names[name][0]}"
                       for name in ("sum", "grid product") if n in gains[name])
    measured = (f"At {elements(n)} a product on images runs at {number(gain)} times the speed of one "
                f"on buffers ({others}).{doubt} OpenCL's buffers stand in for 1D textures.")
    lines = [Line(names[name][0], [(size, ratio) for size, (ratio, _) in ratios.items()],
                  look(names[name][1], "image", names[name][2]))
             for name, ratios in gains.items() if ratios]
    panels = [Panel("Speed on images over buffers", "time on buffers / on images", lines,
                    spell_factor, x_label=SIDES, marks={f"paper: {TEXTURES}": TEXTURES,
                                                        "same speed": 1})]
    return Finding(verdict, measured, f"{number(gain)} times at {elements(n)}", panels)


def banded_product(records, device):
    """The product with the matrix of the wave equation."""
    found = {"without storing it": known_probes(records, "grid product"),
             "with five stored diagonals": known_probes(records, "banded product")}
    verdict, doubt = judge(*(Claim(probes[1024]["median_s"], uncertainty(probes[1024]["times_s"]),
                                   SPARSE_PRODUCT_S[1024], at_most=True)
                             for probes in found.values() if 1024 in probes))
    told = " and ".join(f"{seconds(probes[1024]['median_s'])} {how}"
                        for how, probes in found.items() if 1024 in probes)
    rate = 8 * ELEMENT * 1024**2 / SPARSE_PRODUCT_S[1024]
    measured = (f"At {elements(1024)} the product with the five-point matrix takes {told} (paper: "
                f"{seconds(SPARSE_PRODUCT_S[1024])}).{doubt} They move 2 and 7 words a row; the "
                f"paper's six stored diagonals mean 8, and its time {gigabytes(rate)}.")
    styles = (look(SECOND, "image", "s"), look(FIRST, "image", "o"))
    panels = [times_panel("Product with the wave equation's matrix", [
        Line(f"lugpu, {how}", [(n, probe["median_s"]) for n, probe in sorted(probes.items())], style)
        for (how, probes), style in zip(found.items(), styles)]
        + [Line(CARD, list(SPARSE_PRODUCT_S.items()), PAPER_LOOK)])]
    return Finding(verdict, measured, f"{told} at {elements(1024)}", panels)


def stored_products(records, device):
    """Products with a full matrix, and with diagonals of a matrix of order 4096."""
    full, banded = known_probes(records, "columns product"), known_probes(records, "banded product")
    order = max(n for n in full if n <= ORDER)
    bytes_of = {n: ELEMENT * n * (n + 2) for n in (order, ORDER)}
    rate, printed = bytes_of[order] / full[order]["median_s"], bytes_of[ORDER] / FULL_PRODUCT_S
    twice = 2 * banded[SIDE]["median_s"]
    verdict, doubt = judge(
        Claim(rate, uncertainty(full[order]["times_s"]), printed),
        Claim(twice, uncertainty(banded[SIDE]["times_s"]), TEN_DIAGONALS_S, at_most=True))
    small = 12 * ELEMENT * ORDER
    measured = (f"A full matrix of order {order} takes {seconds(full[order]['median_s'])}, at "
                f"{gigabytes(rate)}; the paper's {seconds(FULL_PRODUCT_S)} for the order {ORDER} "
                f"mean {gigabytes(printed)}. Two products with five stored diagonals of order "
                f"{ORDER} take {seconds(twice)} (paper, ten diagonals: {seconds(TEN_DIAGONALS_S)})."
                f"{doubt} Ten diagonals and two vectors are {number(small / 1e3)} kB, so that the "
                f"paper's time means {gigabytes(small / TEN_DIAGONALS_S)}: it must be that of its "
                "passes rather than of their bytes.")
    panels = [Panel("Product with a full matrix", "GB/s", [
        Line("lugpu", [(n, ELEMENT * n * (n + 2) / probe["median_s"] / 1e9)
                       for n, probe in sorted(full.items())], look(FIRST, "image", "o")),
        Line(CARD, [(ORDER, printed / 1e9)], PAPER_LOOK)], spell_rate)]
    return Finding(verdict, measured, f"{gigabytes(rate)} at order {order}, {seconds(twice)} for "
                   "twice five diagonals", panels)


def wave_step(records, device):
    """An iteration of CG, and what five of them leave."""
    ours, plain = wave_results(records, "cg"), wave_results(records, "plain-cg")
    timed = [grid for grid, row in ours.items()
             if grid in CG_STEP_S and len(row["residuals"]) > STEPS]
    if not timed:
        raise NotMade(f"the system on 1024² was not solved, in more than {STEPS} iterations.")
    row = ours[max(timed)]
    step = row["median_s"] / row["iterations"]
    verdict, doubt = judge(Claim(step, uncertainty(step_times(row)), CG_STEP_S[row["grid"]],
                                 at_most=True))
    lines = [[elements(grid), method, result["iterations"],
              milliseconds(result["median_s"] / result["iterations"]),
              *(f"{result['residuals'][steps]:.1e}" if len(result["residuals"]) > steps else ""
                for steps in (1, STEPS, 2 * STEPS))]
             for method, rows in (("cg", ours), ("plain-cg", plain))
             for grid, result in sorted(rows.items())]
    head = ["grid", "method", f"iterations to {WAVE_TOLERANCE:g}", "an iteration, ms",
            "residual after 1", f"after {STEPS}", f"after {2 * STEPS}"]
    left, frames = row["residuals"][STEPS], 1 / (STEPS * step)
    measured = (f"At {elements(row['grid'])} an iteration takes {seconds(step)} (paper: "
                f"{seconds(CG_STEP_S[row['grid']])}).{doubt} {STEPS} of them leave a relative "
                f"residual of {number(left)}, which the paper does not show; after one it is "
                f"{number(row['residuals'][1])}, and {row['iterations']} bring it below "
                f"{WAVE_TOLERANCE:g}. The solver alone would allow {number(frames)} frames a second "
                f"with {STEPS} iterations, and {number(1 / row['median_s'])} with all. The "
                f"paper's {STEPS} take {seconds(STEPS * CG_STEP_S[row['grid']])}, all of a frame at "
                "its 13 a second.")
    panels = [times_panel("An iteration of CG", [
        step_line("lugpu, cg", ours, look(*METHOD_LOOKS["cg"][:1], "image", "o")),
        step_line("plain loops, one thread", plain, look("black", "buffer", "P")),
        Line(CARD, list(CG_STEP_S.items()), PAPER_LOOK)], POINTS),
        residual_panel(ours, {f"tolerance {WAVE_TOLERANCE:g}": WAVE_TOLERANCE})]
    return Finding(verdict, measured, f"{seconds(step)} an iteration, {number(left)} left after "
                   f"{STEPS}", panels, markdown_table(head, lines))


def accuracy(records, device):
    """What the iterations leave of the divergence."""
    rows = runs_of(records, "fluid", "cg", True)
    if not rows:
        raise NotMade("no fluid was simulated.")
    shape, row = list(rows.items())[-1]
    above = sum(value > 1 for _, value in left_by_step(row)) / len(left_by_step(row))
    measured = (f"On {shape} cells half of the steps leave more than {number(left(row))} of the "
                f"divergence, the first {number(row['left']['first'])} and the worst "
                f"{number(row['left']['largest'])}; {percent(above)} leave more than they find. "
                "Conjugate gradients make the error smaller in every iteration, in the norm of the "
                "matrix; the 2-norm of the residual, which is the divergence, may grow.")
    panels = [left_panel("What a step leaves", [
        (f"{name} cells", rows[name], look(colour, "image", marker)) for name, colour, marker in
        zip(reversed(rows), (FIRST, THIRD), "oD")],
        marks={"as much as before": 1, f"accurate: {ACCURATE}": ACCURATE})]
    return Finding(HOLDS if left(row) <= ACCURATE else WRONG, measured,
                   f"{number(left(row))} of the divergence is left on {shape}", panels)


# --- The list of figures -------------------------------------------------------------------------

FIGURES = [
    Figure("product", "vectors", "Vectors: the product of two",
           "The product of two vectors of 512², 1024² and 2048² elements takes 0.2, 0.72 and 2.8 "
           "ms.", "no size takes longer than the paper's.", commands_vectors, product,
           "Product of two vectors"),
    Figure("reduction", "vectors", "Reduction: the sum of a vector",
           "Reducing a vector takes 1.6 and 5.4 ms (for 1024² and 2048² elements, see below).",
           "no size takes longer than the paper's.", commands_vectors, reduction,
           "Reduction of a vector"),
    Figure("cpu", "speed-up", "CPU: speed-up over a processor",
           "Operations on vectors and full matrices are 12 to 15 times, reductions 3 times as fast "
           "as optimized software on the CPU.",
           "products of vectors and of a full matrix with a vector are at least 12 times and "
           "reductions 3 times as fast as NumPy with one thread, at the largest size.", commands_cpu, against_cpu,
           "Speed-up over one thread of the host"),
    Figure("textures", "storage", "Textures: two dimensions against one",
           "Vectors in 2D textures are twice as fast as in 1D textures.",
           "a product on images is at least twice as fast as on buffers at the largest size.",
           commands_images, textures, "Images against buffers"),
    Figure("banded", "product", "Banded matrix: its product with a vector",
           "The product with the matrix of the wave equation on 1024² points takes 4.54 ms.",
           "it takes no longer, neither with stored diagonals nor without.", commands_banded,
           banded_product,
           "Product with the matrix of a grid"),
    Figure("matrices", "products", "Full and banded matrices: their products with a vector",
           "A full matrix of order 4096 times a vector takes 0.23 s, one of the same size with ten "
           "diagonals 0.72 ms.",
           "the full matrix of the largest order moves at least as many bytes a second, and two "
           "products with five diagonals take no longer than the one with ten.", commands_matrices,
           stored_products, "Products with a full matrix"),
    Figure("wave", "cg", "Wave equation: conjugate gradients",
           "On 1024² points an iteration of conjugate gradients takes 15.4 ms, and 5 are enough for "
           "a time step.", "an iteration takes no longer at 1024².", commands_wave, wave_step,
           "Conjugate gradients on the wave equation"),
    Figure("rain", "frames", "Wave equation, frames: water on 512² and 1024² points",
           "With 5 iterations of conjugate gradients a step, water is simulated at 43 frames a "
           "second on 512² points and 13 on 1024².",
           "neither grid has fewer frames a second with as many iterations.", commands_rain,
           frames(WAVE), "Water in real time"),
    Figure("fluid", "frames", "Navier-Stokes, frames: a fluid on 1024² points",
           "With 4 iterations of conjugate gradients from the pressure of the last step, a fluid is "
           "simulated at 9 frames a second on 1024² points.",
           "there are at least as many frames a second with as many iterations.", commands_fluid,
           frames(FLUID), "A fluid in real time"),
    Figure("accuracy", "divergence", "Navier-Stokes, accuracy: what 4 iterations leave",
           "As they start from the pressure of the last step, 4 iterations yield good accuracy.",
           f"half of the steps on 1024² points leave at most {ACCURATE} of the divergence.",
           commands_fluid, accuracy, "The divergence after 4 iterations"),
]


def rivals(record):
    """The baselines in words."""
    return f"{plain_rivals(record)}; NumPy in one thread"


INTRO = (
    "Written by `scripts/reproduce.py --paper operators-2003`, which measures again what the paper "
    "states. The numbers are computed from the JSON files beside this page, which name the commands "
    "that made them. Everything is in single precision, a time is the median of an operation with "
    "the data on the device, on buffers unless said otherwise. Frames are whole time steps without "
    "their drawing. What is left of a residual or a divergence is relative to what it was before the "
    "system was solved. The paper's times are of an ATI 9800 "
    "and a Pentium 4 of 2.8 GHz. A verdict is unclear if the samples, by their number and spread "
    "(95 % confidence), allow either answer. The right-hand side of the wave equation is smooth, so "
    "that its residual starts low.")

CITATION = ("J. Krüger and R. Westermann: Linear Algebra Operators for GPU Implementation of "
            "Numerical Algorithms, SIGGRAPH 2003")
PAPER = Paper(CITATION, "Linear algebra operators, measured again", INTRO, FIGURES, plan_for,
              left_out, rivals)
