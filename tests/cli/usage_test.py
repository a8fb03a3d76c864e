#!/usr/bin/python3
"""Command lines that are refused: options, values and numbers, and what the sentence suggests."""

import re

from program import (BLOCKED, COMMANDS, KINDS, METHODS, PIVOTS, PRECISIONS, RIVALS, SCHEDULES,
                     STORAGES, TEXELS, CommandLine, main, read_matrix, small)


class BadUsageTest(CommandLine):
    def setUp(self):
        super().setUp()
        self.write("a.csv", [[2.0]])

    def test_no_or_unknown_command(self):
        self.refused(words=["subcommand", "--help"])
        for word in ("sovle", "--frobnicate", "-x"):
            with self.subTest(word=word):
                self.refused(word, words=[word])

    def test_help_that_is_pointed_to(self):
        """The subcommand's own."""
        for command in COMMANDS:
            for arguments in (["--frobnicate"], ["a.csv"] * 9):
                with self.subTest(command=command, arguments=arguments):
                    self.refused(command, *arguments, words=[f"(see `lugpu {command} --help`)"])
        for arguments in (["solve"], ["solve", "a.csv", "--nb"], ["solve", "a.csv", "--pivot", "knight"]):
            self.refused(*arguments, words=["(see `lugpu solve --help`)"])
        for arguments in ([], ["--frobnicate"], ["frobnicate"], ["--frobnicate", "solve", "a.csv"]):
            self.refused(*arguments, words=["(see `lugpu --help`)"])

    def test_suggestions(self):
        """A name that differs by a few letters, and none where nothing is near."""
        for arguments, meant in ((["sovle", "a.csv"], "solve"), (["Bench"], "bench"), (["--vresion"], "--version"),
                                 (["slove"], "solve"), (["verfy"], "verify"), (["hepl", "solve"], "help"),
                                 (["solve", "a.csv", "--pivto", "none"], "--pivot"),
                                 (["solve", "a.csv", "--pivots=none"], "--pivot"),
                                 (["solve", "--presicion", "single", "a.csv"], "--precision"),
                                 (["solve", "a.csv", "--dte"], "--det"),
                                 (["bench", "--size", "8"], "--sizes"),
                                 (["bench", "--warm-up", "8"], "--warmup"),
                                 (["generate", "random", "8", "--output-", "a.csv"], "--output")):
            with self.subTest(arguments=arguments):
                see = arguments[0] + " " if arguments[0] in COMMANDS else ""
                self.refused(*arguments, words=[f"; did you mean {meant} (see `lugpu {see}--help`)?"])
        for arguments in (["frobnicate"], ["x"], ["solve", "a.csv", "--frobnicate"], ["bench", "--x"]):
            with self.subTest(arguments=arguments):
                self.assertNotIn("did you mean", self.refused(*arguments))

    def test_whole_numbers(self):
        """Every option and argument whose help names a range takes decimal digits and nothing else, one of
        seconds, a tolerance and a fraction a decimal point too."""
        found = []
        for command, needed in (("solve", ["a.csv"]), ("advise", ["a.csv"]), ("bench", []), ("probe", []),
                                ("verify", []), ("compare", ["a.json", "b.json"]), ("generate", ["random", "5", "-o", "x.csv"])):
            text = self.lugpu(command, "--help").stdout
            self.assertNotRegex(text, r":[A-Z]+ in \[")  # how CLI11 shows a range that it checks itself
            for flag, kind in re.findall(r"(?m)^ +(?:-\w,)?(--[\w-]+) (\w+):[\d.e+-]+\.\.[\d.e+-]+", text):
                found.append(flag)
                words = ["0x10", "+1", " 3", "3 ", "1_0", "1'0", "", "nan", "١"]
                for word in words + ([] if kind in "STP" else ["1e1", "1.0"]):
                    with self.subTest(command=command, flag=flag, word=word):
                        self.refused(command, *needed, flag, word, words=[flag, f'"{word}"'])
        self.assertLessEqual({"--nb", "--units", "--digits", "--nrhs", "--seed", "--threads", "--warmup", "--runs",
                              "--min-time", "--max-time", "--noise", "--timeout", "--threshold",
                              "--fail-slower"}, set(found))
        for word in ("0x10", "+1", " 3", "1e1", "1.0", ""):
            self.refused("generate", "random", word, "-o", "x.csv", words=[f'"{word}"'])
        self.lugpu("generate", "random", "5", "-o", "x.csv", "--seed", "007")

    def test_unknown_flag(self):
        for command in (["devices"], ["solve", "a.csv"], small(), ["probe"], ["verify"],
                        ["compare", "a.json", "b.json"],
                        ["advise", "a.csv"], ["generate", "random", "5", "-o", "x.csv"]):
            with self.subTest(command=command):
                self.refused(*command, "--frobnicate", words=["--frobnicate"])

    def test_unknown_value(self):
        """The value and the values that are known are named."""
        for name, known in (("method", [*METHODS, BLOCKED]), ("pivot", PIVOTS), ("precision", PRECISIONS),
                            ("storage", STORAGES), ("texel", TEXELS), ("schedule", SCHEDULES),
                            ("color", ["always", "never"])):
            for value in ("knight", ""):
                with self.subTest(name=name, value=value):
                    words = ["--" + name, value, *known]
                    self.refused("solve", "a.csv", "-o", "x.csv", "--" + name, value, words=words)
                    self.refused(*small(**{name: value}), words=words)

    def test_missing_value(self):
        for flag in ("--method", "--pivot", "--json", "-o", "-d", "--kernel-dir"):
            with self.subTest(flag=flag):
                self.refused("solve", "a.csv", flag, words=[flag.lstrip("-")])
        for flag in ("-n", "--baseline", "--matrix", "--threads", "--timeout", "--seed"):
            with self.subTest(flag=flag):
                self.refused("bench", flag, words=[flag.lstrip("-")])

    def test_missing_matrix(self):
        self.refused("solve", words=["matrix"])

    def test_too_many_files(self):
        self.refused("solve", "a.csv", "a.csv", "third.csv", words=["third.csv"])

    def test_empty_names(self):
        """An unset variable of a script must not quietly mean something else."""
        for arguments in ([""], ["a.csv", ""], ["a.csv", "-o", ""], ["a.csv", "--json", ""]):
            with self.subTest(arguments=arguments):
                self.refused("solve", *arguments)

    def test_sizes(self):
        """The part of -n that is wrong is quoted."""
        for sizes in ("0", "-5", "abc", "64:32", "64:128:0", "1:1000000:1", "1e3", "64::2", "",
                      "99999999999999999999", "1.5", "8:", ":8", "8:16:*1", "8:16:*", "1:2:3:4",
                      "0x10", "+8", " 8"):
            with self.subTest(sizes=sizes):
                self.refused("bench", "-n", sizes, "--json", "r.json",
                             words=["--sizes", f'"{sizes}"'])
        self.refused("bench", "-n", "8,,16", words=['""'])

    def test_numbers(self):
        """Numbers out of range, of another type and not at all."""
        for name, values in {"threads": ["0", "-1", "abc", "1.5", ""],
                             "runs": ["0", "-1", "abc", "99999999999999999999"],
                             "warmup": ["-1", "abc"], "nrhs": ["0", "-1", "abc"],
                             "units": ["0", "-1", "abc"],
                             "min_time": ["-1", "abc", "nan", "inf"],
                             "max_time": ["-1", "abc", "nan", "inf"],
                             "noise": ["0", "-1%", "20", "abc", "%", "1%%", ""],
                             "timeout": ["0", "-1", "nan", "inf", "abc", ""],
                             "seed": ["abc", "1.5", "-1", "18446744073709551616"]}.items():
            for value in values:
                with self.subTest(name=name, value=value):
                    arguments = small(**{name: value}, json="r.json")
                    self.refused(*arguments, words=["--" + name.replace("_", "-")])

    def test_sizes_in_bytes(self):
        """Up to 2^63 - 1; K, M and G are powers of 1024."""
        for size in ("0", "-1", "", "K", "1T", "1k", "2.5G", "9223372036854775808", "9007199254740992K"):
            with self.subTest(size=size):
                self.refused("solve", "a.csv", "--device-memory", size, words=["--device-memory", "size in bytes"])
        self.write("a.csv", [[2, 1], [1, 2]])
        for size in ("9223372036854775807", "9007199254740991K", "8589934591G"):
            self.lugpu("solve", "a.csv", "--device-memory", size, "--dry-run")

    def test_unknown_baseline(self):
        for value in ("gesv", "getrf,gesv", ""):
            with self.subTest(value=value):
                self.refused("bench", "-n", "8", "--baseline", value, words=RIVALS)

    def test_none_goes_alone(self):
        """As a baseline; it is neither unknown nor one of them."""
        for value in ("none,getrf", "getrf,none", "none,none"):
            message = self.refused("bench", "-n", "8", "--baseline", value, words=["--baseline", "alone"])
            self.assertNotIn("no baseline", message)
        message = self.refused("bench", "-n", "8", "--baseline", "gesv", words=['"gesv"', *RIVALS])
        self.assertNotRegex(message, r"\bnone\b(?!-)(?<!cusolver-none)")

    def test_unknown_kind(self):
        """The kinds that are known are listed."""
        self.refused("bench", "-n", "8", "--matrix", "magic", words=['"magic"', *KINDS])
        self.refused("generate", "magic", "5", "-o", "x.csv", words=['"magic"', *KINDS])

    def test_generate(self):
        for arguments in (["random"], ["random", "5"], ["random", "0", "-o", "x.csv"],
                          ["random", "-5", "-o", "x.csv"], ["random", "abc", "-o", "x.csv"],
                          ["random", "99999999999", "-o", "x.csv"],
                          ["random", "5", "-o", "x.mat"], ["random", "5", "-o", ""],
                          ["random", "5", "6", "-o", "x.csv"],
                          ["random", "5", "-o", "x.csv", "--seed", "-1"]):
            with self.subTest(arguments=arguments):
                self.refused("generate", *arguments)

    def test_leading_zeros_are_decimal(self):
        self.lugpu("generate", "random", "010", "-o", "x.csv")
        self.assertEqual(read_matrix(self.folder / "x.csv").shape, (10, 10))


if __name__ == "__main__":
    main()
