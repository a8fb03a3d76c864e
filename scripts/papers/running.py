"""Running lugpu and scripts, and reading their results."""

import json
import os
import shlex
import subprocess
import time
from dataclasses import dataclass
from pathlib import Path

import plot

COMMAND_TIMEOUT_S = 3600
ROOT = Path(os.path.relpath(Path(__file__).resolve().parent.parent.parent))


class NotMade(Exception):
    """A figure cannot be made: a command failed or its results do not suffice. One sentence."""


class Unsupported(Exception):
    """The device cannot do what a figure needs. One sentence."""


class NotMeasured(Exception):
    """A figure was not requested, and its results do not exist."""


@dataclass(frozen=True)
class Command:
    """A run of lugpu, or of a script, whose JSON is DIR/stem.json."""
    stem: str
    arguments: tuple
    may_be_unsupported: bool = False  # exit status 2 means that the device cannot do it
    script: str = ""  # its path from the folder above scripts/; it takes no device


def listed(values):
    """Values as the program's lists take them."""
    return ",".join(map(str, values))


DEVICE_COMMAND = Command("device", ("bench", "-n", "16", "--method", "lu", "--pivot", "none",
                                    "--baseline", "none", "--runs", "1", "--min-time", "0"))


def say(text):
    """A line of progress."""
    print(text, flush=True)


def last_line(text):
    """The last line a program printed, without its name."""
    lines = text.strip().splitlines() or ["it said nothing"]
    return lines[-1].removeprefix("lugpu: ")


class Runner:
    """Runs commands, each once, or takes existing results; with `page_only` runs nothing."""

    def __init__(self, lugpu, device, folder, reuse=False, page_only=False):
        self.lugpu, self.folder = lugpu, folder
        self.reuse, self.page_only = reuse or page_only, page_only
        self.device_arguments = ("-d", device) if device else ()
        self.device_name = None  # of the page, once it is known
        self.wanted = {DEVICE_COMMAND.stem}  # stems that may be run
        self.outcomes = {}  # by stem: a record, or the exception that its command ended with

    def path(self, command):
        """The path of a command's results."""
        return self.folder / f"{command.stem}.json"

    def record(self, command):
        """The JSON of a command; runs it unless its results are there and may be used again."""
        if command.stem not in self.outcomes:
            wanted = command.stem in self.wanted
            try:
                if not wanted and not self.path(command).exists():
                    raise NotMeasured
                if wanted and not (self.reuse and self.path(command).exists()):
                    self.run(command)
                self.outcomes[command.stem] = self.read(command)
            except (NotMade, NotMeasured, Unsupported) as outcome:
                self.outcomes[command.stem] = outcome if wanted else NotMeasured()
        outcome = self.outcomes[command.stem]
        if isinstance(outcome, Exception):
            raise outcome
        return outcome

    def argv(self, command):
        """A command in words."""
        output = ("--json", str(self.path(command)), "-q")
        if command.script:
            return [str(ROOT / command.script), *command.arguments, *output]
        return [self.lugpu, *command.arguments, *self.device_arguments, *output]

    def run(self, command):
        """Run a command; its results are in place afterwards, or nothing is."""
        path, argv = self.path(command), self.argv(command)
        if self.page_only:
            raise Unsupported(f"There is no {path.name} among the results.")
        path.unlink(missing_ok=True)
        start = time.monotonic()
        try:
            done = subprocess.run(argv, capture_output=True, text=True, check=False,
                                  timeout=COMMAND_TIMEOUT_S)
            status, words = done.returncode, last_line(done.stderr)
        except OSError as error:
            raise NotMade(f"{argv[0]} cannot be run ({error.strerror}).") from error
        except subprocess.TimeoutExpired:
            status, words = None, f"it did not finish within {COMMAND_TIMEOUT_S} s"
        except BaseException:
            path.unlink(missing_ok=True)  # partial results must not be reused
            raise
        say(f"    $ {shown(argv)}    ({time.monotonic() - start:.1f} s)")
        if status == 2 and command.may_be_unsupported:
            refusal = {"argv": argv, "status": 2, "reason": words}
            path.write_text(json.dumps(refusal, indent=1) + "\n", encoding="utf-8")
        elif status not in (0, 4):  # 4: a check failed, and its row says so
            say(f"      failed with status {status}: {words}")
            if status != 1 or not holds_results(path):
                path.unlink(missing_ok=True)
                raise NotMade(f"`{shown(argv)}` failed with status {status}: {words}")

    def read(self, command):
        """A record of this device, its rows checked; each knows its file."""
        path = self.path(command)
        try:
            record = json.loads(path.read_text(encoding="utf-8"))
            if isinstance(record, dict) and record.get("status") == 2:
                raise Unsupported(record["reason"])
            record["results"] = plot.load(path, command.stem)
            name = record["devices"][0]["name"] if record["devices"] else self.device_name
        except (OSError, ValueError) as error:
            raise NotMade(f"{path.name} cannot be read: {error}.") from error
        except plot.BadInput as error:
            raise NotMade(str(error)) from error
        if name != (self.device_name or name):
            raise NotMade(f"{path.name} was measured on {name}; give another --out.")
        return record


def holds_results(path):
    """Whether a run that failed has left something to draw."""
    try:
        record = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return False
    return bool(record.get("probes")) or any(row["status"] == "ok" for row in record["results"])


def shown(argv):
    """A command as a reader would type it: the program's name, and files without their folder."""
    program = Path(argv[0])
    words = ["/".join(program.parts[-3:]) if program.suffix == ".py" else "lugpu", *argv[1:]]
    if "--json" in words:
        place = words.index("--json") + 1
        words[place] = Path(words[place]).name
    return shlex.join(word for word in words if word != "-q")
