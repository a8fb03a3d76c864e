#!/usr/bin/python3
"""The help texts and the version."""

import os
import pty
import re
import termios

from program import (BLOCKED, COLUMNS, COMMANDS, FORMATS, KINDS, METHODS, PIVOTS, PRECISIONS,
                     RIVALS, ROOT, SCHEDULES, STORAGES, TEXELS, CommandLine, main)


class HelpTest(CommandLine):
    EXIT_STATUSES = {None: "0123456", "devices": "0125", "solve": "012345", "advise": "012345",
                     "bench": "01245", "compare": "0126", "report": "012", "probe": "0125", "simulate": "01245", "tune": "0125",
                     "verify": "01245", "generate": "012",
                     "help": "012"}

    def help_of(self, *command):
        done = self.lugpu(*command, "--help")
        self.assertEqual(done.stderr, "")
        return done.stdout

    def test_help_fits_80_columns(self):
        """No line of a help text is longer than 80 columns."""
        for command in ([], *([name] for name in COMMANDS)):
            with self.subTest(command=command):
                self.assert_narrow(self.help_of(*command))

    def test_help_fits_the_terminal(self):
        """COLUMNS decides, or else the terminal; 80 columns are the most, and at any width each word is
        whole and the words are the same. Lists of values may be broken after a comma."""
        def words_of(text):
            return re.sub(r",\s+(?=[\w-]+[,}])", ",", text).split()
        for command in ([], *([name] for name in COMMANDS)):
            words = words_of(self.help_of(*command))
            for width in (60, 80, 120):
                with self.subTest(command=command, width=width):
                    text = self.lugpu(*command, "--help", env={"COLUMNS": str(width)}).stdout
                    self.assertLessEqual(max(map(len, text.splitlines())), min(width, COLUMNS))
                    self.assertGreater(max(map(len, text.splitlines())), min(width, COLUMNS) - 15)
                    self.assertEqual(words_of(text), words)
        ours, theirs = pty.openpty()
        try:
            termios.tcsetwinsize(theirs, (24, 60))
            self.run_lugpu("solve", "--help", stdout=theirs)
            text = os.read(ours, 65536).decode()
        finally:
            os.close(ours)
            os.close(theirs)
        self.assertLessEqual(max(map(len, text.splitlines())), 60)

    def test_help_command(self):
        """`lugpu help` is `lugpu --help`, with a subcommand that one's."""
        self.assertEqual(self.lugpu("help").stdout, self.help_of())
        for command in COMMANDS:
            self.assertEqual(self.lugpu("help", command).stdout, self.help_of(command))
        self.refused("help", "sovle", words=['"sovle"', "did you mean solve"])
        self.refused("help", "solve", "bench", words=["lugpu help --help"])

    def test_groups_and_examples(self):
        """Each help has a few examples; that of a long command lists its options in groups."""
        for command in ([], *([name] for name in self.EXIT_STATUSES if name)):
            with self.subTest(command=command):
                text = self.help_of(*command)
                self.assertFalse("\n\n\n" in text, text)
                examples = text.partition("\nExamples:\n")[2].partition("\n\n")[0]
                lines = [line.strip() for line in examples.splitlines() if line.startswith("    ")]
                self.assertIn(len(lines), (2, 3))
                self.assertIn(" ".join(["lugpu", *command]), " ".join(lines))
        for command in ("solve", "bench", "simulate"):
            groups = re.findall(r"(?m)^(\w[\w ,]+):$", self.help_of(command))
            self.assertGreaterEqual(len(set(groups) - {"Positionals", "Examples"}), 5)
            self.assertNotIn("Options", groups)

    def test_exit_statuses(self):
        """The help of a subcommand names those that it can return."""
        for command, statuses in self.EXIT_STATUSES.items():
            with self.subTest(command=command):
                text = self.help_of(*filter(None, [command])).partition("Exit status: ")[2]
                self.assertEqual("".join(re.findall(r"(?:^|, *)(\d) ", text.replace("\n", " "))), statuses)

    def test_complete_is_documented(self):
        for command in ("solve", "bench"):
            self.assertIn("complete is another name for full", " ".join(self.help_of(command).split()))

    def test_short_and_long_help_agree(self):
        for command in COMMANDS:
            self.assertEqual(self.lugpu(command, "-h").stdout, self.help_of(command))

    def test_version(self):
        """-V and --version print name and version, as CMake knows it."""
        cmake = (ROOT / "CMakeLists.txt").read_text(encoding="utf-8")
        version = re.search(r"project\(lugpu VERSION ([0-9.]+)", cmake).group(1)
        for flag in ("-V", "--version"):
            self.assertEqual(self.lugpu(flag).stdout, f"lugpu {version}\n")

    def test_main_help_lists_commands_and_exit_status(self):
        text = self.help_of()
        for command in COMMANDS:
            self.assertRegex(text, rf"(?m)^  {command} ")
        for meaning in ("0 done", "1 failed", "2 bad", "3 singular", "4 failed", "5 no usable", "6 slower"):
            self.assertIn(meaning, " ".join(text.split()))

    def assert_lists(self, text, words):
        for word in words:
            self.assertRegex(text, rf"(?<![\w-]){re.escape(word)}(?![\w-])")

    def test_help_lists_options(self):
        shared = ["-p", "--platform", "-d", "--device", "LUGPU_DEVICE", "--units", "--kernel-dir",
                  "--no-vendor-kernels", "--precision", "--storage", "--json", "--color", "-q",
                  "--quiet", "-v", "--verbose", "-h", "--help"]
        solver = ["--method", "--pivot", "--texel", "--schedule", "--nb"]
        own = {"solve": ["-o", "--output", "MATRIX", "RHS", "--timeout", "--dry-run", *solver],
               "bench": ["-n", "--sizes", "--baseline", "--threads", "--warmup", "--runs",
                         "--min-time", "--max-time", "--noise", "--timeout", "--matrix", "--nrhs", "--seed", "--resume",
                         "--dry-run",
                         *solver],
               "probe": ["-n", "--sizes", "--runs"]}
        for command, options in own.items():
            with self.subTest(command=command):
                self.assert_lists(self.help_of(command), shared + options)
        self.assert_lists(self.help_of("advise"), ["MATRIX", "RHS", "-d", "--timeout", "--json"])
        self.assert_lists(self.help_of("compare"), ["FILE_A", "FILE_B", "--threshold", "--fail-slower",
                                                    "--markdown", "--json", "--color", "-q"])
        self.assert_lists(self.help_of("verify"), ["-d", "--kernel-dir", "--json", "-q", "--full"])

    def test_help_lists_values(self):
        values = ["auto", *METHODS, BLOCKED, *PIVOTS, "rook", "complete", *PRECISIONS, *STORAGES, *TEXELS,
                  *SCHEDULES, "always", "never"]
        for command, more in (("solve", FORMATS), ("bench", [*RIVALS, "none"])):
            with self.subTest(command=command):
                self.assert_lists(self.help_of(command), values + more)

    def test_generate_help_lists_kinds_and_formats(self):
        self.assert_lists(self.help_of("generate"), KINDS + FORMATS + ["-o", "--output", "--seed"])


if __name__ == "__main__":
    main()
