#!/usr/bin/python3
"""Checks the stored results that lugpu wrote: valid by docs/lugpu.schema.json, and by a program that was
built from a commit in this repository's history, unchanged. One line for each file that is not.

Files of other programs, which do not say which version of lugpu wrote them, are not checked. Exit status: 0 all are well, 1 some
are not.
"""

import argparse
import json
import subprocess
import sys
from pathlib import Path

import jsonschema

ROOT = Path(__file__).resolve().parent.parent


def history(repository):
    """The full hashes of HEAD's history; none where there is no history, or not all of it."""
    def git(*arguments):
        done = subprocess.run(["git", "-C", str(repository), *arguments], capture_output=True, text=True,
                              check=False)
        return done.stdout.split() if done.returncode == 0 else []
    return git("rev-list", "HEAD") if git("rev-parse", "--is-shallow-repository") == ["false"] else []


def faults(report, validator, commits):
    """What is wrong with a report; without commits, its revision is only checked for changes."""
    error = next(validator.iter_errors(report), None)
    if error:
        place = "/".join(str(part) for part in error.absolute_path) or "the file"
        yield f"{place} is not valid: {error.message[:200]}"
        return
    revision = report["tool"]["git_rev"]
    if not revision:
        yield "it has no git_rev: lugpu was built outside a checkout"
    elif revision.endswith("-dirty"):
        yield f"git_rev {revision}: lugpu was built from changed sources"
    elif commits and not any(commit.startswith(revision) for commit in commits):
        yield f"git_rev {revision} is not in the history of this repository"


def faulty_files(folder, commits):
    """(path, what is wrong with it), of the files of lugpu in this folder and those below it."""
    schema = json.loads((ROOT / "docs/lugpu.schema.json").read_text(encoding="utf-8"))
    validator = jsonschema.Draft7Validator(schema)
    for path in sorted(folder.rglob("*.json")):
        try:
            report = json.loads(path.read_text(encoding="utf-8"))
        except ValueError as error:
            yield path, f"it is not JSON: {error}"
            continue
        if isinstance(report, dict) and "version" in report.get("tool", {}):
            for fault in faults(report, validator, commits):
                yield path, fault


def main():
    """Prints what is wrong."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n\n")[0])
    parser.add_argument("folder", nargs="?", type=Path, default=ROOT / "results",
                        help="folder with results (default: results/)")
    options = parser.parse_args()
    commits = history(ROOT)
    if not commits:
        print("There is no full git history here; commits are not checked.", file=sys.stderr)
    found = list(faulty_files(options.folder, commits))
    for path, fault in found:
        print(f"{path}: {fault}.", file=sys.stderr)
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
