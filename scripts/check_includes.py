#!/usr/bin/python3
"""Checks that every #include goes to the file's own room or to one that ROOMS allows, and that no files
include one another in a circle. A room is a folder of the library or of the command line.

    scripts/check_includes.py [--root FOLDER] [--picture FILE.svg]

--picture draws the rooms in layers, with the number of includes at every arrow.
"""

import argparse
import re
import sys
from collections import Counter
from html import escape
from pathlib import Path

# Every room, from the lowest to the highest, and the rooms that it may use, all of which are below it.
# Public headers use the standard library alone.
DENSE = "include/lugpu src/base src/matrix src/opencl src/operators src/dense"
SOLVE = DENSE + " src/iterative src/accuracy src/distributed src/solve"
ROOMS = {room: used.split() for room, used in {
    "include/lugpu": "",
    "src/base": "include/lugpu",
    "src/matrix": "include/lugpu src/base",
    "src/formats": "include/lugpu src/base src/matrix",
    "src/opencl": "include/lugpu src/base src/matrix",
    "src/operators": "include/lugpu src/base src/matrix src/opencl",
    "src/dense": "include/lugpu src/base src/matrix src/opencl src/operators",
    "src/iterative": "include/lugpu src/base src/matrix src/opencl src/operators",
    "src/accuracy": DENSE + " src/iterative",
    "src/distributed": DENSE,
    "src/solve": DENSE + " src/iterative src/accuracy src/distributed",
    "src/library": SOLVE,
    "src/simulation": "include/lugpu src/base src/matrix src/opencl src/operators src/solve",
    "src/baselines": "include/lugpu src/base src/matrix src/opencl src/dense src/solve",
    "src/bench": SOLVE + " src/formats src/simulation src/baselines",
    "src/lapack": SOLVE + " src/library",
    "cli": SOLVE + " src/formats src/library src/simulation src/baselines src/bench",
}.items()}

INCLUDE = re.compile(r'^\s*#\s*include\s*(?:"([^"]+)"|<([^>]+)>)')


def room_of(path):
    """The room of a file, named from the root; or its folder, which is no room then."""
    folders = [str(folder) for folder in path.parents]
    return next((folder for folder in folders if folder in ROOMS), folders[0])


def target_of(root, path, quoted, angled):
    """The file that is included; None: it is not ours."""
    name = quoted or angled
    for folder in ([path.parent] if quoted else []) + [Path("src"), Path("include")]:
        parts = []
        for part in (folder / name).parts:
            parts = parts[:-1] if part == ".." else parts + [part]
        if (root / Path(*parts)).is_file():
            return Path(*parts)
    return None


def read_includes(root):
    """(file, line, file) for every include among our files, and what is wrong with the others."""
    includes, faults = [], []
    files = [path.relative_to(root) for folder in ("include", "src", "cli")
             for path in sorted((root / folder).rglob("*.[ch]pp"))]
    for path in files:
        if room_of(path) not in ROOMS:
            faults.append(f"{path}: {room_of(path)} is not a room; scripts/check_includes.py lists them.")
        for number, line in enumerate((root / path).read_text(encoding="utf-8").splitlines(), 1):
            if not (found := INCLUDE.match(line)):
                continue
            target = target_of(root, path, *found.groups())
            if target:
                includes.append((path, number, target))
            elif found[1]:
                faults.append(f'{path}:{number}: there is no "{found[1]}".')
            elif room_of(path) == "include/lugpu" and re.search("[./]", found[2]):
                faults.append(f"{path}:{number}: public headers use the standard library alone, "
                              f"not <{found[2]}>.")
    return includes, faults


def wrong_arrows(includes):
    for path, line, target in includes:
        room, used = room_of(path), room_of(target)
        if room in ROOMS and used != room and used not in ROOMS[room]:
            yield f"{path}:{line}: {room} may not use {used} ({target})."


def circle(includes):
    """Files that include one another in a circle, or nothing."""
    graph = {}
    for path, _, target in includes:
        graph.setdefault(path, []).append(target)
    done, way = set(), []

    def visit(path):
        if path in way:
            return way[way.index(path):] + [path]
        if path in done:
            return []
        done.add(path)
        way.append(path)
        found = next(filter(None, map(visit, graph.get(path, []))), [])
        way.pop()
        return found

    return next(filter(None, map(visit, list(graph))), [])


def check_table():
    """Arrows of the table go downwards, so that there is no circle of rooms."""
    rooms = list(ROOMS)
    return [f"{room} may not use {used}, which is not below it."
            for row, room in enumerate(rooms) for used in ROOMS[room] if used not in rooms[:row]]


WIDTH, HEIGHT, ACROSS, DOWN = 118, 34, 150, 96  # of a box, and from one to the next


def layers_of(arrows):
    """The rooms by layers, the highest first: each is just above the highest room that it uses."""
    layer = {}
    for room in ROOMS:
        if any(room in arrow for arrow in arrows):
            layer[room] = 1 + max((layer[used] for one, used in arrows if one == room), default=-1)
    rows = [[room for room in layer if layer[room] == row] for row in range(max(layer.values()) + 1)]
    return rows[::-1]


def places_of(rows):
    """The middle of each room's box; rows are shifted in turn, so that fewer arrows pass behind boxes."""
    widest = max(map(len, rows)) + 1
    places = {}
    for y, row in enumerate(rows):
        shift = 0 if len(row) > 1 else (-0.9, 0, 0.9, 0)[y % 4]
        for x, room in enumerate(row):
            places[room] = ((widest / 2 + x - (len(row) - 1) / 2 + shift) * ACROSS, (y + 0.5) * DOWN)
    return places, widest * ACROSS, len(rows) * DOWN


def draw(includes):
    """The rooms and the includes between them as SVG. An arrow is grey if there is a longer way too."""
    arrows = Counter((room_of(path), room_of(target)) for path, _, target in includes)
    arrows = {arrow: count for arrow, count in arrows.items() if arrow[0] != arrow[1]}
    above = {room: {room} for room in ROOMS}  # the rooms from which a way leads to this one
    for room in reversed(ROOMS):
        for one, used in arrows:
            if one == room:
                above[used] |= above[room]
    places, width, height = places_of(layers_of(arrows))
    lines, labels = [], []
    for (one, used), count in sorted(arrows.items()):
        longer = any((one, other) in arrows and other in above[used] for other in ROOMS
                     if other not in (one, used))
        (x1, y1), (x2, y2) = places[one], places[used]
        y1, y2 = y1 + HEIGHT / 2, y2 - HEIGHT / 2 - 5
        colour = "#c4c4c4" if longer else "#404040"
        line = (f'<path d="M{x1:.0f},{y1:.0f} C{x1:.0f},{y1 + DOWN / 2:.0f} {x2:.0f},'
                f'{y2 - DOWN / 2:.0f} {x2:.0f},{y2:.0f}" stroke="{colour}" marker-end='
                f'"url(#{"grey" if longer else "black"})"/>')
        lines.insert(0 if longer else len(lines), line)
        at = 0.3 if longer else 0.5  # on the curve, 3 (1 - t) t^2 + t^3 of the way
        share = 3 * (1 - at) * at**2 + at**3
        y = ((1 - at)**3 * y1 + 3 * (1 - at)**2 * at * (y1 + DOWN / 2) + 3 * (1 - at) * at**2
             * (y2 - DOWN / 2) + at**3 * y2)
        labels.append(f'<text x="{x1 + share * (x2 - x1):.0f}" y="{y + 4:.0f}" class="count" '
                      f'fill="{"#909090" if longer else "#202020"}">{count}</text>')
    boxes = [f'<rect x="{x - WIDTH / 2:.0f}" y="{y - HEIGHT / 2:.0f}" width="{WIDTH}" '
             f'height="{HEIGHT}" rx="5"/><text x="{x:.0f}" y="{y + 5:.0f}">{escape(room)}</text>'
             for room, (x, y) in places.items()]
    markers = "".join(f'<marker id="{name}" viewBox="0 0 6 6" refX="1" refY="3" markerWidth="6" '
                      f'markerHeight="6" orient="auto"><path d="M0,0 L6,3 L0,6 z" fill="{colour}"/>'
                      "</marker>" for name, colour in (("black", "#404040"), ("grey", "#c4c4c4")))
    return "\n".join([
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{width:.0f}" height="{height}" '
        f'viewBox="0 0 {width:.0f} {height}">',
        "<style>text { font: 14px sans-serif; text-anchor: middle } .count { font-size: 11px; "
        "stroke: white; stroke-width: 3px; paint-order: stroke } rect { fill: #eef3fa; stroke: "
        "#405070 }</style>",
        '<rect width="100%" height="100%" style="fill: white; stroke: none"/>',
        f"<defs>{markers}</defs>", '<g fill="none">', *lines, "</g>", *labels, *boxes, "</svg>", ""])


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--root", type=Path, default=Path(__file__).resolve().parent.parent)
    parser.add_argument("--picture", type=Path, metavar="FILE.svg")
    options = parser.parse_args()
    includes, faults = read_includes(options.root)
    if not includes and not faults:
        faults.append(f"{options.root}: there are no includes to check.")
    faults += check_table() + list(wrong_arrows(includes))
    if found := circle(includes):
        faults.append("A circle of includes: " + " -> ".join(map(str, found)))
    print("\n".join(faults), file=sys.stderr, end="\n" if faults else "")
    if options.picture and not faults:
        options.picture.write_text(draw(includes), encoding="utf-8")
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main())
