#!/usr/bin/python3
"""What a terminal gets: colour, the line of progress, and no control characters from outside."""

import contextlib
import os
import pty
import re
import subprocess
import time

import numpy as np

from program import SECONDS, CommandLine, main, parse_report, random_matrix, small


class TerminalTest(CommandLine):
    """Text from outside does nothing to a terminal: no control characters but ends of lines."""
    ODD = os.fsdecode("\x1b[31m\n\r\t\x7f\u009b31m größe 数".encode() + b"\x9b31m\xff")
    SHOWN = r"\x1b[31m\n\r\t\x7f\xc2\x9b31m größe 数\x9b31m\xff"

    def assert_harmless(self, text):
        self.assertNotRegex(text, "[\x00-\x09\x0b-\x1f\x7f-\x9f\ud800-\udfff]")

    def test_arguments(self):
        """Of every option, in one line each."""
        self.write("a.csv", [[2.0]])
        for command, needed in (("solve", ["a.csv"]), ("advise", ["a.csv"]), ("bench", []), ("probe", []),
                                ("generate", ["random", "5", "-o", "x.csv"])):
            text = self.lugpu(command, "--help").stdout
            flags = [flag for flag in re.findall(r"(?m)^ +(?:-\w,)?(--[\w-]+) [A-Z]+", text)
                     if flag not in ("--output", "--inverse", "--json", "--trace")]
            for arguments in (*([flag, self.ODD] for flag in flags), ["--" + self.ODD], [self.ODD] * 3):
                with self.subTest(command=command, arguments=arguments):
                    done = self.run_lugpu(command, *needed, *arguments)
                    self.assertIn(done.returncode, (2, 5), done.stderr)
                    self.assertRegex(done.stderr, r"\Alugpu: [^\n]+\n\Z")
                    self.assert_harmless(done.stderr)
                    self.assertIn(self.SHOWN, done.stderr)
        for arguments in ([self.ODD], ["solve", self.ODD], ["solve", self.ODD + ".csv"], ["help", self.ODD],
                          ["generate", self.ODD, "5", "-o", "x.csv"],
                          ["generate", "random", "5", "-o", self.ODD]):
            self.assert_harmless(self.refused(*arguments, words=[self.SHOWN]))

    def test_file_names(self):
        """In the reports and errors of solve and advise; the files keep their names."""
        name, rhs, x, inverse = (self.ODD + end for end in (".csv", "b.csv", "x.csv", "i.csv"))
        self.write(name, random_matrix(5, 5))
        self.write(rhs, random_matrix(5, 1))
        done = self.lugpu("solve", name, rhs, "-o", x, "--inverse", inverse)
        for end in (".csv", "b.csv", "x.csv", "i.csv"):
            self.assertIn("".join((self.SHOWN + end).split()), "".join(done.stdout.split()))
        self.assertTrue({os.fsencode(x), os.fsencode(inverse)} < set(os.listdir(os.fsencode(self.folder))))
        self.assert_harmless(done.stdout + done.stderr)
        self.write(name, np.ones((5, 5)))
        done = self.run_lugpu("solve", name)
        self.assertEqual(done.returncode, 3)
        self.assertIn(self.SHOWN, done.stderr)
        self.assert_harmless(done.stdout + done.stderr)
        done = self.run_lugpu("advise", name)
        self.assertIn(self.SHOWN, done.stderr)
        self.assert_harmless(done.stdout + done.stderr)

    def test_json(self):
        """Has the characters as its own escapes."""
        name = "\x1b\x7f\u0080\u009b\n größe.csv"
        self.write(name, random_matrix(5, 5))
        text = self.lugpu("solve", name, "--json", "-").stdout
        self.assert_harmless(text)
        self.assertEqual(parse_report(text)[0]["matrix"], name)

    def test_quiet_has_no_progress(self):
        """Nothing is drawn on a terminal."""
        self.write("a.csv", random_matrix(5, 5))
        for flags, drawn in (([], True), (["-q"], False)):
            ours, theirs = pty.openpty()
            try:
                subprocess.run([self.program, "advise", "a.csv", *flags], cwd=self.folder, check=True,
                               stdout=subprocess.DEVNULL, stderr=theirs, timeout=SECONDS)
                os.write(theirs, b".")
                self.assertEqual(len(os.read(ours, 65536)) > 1, drawn)
            finally:
                os.close(ours)
                os.close(theirs)


class ColourTest(CommandLine):
    def on_terminal(self, *arguments, env=None):
        """What the program prints where stdout is a terminal; less than its buffer holds."""
        ours, theirs = pty.openpty()
        try:
            self.assertEqual(self.run_lugpu(*arguments, env=env, stdout=theirs).returncode, 0)
            return os.read(ours, 65536).decode()
        finally:
            os.close(ours)
            os.close(theirs)

    def test_auto(self):
        """Colour on a terminal, unless NO_COLOR is set to something."""
        self.assertIn("\033[", self.on_terminal(*small()))
        self.assertIn("\033[", self.on_terminal(*small(), env={"NO_COLOR": ""}))
        self.assertNotIn("\033[", self.on_terminal(*small(), env={"NO_COLOR": "1"}))

    def test_flag_decides(self):
        self.assertNotIn("\033[", self.on_terminal(*small(), "--color", "never"))
        done = self.lugpu(*small(), "--color", "always", env={"NO_COLOR": "1"})
        self.assertIn("\033[", done.stdout)

    def test_json_has_no_colour(self):
        self.assertEqual(len(self.results(*small(), "--color", "always")), 1)


class ProgressTest(CommandLine):
    """The line that overwrites itself where stderr is a terminal."""
    DRAWN = re.compile(r"\r\033\[K(\[[^\r\n]*)")

    def on_terminal(self, *arguments):
        """What is drawn over one another on stderr, the rest of it, and the seconds that it took."""
        ours, theirs = pty.openpty()
        process = subprocess.Popen([self.program, *arguments], cwd=self.folder, stdin=subprocess.DEVNULL,
                                   env=self.environment(None), stdout=subprocess.DEVNULL, stderr=theirs)
        os.close(theirs)
        start, text = time.monotonic(), b""
        with contextlib.suppress(OSError), open(ours, "rb", buffering=0) as terminal:
            while part := terminal.read(65536):
                text += part
        self.assertEqual(process.wait(SECONDS), 0)
        return text.decode(), time.monotonic() - start

    def test_ten_redraws_a_second(self):
        text, seconds = self.on_terminal(*small(sizes="1:150:1"))
        drawn = self.DRAWN.findall(text)
        self.assertLessEqual(len(drawn), 10 * seconds + 1)
        self.assertTrue(text.endswith("\r\033[K"), text[-80:])
        for line in drawn[-1:]:
            self.assertRegex(line, r"^\[\d+/150\] \d+ %, \d+ (s|min) left lu none single n=\d+")

    def test_the_last_text_before_a_pause_is_seen(self):
        """Though the one before was drawn a moment ago."""
        text, _ = self.on_terminal(*small(sizes="1,2,3,4,5,6,7,8,900", runs=20))
        self.assertIn("[8/9]", text)


if __name__ == "__main__":
    main()
