#!/usr/bin/python3
"""What several devices are worth: the model of docs/scaling.md, its fit to measurements, and figures of them.

    scripts/scaling.py tables                     the tables of docs/scaling.md, from the model
    scripts/scaling.py fit FILE.json...           the model's constants that come nearest to measured times
    scripts/scaling.py plot FILE.json... [-o DIR] strong and weak scaling as measured, PNG and SVG

FILE.json is of `lugpu bench --json` with lu-blocked on several numbers of devices, e.g. -d 0,0+1,0+1+2+3, or with
several numbers of processes; all files of a call together. A figure's weak scaling joins sizes whose memory on each
device, n^2 / P, is about the same.
"""

import argparse
import dataclasses
import json
import math
import sys
from pathlib import Path

sys.dont_write_bytecode = True  # what is imported lies in a folder that holds sources alone

SIZES = {"single": 4, "double": 8}
GPUS_OF_A_HOST = 8


@dataclasses.dataclass(frozen=True)
class Machine:
    """Seconds a column of a panel, operations a second, bytes a second, seconds; columns of a block."""

    column: float = 1.2e-6
    rate: float = 50e12
    bandwidth: float = 46e9
    latency: float = 0.12e-3
    nb: int = 384

    def over_network(self, devices, bandwidth):
        """With hosts in a chain: 10 µs from one to the next."""
        hosts = -(-devices // GPUS_OF_A_HOST)
        if hosts == 1:
            return self
        return dataclasses.replace(self, bandwidth=min(self.bandwidth, bandwidth),
                                   latency=self.latency + (hosts - 1) * 10e-6)


def in_core(machine, n, devices, element):
    """Seconds of a factorization."""
    b, total = machine.nb, 0.0
    for m in range(n, 0, -b):
        panel = machine.column * b
        send = (machine.latency + element * m * b / machine.bandwidth) if devices > 1 else 0
        update = 2 * m * m * b / (devices * machine.rate)
        following = 2 * m * b * b / machine.rate
        total += max(update + panel / devices, following + panel + send)
    return total


def out_of_core(machine, n, columns, element):
    """Seconds on one device that holds so many columns at a time: with all copies hidden where they can be, and
    with none hidden."""
    b, rate, bandwidth = machine.nb, machine.rate, machine.bandwidth
    hidden = apart = element * n * min(columns, n) / bandwidth  # the first window
    for begin in range(0, n, columns):
        end = min(begin + columns, n)
        for j in range(0, begin, b):
            work, copy = 2 * (n - j) * b * (end - begin) / rate, element * (n - j) * b / bandwidth
            hidden += max(work, copy)
            apart += work + copy
        for j in range(begin, end, b):
            panel = machine.column * b
            work = 2 * (n - j) * b * (end - j) / rate + panel
            copy = element * n * b / bandwidth  # out, and as many in
            hidden += max(work, copy)
            apart += work + 2 * copy
    return hidden, apart


def table(head, rows):
    """In Markdown."""
    lines = ["| " + " | ".join(head) + " |", "|---" * len(head) + "|"]
    return "\n".join(lines + ["| " + " | ".join(row) + " |" for row in rows])


def labelled(n, precision, first):
    return f"{precision}, $n = {n}$" if first else str(n)


def one_host():
    rows = []
    for precision, element in SIZES.items():
        for n in (16384, 32768, 65536):
            times = [in_core(Machine(), n, devices, element) for devices in (1, 2, 4, 8)]
            rows.append([labelled(n, precision, n == 16384), f"{1e3 * times[0]:.0f}",
                         *(f"{times[0] / time:.2f}" for time in times[1:])])
    return table(["", "ms on 1", "times faster on 2", "4", "8"], rows)


def networks():
    rows = []
    for precision, element in SIZES.items():
        for n in (65536, 131072, 262144):
            one = in_core(Machine(), n, 1, element)
            cells = [f"{one / in_core(Machine(), n, 8, element):.1f}"]
            for devices in (16, 32, 64):
                cells.append(" / ".join(
                    f"{one / in_core(Machine().over_network(devices, speed), n, devices, element):.1f}"
                    for speed in (25e9, 50e9)))
            rows.append([labelled(n, precision, n == 65536), f"{one:.1f}", *cells])
    return table(["", "s on 1", "times faster on 8", "16", "32", "64"], rows)


def weak():
    rows = []
    for precision, element in SIZES.items():
        one = 2 / 3 * 65536**3 / in_core(Machine(), 65536, 1, element)
        cells = []
        for devices in (8, 16, 32, 64):
            n = round(65536 * devices ** (1 / 2) / 1024) * 1024
            speeds = [2 / 3 * n**3 / in_core(Machine().over_network(devices, speed), n, devices, element)
                      for speed in (25e9, 50e9)]
            shares = sorted({f"{speed / one / devices:.2f}" for speed in speeds})
            cells.append(f"{' / '.join(shares)} at {n}")
        rows.append([precision, *cells])
    return table(["share of one device's speed", "8", "16", "32", "64"], rows)


def windows():
    rows = []
    for precision, element in SIZES.items():
        for n in (32768, 65536):
            core = in_core(Machine(), n, 1, element)
            for share in (2, 4, 8):
                hidden, apart = out_of_core(Machine(), n, n // share, element)
                rows.append([labelled(n, precision, n == 32768 and share == 2), f"{share}", f"{1e3 * core:.0f}",
                             f"{1e3 * hidden:.0f}", f"{1e3 * apart:.0f}"])
    return table(["", "windows", "ms in core", "with copies hidden", "one after the other"], rows)


TABLES = {"One host": one_host, "Hosts of 8 devices, a network of 25 / 50 GB/s": networks,
          "As much memory of each device as n = 65536 takes on one": weak, "Out of core": windows}


def measured(paths):
    """{(device, precision, pivot): {devices: {n: (seconds, columns of a block)}}} of lu-blocked in core, of several
    rows the fastest."""
    found = {}
    for path in paths:
        try:
            rows = json.loads(path.read_text(encoding="utf-8"))["results"]
            for row in rows:
                if row["status"] != "ok" or row["routine"] != "lu-blocked" or (row.get("windows") or 1) > 1:
                    continue
                group = found.setdefault((row["device"], row["precision"], row["pivot"]), {})
                times = group.setdefault(row.get("devices_used") or 1, {})
                row_time = (row["median_s"], row["nb"])
                times[row["n"]] = min(row_time, times.get(row["n"], row_time))
        except OSError as error:
            sys.exit(f"{path}: {error.strerror}.")
        except (ValueError, KeyError, TypeError, AttributeError):
            sys.exit(f"{path}: this is no file of lugpu bench --json.")
    if not found:
        sys.exit("There are no results of lu-blocked in core in these files.")
    return found


def modelled(machine, n, devices, element, nb):
    return in_core(dataclasses.replace(machine, nb=nb), n, devices, element)


def error_of(machine, times, element):
    """The mean of squared logarithms of model over time."""
    logs = [math.log(modelled(machine, n, devices, element, nb) / seconds) ** 2
            for devices, sizes in times.items() for n, (seconds, nb) in sizes.items()]
    return sum(logs) / len(logs)


def fitted(times, element):
    """The constants, by steps that halve: those of the link only if there are several devices."""
    names = ["column", "rate"] + ["bandwidth", "latency"] * (max(times) > 1)
    n, seconds = max((n, seconds) for sizes in times.values() for n, (seconds, _) in sizes.items())
    machine = Machine(column=1e-6, rate=n**3 / seconds, bandwidth=5e9, latency=1e-4)
    best, step = error_of(machine, times, element), 4.0
    while step > 1.001:
        moved = False
        for name in names:
            for factor in (step, 1 / step):
                trial = dataclasses.replace(machine, **{name: getattr(machine, name) * factor})
                error = error_of(trial, times, element)
                if error < best * (1 - 1e-9):
                    machine, best, moved = trial, error, True
        if not moved:
            step = math.sqrt(step)
    return machine, math.sqrt(best)


def print_fit(paths):
    for (device, precision, pivot), times in measured(paths).items():
        machine, error = fitted(times, SIZES[precision])
        print(f"{device}, {precision}, pivoting {pivot}: a column {1e6 * machine.column:.2f} us, "
              f"{machine.rate / 1e9:.0f} GFLOP/s, " +
              (f"{machine.bandwidth / 1e9:.2f} GB/s, latency {1e6 * machine.latency:.0f} us, "
               if max(times) > 1 else "") + f"off by {100 * error:.1f} % (root mean square)")
        for devices, sizes in sorted(times.items()):
            for n, (seconds, nb) in sorted(sizes.items()):
                model = modelled(machine, n, devices, SIZES[precision], nb)
                print(f"  n = {n} on {devices}: {1e3 * seconds:.2f} ms, model {1e3 * model:.2f}")


def weak_lines(times):
    """Lists of (devices, n) from one device on whose n^2 / devices differ by less than a fifth."""
    lines = []
    for n in sorted(times.get(1, {})):
        line = [(1, n)]
        for devices in sorted(times):
            near = [m for m in times[devices] if abs(math.log(m**2 / devices / n**2)) < 0.2]
            if devices > 1 and near:
                line.append((devices, min(near, key=lambda m: abs(m**2 / devices - n**2))))
        if len(line) > 1:
            lines.append(line)
    return lines


def draw(key, times, folder):
    from figures import STYLE, counted, save, slug
    import matplotlib
    from matplotlib.figure import Figure
    device, precision, pivot = key
    counts = sorted(times)
    with matplotlib.rc_context(STYLE):
        figure = Figure(figsize=(9, 3.6), layout="constrained")
        figure.suptitle(f"{device}, {precision} precision, pivoting {pivot}")
        strong, weak_axis = figure.subplots(1, 2)
        for n in sorted(times.get(1, {})):
            known = [count for count in counts if n in times[count]]
            strong.plot(known, [times[1][n][0] / times[count][n][0] for count in known], marker="o", label=f"n = {n}")
        for line in weak_lines(times):
            speeds = [m**3 / times[count][m][0] / count for count, m in line]
            weak_axis.plot([count for count, _ in line], [speed / speeds[0] for speed in speeds], marker="o",
                           label="n = " + ", ".join(str(m) for _, m in line))
        strong.plot(counts, counts, color="#999999", linestyle=":", label="ideal")
        weak_axis.axhline(1, color="#999999", linestyle=":")
        strong.set(title="Strong scaling: times as fast as 1", xlabel="devices", ylabel="speed-up")
        weak_axis.set(title="Weak scaling: speed per device", xlabel="devices", ylabel="share of that of 1")
        for ax in (strong, weak_axis):
            ax.set_xticks(counts)
            ax.set_ylim(bottom=0)
            if ax.get_legend_handles_labels()[0]:
                ax.legend(fontsize=7)
        paths = save(figure, folder / f"scaling-{slug(device or 'host')}-{precision}-{pivot}")
    print(f"{counted(len(paths), 'file')}: " + ", ".join(str(path) for path in paths))


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("what", choices=["tables", "fit", "plot"])
    parser.add_argument("files", metavar="FILE.json", nargs="*", type=Path)
    parser.add_argument("-o", "--output", metavar="DIR", type=Path, default=Path("."))
    arguments = parser.parse_args()
    if (arguments.what == "tables") == bool(arguments.files):
        parser.error("fit and plot take files of lugpu bench --json, tables takes none")
    if arguments.what == "tables":
        print("\n\n".join(f"{title}:\n\n{make()}" for title, make in TABLES.items()))
    elif arguments.what == "fit":
        print_fit(arguments.files)
    else:
        found = measured(arguments.files)
        arguments.output.mkdir(parents=True, exist_ok=True)
        for key, times in found.items():
            draw(key, times, arguments.output)


if __name__ == "__main__":
    main()
