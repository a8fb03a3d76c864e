#!/usr/bin/python3
"""Time NumPy, R and Octave, unchanged, with liblugpu_lapack.so before the host's LAPACK and without.

For every order and language a process without LD_PRELOAD and one with take turns. Each solves a random
system in double (one right-hand side), inverts its matrix and takes the determinant; answers are checked,
norminf(A x - b) / (norminf(A) norminf(x) n eps) < 30 and norminf(A inv(A) - I) / (norminf(A)
norminf(inv(A)) n eps) < 30, and log|det| of both processes agrees to 1e-8. An untimed process at the
smallest order reports where the calls of LAPACK ran. LUGPU_LAPACK_MIN_N and LUGPU_DEVICE are the caller's.
NumPy is that of the Python that runs this; Rscript and octave-cli are found by PATH. Needs no packages itself.

  scripts/time_languages.py build/lugpu build/liblugpu_lapack.so --json results/FILE.json
"""

import collections
import importlib.util
import json
import os
import re
import shutil
import statistics
import subprocess
import sys

sys.dont_write_bytecode = True  # time_lapack.py is imported from a folder that holds sources alone
from time_lapack import LIMIT, head, parse_arguments  # noqa: E402

# every operation, and what a program prints to check it
OPERATIONS = {"solve": ["solve_ratio"], "inv": ["inv_ratio"], "det": ["sign", "log_abs_det"]}
AGREEMENT = 1e-8  # of log|det|, relative to the larger of 1 and itself
WARNING = "lugpu_lapack: warning: "  # begins what it says where the host does the device's work
TRACE = re.compile(r"lugpu_lapack: (\w+)(?: [a-z]+=\d+)+ (device|cache|host) ")  # of LUGPU_LAPACK_TRACE
HERE = os.path.dirname(os.path.abspath(__file__))


def say(sentence):
    return f"{os.path.basename(__file__)}: {sentence}"


def installed():
    """The command of every installed language; stderr names the others."""
    rscript, octave = shutil.which("Rscript"), shutil.which("octave-cli") or shutil.which("octave")
    commands = {
        "NumPy": importlib.util.find_spec("numpy") and [sys.executable, "numpy_lu.py"],
        "R": rscript and [rscript, "--vanilla", "r_lu.R"],
        "Octave": octave and [octave, "--no-gui", "--norc", "--no-history", "octave_lu.m"],
    }
    for language, command in commands.items():
        if not command:
            print(say(f"{language} is not installed."), file=sys.stderr)
    return {language: [*command[:-1], os.path.join(HERE, "languages", command[-1])]
            for language, command in commands.items() if command}


def answers(language, command, order, runs, **environment):
    """What a process prints: version, times, and what checks them; and the lines of its stderr."""
    where = f"{language} of order {order}"
    done = subprocess.run([*command, str(order), str(runs)], env=os.environ | environment,
                          capture_output=True, text=True)
    lines = done.stderr.splitlines()
    if done.returncode != 0:
        reason = "\n".join(line for line in lines if not TRACE.match(line))
        sys.exit(say(f"{where} ended with status {done.returncode}: {reason}"))
    try:
        words = {name: values for name, *values in map(str.split, done.stdout.splitlines())}
        answer = {"version": " ".join(words["version"])}
        for operation, checks in OPERATIONS.items():
            answer[operation] = [float(word) for word in words[operation]]
            answer |= {name: float(" ".join(words[name])) for name in checks}
            if len(answer[operation]) != runs:
                raise ValueError
    except (KeyError, ValueError):
        sys.exit(say(f"{where} printed no answer: {done.stdout.strip()}"))
    for operation in ("solve", "inv"):
        ratio = answer[operation + "_ratio"]
        if not ratio < LIMIT:
            sys.exit(say(f"{operation} of {where} is wrong, ratio {ratio:.3g}."))
    return answer, lines


def calls(language, command, order, preload):
    """The version of a language, and how many calls of every routine ran where."""
    answer, lines = answers(language, command, order, 1, LUGPU_LAPACK_TRACE="1", **preload)
    counted = collections.Counter(found.groups() for found in map(TRACE.match, lines) if found)
    return answer["version"], [{"language": language, "n": order, "routine": routine}
                               | {place: counted[routine, place] for place in ("device", "cache", "host")}
                               for routine in sorted({routine for routine, _ in counted})]


def measure(language, command, order, runs, preload):
    """The rows of both processes."""
    host, _ = answers(language, command, order, runs)
    own, lines = answers(language, command, order, runs, **preload)
    for line in lines:
        if line.startswith(WARNING):
            sys.exit(say(f"{language} of order {order}: {line}"))
    before, after = ([answer[name] for name in OPERATIONS["det"]] for answer in (host, own))
    if before[0] != after[0] or not abs(before[1] - after[1]) <= AGREEMENT * max(1, abs(before[1])):
        sys.exit(say(f"det of {language} of order {order} is wrong, sign and log|det| are {after}, "
                     f"by the host {before}."))
    return [{"language": language, "operation": operation, "n": order, "times_s": answer[operation]}
            | {name.removeprefix(operation + "_"): answer[name] for name in checks}
            | {"library": library, "median_s": statistics.median(answer[operation])}
            for library, answer in (("host", host), ("liblugpu_lapack", own))
            for operation, checks in OPERATIONS.items()]


def table(counts, rows):
    """Milliseconds of both, their ratio, and where the calls ran, for the terminal."""
    lines = ["     n  language  operation     plain ms  preloaded ms   ratio"]
    host = {(row["language"], row["operation"], row["n"]): row["median_s"]
            for row in rows if row["library"] == "host"}
    for row in rows:
        if row["library"] != "host":
            before = host[row["language"], row["operation"], row["n"]]
            lines.append(f"{row['n']:6}  {row['language']:8}  {row['operation']:9} {before * 1e3:12.3f} "
                         f"{row['median_s'] * 1e3:13.3f} {before / row['median_s']:7.2f}")
    lines += ["", "     n  language  routine    calls: device   cache    host"]
    lines += [f"{row['n']:6}  {row['language']:8}  {row['routine']:9} {row['device']:14} {row['cache']:7} "
              f"{row['host']:7}" for row in counts]
    return "\n".join(lines)


def main():
    arguments = parse_arguments(__doc__, "1000,3000", 3)
    preload = {"LD_PRELOAD": os.path.abspath(arguments.lapack)}
    record, commands = head(arguments.lugpu), installed()
    versions, counts, rows = {}, [], []
    for language, command in commands.items():
        version, counted = calls(language, command, min(arguments.orders), preload)
        if counted:
            versions[language] = version
            counts += counted
        else:
            print(say(f"{language} calls nothing in {arguments.lapack}."), file=sys.stderr)
    if not versions:
        sys.exit(say("There is no language to time."))
    for order in arguments.orders:
        for language in versions:
            rows += measure(language, commands[language], order, arguments.runs, preload)
    print(table(counts, rows))
    if arguments.json:
        with open(arguments.json, "w", encoding="utf-8") as file:
            json.dump(record | {"languages": versions, "calls": counts, "results": rows}, file, indent=1)


if __name__ == "__main__":
    try:
        main()
    except (OSError, subprocess.CalledProcessError) as error:
        sys.exit(say(error))
