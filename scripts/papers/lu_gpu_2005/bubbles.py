"""Figure 13: a cell of the bubbly flow."""

import statistics

import figures
from papers.drawing import FIRST, SECOND, Line, Panel, look
from papers.lu_gpu_2005.results import select, variant
from papers.pages import Finding
from papers.running import NotMade
from papers.verdicts import NO_LONGER, Claim, judge, uncertainty
from papers.words import number, seconds


def bubble_cells(records):
    """[(ours, getrf)] of each cell that has both."""
    cells = []
    for record in records:
        own = [row for row in record["results"] if row["implementation"] == "lugpu"
               and row["status"] in ("ok", "failed")]
        rivals = select(record["results"], routine="getrf", status="ok")
        if own and rivals:
            cells.append((own[0], rivals[0]))
    if not cells:
        raise NotMade("no cell has a result of lugpu and one of getrf.")
    return cells


def host_time(row):
    """Factorization and solution on the host, which needs no transfer."""
    return row["phases_s"]["factor"] + row["phases_s"]["solve"]


def bubble_lines(cells):
    """Times by cell, in the order of the seeds."""
    def line(label, marker, colour, storage, value):
        return Line(label, [(own["seed"], value(own, rival)) for own, rival in cells],
                    look(colour, storage, marker) | {"linestyle": "none"})
    return [line("lugpu factorization", "o", FIRST, "image", lambda o, _: o["phases_s"]["factor"]),
            line("lugpu with transfer, solution", "s", FIRST, "buffer",
                 lambda o, _: o["phases_s"]["total"]),
            line("getrf factorization", "D", SECOND, "image", lambda _, r: r["phases_s"]["factor"]),
            line("getrf with solution", "^", SECOND, "buffer", lambda _, r: host_time(r))]


def bubbly_flow(records, device):
    """Fig. 13."""
    cells = bubble_cells(records)
    wrong = [own for own, _ in cells if own["status"] != "ok"]
    if wrong:
        return Finding(NO_LONGER, f"{len(wrong)} of {len(cells)} cells fail their checks in single "
                       f"precision: {wrong[0]['reason']}", "single precision fails")
    totals, rivals = [o["phases_s"]["total"] for o, _ in cells], [host_time(r) for _, r in cells]
    speed = sum(rivals) / sum(totals)
    verdict, doubt = judge(Claim(speed, uncertainty([rival / total for rival, total
                                                     in zip(rivals, totals)]), 1.15))
    factor = statistics.median(o["phases_s"]["factor"] for o, _ in cells)
    hpl = max(o["checks"]["hpl_residual"] for o, _ in cells)
    solve = max(o["checks"]["solve_ratio"] for o, _ in cells)
    first = cells[0][0]
    measured = (f"A cell (n = {first['n']}, {variant(first)}) takes "
                f"{seconds(statistics.median(totals))} with transfer and solution, "
                f"{seconds(factor)} of it the factorization; getrf takes "
                f"{seconds(statistics.median(rivals))}. A step of {len(cells)} cells takes "
                f"{seconds(sum(totals))} against {seconds(sum(rivals))}: {number(speed)} times the "
                f"speed of getrf.{doubt} Single precision suffices: hpl_residual is at most {number(hpl)} "
                f"(passes under 16) and solve_ratio {number(solve)} (passes under 30).")
    lines = bubble_lines(cells)
    steps = [Line(line.label, [(0, sum(y for _, y in line.points))], line.look) for line in lines]
    panels = [Panel("Time of a cell", "time", lines, figures.spell_time, log=False, kind="cells"),
              Panel(f"Time of a step of {len(cells)} cells", "time", steps, figures.spell_time,
                    log=False, kind="bars")]
    return Finding(verdict, measured,
                   f"{number(speed)} times the speed of getrf, accurate", panels)
