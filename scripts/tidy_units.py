#!/usr/bin/python3
"""Puts sources together for clang-tidy, which spends most of its time on reading their headers.
  scripts/tidy_units.py COMPILE_COMMANDS FOLDER PATTERN [--alone]

Those whose paths match PATTERN and whose commands are alike become a file of FOLDER that includes them, as far as
the names that each keeps to itself allow that; with --alone each becomes a file. FOLDER/compile_commands.json has
the commands.
"""

import json
import re
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
OWN_PART = re.compile(r"^namespace \{$(.*?)^\}  // namespace$", re.MULTILINE | re.DOTALL)
# At the start of a line: a type, a function, or variables.
NAME = re.compile(r"(?:struct|class|enum|enum class|using) (\w+)|[^(={]*?(\w+)\(|.*?(\w+)(?: =|\[|\{)")


def names_in(text):
    """What it declares, but for members."""
    names = set(re.findall(r"^#define (\w+)", text, re.MULTILINE))
    for line in re.findall(r"^\w.*", text, re.MULTILINE):
        if match := NAME.match(line):
            names.add(match[match.lastindex])
        names |= set(re.findall(r"(\w+) = ", line))
    return names


class Source:
    """A file, and the names that it keeps to itself."""

    def __init__(self, path):
        self.path = path
        self.names = names_in("".join(OWN_PART.findall(path.read_text(encoding="utf-8"))))


def groups_of(commands, pattern):
    """The sources by folder and command, which is written without its file and output."""
    groups, seen = {}, set()
    for entry in commands:
        if re.search(pattern, entry["file"]) and entry["file"] not in seen:
            seen.add(entry["file"])
            # Without the headers that gcc has compiled beforehand, which clang cannot read.
            command = re.sub(r" -include \S*cmake_pch\.hxx| -o \S+ -c \S+$", "", entry["command"])
            groups.setdefault((entry["directory"], command), []).append(Source(Path(entry["file"])))
    return groups


def units_of(sources, public, separate):
    """Lists of sources: each goes to the first whose names are others, or alone if a header has one of its own."""
    units, alone = [], []
    for source in sources:
        if separate or source.names & public:
            alone.append([source])
        elif unit := next((unit for unit in units if not any(source.names & other.names for other in unit)), None):
            unit.append(source)
        else:
            units.append([source])
    return units + alone


def main():
    commands, folder, pattern, *separate = Path(sys.argv[1]), Path(sys.argv[2]), *sys.argv[3:]
    headers = [path for room in ("include", "src", "cli") for path in (ROOT / room).rglob("*.hpp")]
    public = names_in("".join(path.read_text(encoding="utf-8") for path in headers))
    entries = []
    for (directory, command), sources in groups_of(json.loads(commands.read_text(encoding="utf-8")), pattern).items():
        for unit in units_of(sources, public, separate):
            path = folder / f"unit{len(entries)}.cpp"
            path.write_text("".join(f'#include "{source.path}"  // NOLINT(bugprone-suspicious-include)\n'
                                    for source in unit), encoding="utf-8")
            entries.append({"directory": directory, "command": f"{command} -c {path}", "file": str(path)})
    (folder / "compile_commands.json").write_text(json.dumps(entries), encoding="utf-8")


main()
