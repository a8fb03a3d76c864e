#!/usr/bin/python3
"""Checks that every #include goes to the file's own room or to one that ROOMS allows, and that no files
include one another in a circle. A room is a folder of the library or of the command line.

    scripts/check_includes.py [--root FOLDER] [--picture FILE.svg | --check-picture FILE.svg]

--picture draws the rooms in layers, from which includes go downwards; --check-picture checks that a
file is what --picture would draw now.
"""

import argparse
import re
import sys
import textwrap
from html import escape
from pathlib import Path

# Every room, from the lowest to the highest, and the rooms that it may use, all of which are below it.
# Public headers use the standard library alone, and Python's module uses public headers alone.
OPENCL = "include/lugpu src/base src/matrix src/opencl"
SOLVE = OPENCL + " src/operators src/iterative src/dense src/accuracy src/distributed src/solve"
ROOMS = {room: used.split() for room, used in {
    "kernels": "",
    "include/lugpu": "",
    "src/base": "include/lugpu",
    "src/matrix": "include/lugpu src/base",
    "src/formats": "include/lugpu src/base src/matrix",
    "src/opencl": "include/lugpu src/base src/matrix",
    "src/operators": OPENCL,
    "src/iterative": OPENCL + " src/operators",
    "src/dense": OPENCL + " kernels",
    "src/accuracy": OPENCL + " src/operators src/dense",
    "src/distributed": OPENCL + " src/dense",
    "src/mpi": "src/distributed",
    "src/solve": OPENCL + " src/operators src/iterative src/dense src/accuracy src/distributed",
    "src/simulation": SOLVE,
    "src/library": SOLVE + " src/simulation",
    "src/lapack": SOLVE,
    "src/scalapack": SOLVE + " src/mpi src/lapack",
    "src/baselines": OPENCL + " src/iterative src/dense src/distributed src/solve src/simulation",
    "src/bench": SOLVE + " src/simulation src/baselines",
    "src/report": "src/base src/accuracy src/bench",
    "python": "include/lugpu",
    "cli": SOLVE + " src/simulation src/formats src/baselines src/bench src/report",
}.items()}

INCLUDE = re.compile(r'^\s*#\s*include\s*(?:"([^"]+)"|<([^>]+)>)')


def room_of(path):
    """The room of a file, named from the root; or its folder, which is no room then."""
    folders = [str(folder) for folder in path.parents]
    return next((folder for folder in folders if folder in ROOMS), folders[0])


def target_of(root, path, quoted, angled):
    """The file that is included; None: it is not ours."""
    name = quoted or angled
    for folder in ([path.parent] if quoted else []) + [Path("src"), Path("include"), Path()]:
        parts = []
        for part in (folder / name).parts:
            parts = parts[:-1] if part == ".." else parts + [part]
        if (root / Path(*parts)).is_file():
            return Path(*parts)
    return None


def read_includes(root):
    """(file, line, file) for every include among our files, and what is wrong with the others."""
    includes, faults = [], []
    files = [path.relative_to(root) for folder in ("include", "src", "cli", "python")
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


WIDTH, HEIGHT, DOWN, LANE, GAP = 150, 34, 40, 14, 26  # a box; below it; an arrow that passes; between two
LINE, CHARACTERS = 13, 27  # of the small text in a box: its height, and how many fit in a line


def layers_of(arrows):
    """{room: layer}: those that no room uses in layer 0, the others just below the lowest that uses them."""
    layer = {}
    for room in reversed(ROOMS):
        if any(room in arrow for arrow in arrows):
            layer[room] = 1 + max((layer[one] for one, used in arrows if used == room), default=-1)
    return layer


def needed(arrows):
    """The arrows that no way through other rooms stands for."""
    below = {}  # the rooms that a room reaches
    for room in ROOMS:
        used = {used for one, used in arrows if one == room}
        below[room] = used.union(*(below[other] for other in used))
    return {(one, used) for one, used in arrows
            if not any((one, other) in arrows and used in below[other] for other in ROOMS)}


def ways_of(arrows, layer):
    """[(room, ..., room)]: an arrow and its lane, (room, room, layer), in each layer that it passes."""
    return [(one, *((one, used, at) for at in range(layer[one] + 1, layer[used])), used)
            for one, used in sorted(arrows)]


def spread(wanted, sizes):
    """The places nearest to those wanted, in the same order, with a gap between neighbours."""
    offsets = [sum(sizes[:i]) + sizes[i] / 2 + i * GAP for i in range(len(sizes))]
    blocks = []  # [sum, count] of what moves together
    for want, offset in zip(wanted, offsets):
        blocks.append([want - offset, 1])
        while len(blocks) > 1 and blocks[-2][0] / blocks[-2][1] > blocks[-1][0] / blocks[-1][1]:
            total, count = blocks.pop()
            blocks[-1] = [blocks[-1][0] + total, blocks[-1][1] + count]
    starts = [total / count for total, count in blocks for _ in range(count)]
    return [start + offset for start, offset in zip(starts, offsets)]


def places_of(ways, layer):
    """{node: x of its middle} and the rows, the highest first: a node is near those that it is joined to."""
    rows = [[room for room in layer if layer[room] == at] for at in range(max(layer.values()) + 1)]
    joined = {room: [] for room in layer}
    for way in ways:
        for lane in way[1:-1]:
            rows[lane[2]].append(lane)
            joined[lane] = []
        for one, used in zip(way, way[1:]):
            joined[one].append(used)
            joined[used].append(one)
    place = {}
    for turn in range(60):
        for row in rows if turn % 2 else rows[::-1]:
            near = {node: [place[one] for one in joined[node] if one in place] for node in row}
            wanted = {node: sum(near[node]) / len(near[node]) if near[node] else place.get(node, 0)
                      for node in row}
            if turn < 20:
                row.sort(key=wanted.get)
            sizes = [WIDTH if node in layer else LANE for node in row]
            place.update(zip(row, spread([wanted[node] for node in row], sizes)))
    return place, rows


def labels_of(arrows, drawn):
    """{room: lines of its box}: its name, and what it also includes, without an arrow."""
    labels = {}
    for room in sorted({room for arrow in arrows for room in arrow}):
        also = [used.removeprefix("src/") for used in reversed(ROOMS)
                if (room, used) in arrows and (room, used) not in drawn]
        labels[room] = [room] + textwrap.wrap("also " + ", ".join(also), CHARACTERS) * bool(also)
    return labels


def paths_of(ways, place, top, bottom):
    """The arrows as paths of SVG; at a box they stand side by side."""
    ends = {}
    for way in ways:
        for box, near, side in ((way[0], way[1], "out"), (way[-1], way[-2], "in")):
            ends.setdefault((box, side), []).append((place[near], way))
    shift = {}
    for (box, side), found in ends.items():
        for i, (_, way) in enumerate(sorted(found)):
            shift[way, side] = place[box] + (i - (len(found) - 1) / 2) * min(24, (WIDTH - 30) / len(found))
    for way in ways:
        points = [(shift[way, "out"], bottom[way[0]])]
        for lane in way[1:-1]:
            points += [(place[lane], top[lane]), (place[lane], bottom[lane])]
        points.append((shift[way, "in"], top[way[-1]] - 5))
        path = f"M{points[0][0]:.0f},{points[0][1]:.0f}"
        for (x1, y1), (x2, y2) in zip(points, points[1:]):
            middle = (y1 + y2) / 2
            path += f" C{x1:.0f},{middle:.0f} {x2:.0f},{middle:.0f} {x2:.0f},{y2:.0f}"
        yield f'<path d="{path}"/>'


def draw(includes):
    """The rooms and the arrows between them as SVG."""
    arrows = {(room_of(path), room_of(target)) for path, _, target in includes}
    arrows = {(one, used) for one, used in arrows if one != used}
    layer, drawn = layers_of(arrows), needed(arrows)
    ways, labels = ways_of(drawn, layer), labels_of(arrows, drawn)
    place, rows = places_of(ways, layer)
    left = min(place.values()) - WIDTH / 2 - GAP
    place = {node: x - left for node, x in place.items()}
    width, y, top, bottom = max(place.values()) + WIDTH / 2 + GAP, GAP, {}, {}
    boxes = []
    for row in rows:
        tall = max(HEIGHT + LINE * (len(labels[node]) - 1) for node in row if node in layer)
        for node in row:
            lines = labels.get(node, [])
            own = HEIGHT + LINE * (len(lines) - 1) if lines else tall
            top[node], bottom[node] = y + (tall - own) / 2, y + (tall + own) / 2
            if lines:
                boxes.append(f'<rect x="{place[node] - WIDTH / 2:.0f}" y="{top[node]:.0f}" '
                             f'width="{WIDTH}" height="{own}" rx="5"/>')
            for i, line in enumerate(lines):
                boxes.append(f'<text x="{place[node]:.0f}" y="{top[node] + 22 + LINE * i:.0f}"'
                             f'{" class=" + chr(34) + "also" + chr(34) if i else ""}>{escape(line)}</text>')
        y += tall + DOWN
    return "\n".join([
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{width:.0f}" height="{y - DOWN + GAP:.0f}" '
        f'viewBox="0 0 {width:.0f} {y - DOWN + GAP:.0f}">',
        "<style>text { font: 14px sans-serif; text-anchor: middle } .also { font-size: 10px; fill: "
        "#505050 } rect { fill: #eef3fa; stroke: #405070 }</style>",
        '<rect width="100%" height="100%" style="fill: white; stroke: none"/>',
        '<defs><marker id="head" viewBox="0 0 6 6" refX="1" refY="3" markerWidth="6" markerHeight="6" '
        'orient="auto"><path d="M0,0 L6,3 L0,6 z" fill="#404040"/></marker></defs>',
        '<g fill="none" stroke="#404040" marker-end="url(#head)">',
        *paths_of(ways, place, top, bottom), "</g>", *boxes, "</svg>", ""])


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--root", type=Path, default=Path(__file__).resolve().parent.parent)
    parser.add_argument("--picture", type=Path, metavar="FILE.svg")
    parser.add_argument("--check-picture", type=Path, metavar="FILE.svg")
    options = parser.parse_args()
    includes, faults = read_includes(options.root)
    if not includes and not faults:
        faults.append(f"{options.root}: there are no includes to check.")
    faults += check_table() + list(wrong_arrows(includes))
    if found := circle(includes):
        faults.append("A circle of includes: " + " -> ".join(map(str, found)))
    stored = options.check_picture
    drawn = stored and stored.is_file() and stored.read_text(encoding="utf-8")
    if stored and not faults and drawn != draw(includes):
        faults.append(f"{stored} does not show these includes; scripts/check_includes.py --picture {stored} "
                      "draws it anew.")
    print("\n".join(faults), file=sys.stderr, end="\n" if faults else "")
    if options.picture and not faults:
        options.picture.write_text(draw(includes), encoding="utf-8")
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main())
