#!/usr/bin/python3
"""Measure and draw the experiments of a paper again, and write a page about them.

papers/ has a module for each paper; each ends with the list of the figures that are made.
"""

import argparse
import os
import shlex
import sys
from pathlib import Path

sys.dont_write_bytecode = True  # what is imported lies in a folder that holds sources alone
sys.path.insert(0, str(Path(__file__).resolve().parent))

import figures  # noqa: E402
import matplotlib  # noqa: E402
from papers import gems2_44, lu_gpu_2005, operators_2003, stable_fluids_2010  # noqa: E402
from papers.making import commands_of, reproduce  # noqa: E402
from papers.running import DEVICE_COMMAND, NotMade, Runner, Unsupported, say  # noqa: E402
from papers.verdicts import NOT_MADE  # noqa: E402

PAPERS = {"lu-gpu-2005": lu_gpu_2005.PAPER, "operators-2003": operators_2003.PAPER,
          "gems2-44": gems2_44.PAPER, "stable-fluids-2010": stable_fluids_2010.PAPER}

SOME_GPU = {"type": "gpu", "images": True, "image_max_width": 16384, "image_max_height": 16384,
            "compute_units": 1}

EPILOG = """\
Papers: lu-gpu-2005 (LU-GPU: Efficient Algorithms for Solving Dense Linear
Systems), operators-2003 (Linear Algebra Operators), gems2-44 (GPU Gems 2,
chapter 44), stable-fluids-2010 (Linear Solvers for Stable Fluids).

Writes DIR/README.md, DIR/KEY-*.png and .svg for every figure, and the results
they come from, DIR/*.json. Figures of lu-gpu-2005 are named 4 to 14, tables
table1 and table2. With --only the page keeps the other figures whose results
lie in DIR.

To measure where there is no matplotlib, run there what --print-commands prints,
copy DIR/*.json back, and write the page with --page.

Exit status: 0 done; 1 a figure could not be made; 2 bad usage.
Needs python3-numpy and python3-matplotlib."""


def key_of(text):
    """A figure's key as a user may write it: 4, fig4, fig04, table1."""
    word = text.strip().lower()
    digits = word.removeprefix("fig")
    return f"fig{int(digits):02}" if digits.isdigit() else word


def parse_arguments(argv):
    """Command line."""
    root = Path(os.path.relpath(Path(__file__).resolve().parent.parent))  # results name the program
    parser = argparse.ArgumentParser(
        description="Measure and draw the experiments of a paper again, and write a page.",
        epilog=EPILOG, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--paper", choices=PAPERS, default="lu-gpu-2005",
                        help="the paper (default: lu-gpu-2005)")
    parser.add_argument("--lugpu", metavar="PROGRAM", default=str(root / "build/lugpu"),
                        help="the program (default: build/lugpu)")
    parser.add_argument("--device", "-d", metavar="D", help="as lugpu's --device")
    parser.add_argument("--quick", action="store_true", help="small sizes: minutes on a CPU")
    parser.add_argument("--out", metavar="DIR", type=Path,
                        help="folder for the page (default: results/reproduction, and "
                        "results/reproduction/PAPER for other papers)")
    parser.add_argument("--only", metavar="FIG,...", help="measure only these figures")
    parser.add_argument("--reuse", action="store_true",
                        help="do not repeat runs that have results in DIR")
    parser.add_argument("--page", action="store_true",
                        help="run nothing: write the page from the results in DIR")
    parser.add_argument("--print-commands", action="store_true",
                        help="print what would be run, for the device of DIR/device.json, or "
                        "without that for a GPU")
    arguments = parser.parse_args(argv)
    of_paper = "" if arguments.paper == parser.get_default("paper") else arguments.paper
    arguments.out = arguments.out or root / "results/reproduction" / of_paper
    figures = PAPERS[arguments.paper].figures
    keys = [key_of(text) for text in (arguments.only or "").split(",") if text.strip()]
    known = [figure.key for figure in figures]
    unknown = sorted(set(keys) - set(known))
    if unknown:
        parser.error(f"--only: there is no {unknown[0]}; there are {', '.join(known)}.")
    arguments.selected = [figure for figure in figures if not keys or figure.key in keys]
    return arguments


def print_commands(arguments, runner):
    """The commands as lines for a shell."""
    path = arguments.out / "device.json"
    device = runner.read(DEVICE_COMMAND)["devices"][0] if path.exists() else SOME_GPU
    print(shlex.join(["mkdir", "-p", str(arguments.out)]))
    for command in commands_of(PAPERS[arguments.paper], arguments.selected, device,
                               arguments.quick):
        print(shlex.join(runner.argv(command)))


def main(argv):
    """Exit status of the program."""
    arguments = parse_arguments(argv)
    matplotlib.rcdefaults()
    matplotlib.rcParams.update(figures.STYLE)
    runner = Runner(arguments.lugpu, arguments.device, arguments.out, arguments.reuse,
                    arguments.page)
    try:
        if arguments.print_commands:
            print_commands(arguments, runner)
            return 0
        arguments.out.mkdir(parents=True, exist_ok=True)
        outcomes = reproduce(PAPERS[arguments.paper], runner, arguments.selected, arguments.quick)
    except (NotMade, Unsupported) as reason:
        print(f"reproduce.py: {reason}", file=sys.stderr)
        return 1
    except OSError as error:
        print(f"reproduce.py: {error.filename}: cannot be written ({error.strerror}).",
              file=sys.stderr)
        return 1
    failed = [outcome.figure.number for outcome in outcomes if outcome.verdict == NOT_MADE]
    if failed:
        print(f"reproduce.py: could not be made: {', '.join(failed)}.", file=sys.stderr)
    say(f"wrote {arguments.out / 'README.md'}")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
