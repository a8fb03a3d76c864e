#!/usr/bin/python3
"""Files that are written: where they cannot be, what they replace, and what a signal leaves."""

import contextlib
import os
import re
import shutil
import signal
import subprocess
import threading
import time
from pathlib import Path

from program import ROOT, SECONDS, CommandLine, main, parse_report, small

PROBE = ["probe", "-n", "16", "--runs", "1", "--probes", "vectors"]


class OutputTest(CommandLine):
    """Where results cannot go."""

    def setUp(self):
        super().setUp()
        self.write("a.csv", [[2.0]])

    def failed(self, *arguments):
        """Status 1, one line on stderr, no file."""
        before = self.file_names()
        done = self.lugpu(*arguments, status=1)
        self.assertRegex(done.stderr, r"\Alugpu: [^\n]+\n\Z")
        self.assertEqual(self.file_names(), before)
        return done

    def test_folder_that_does_not_exist(self):
        for command in (["solve", "a.csv", "-o", "none/x.csv"],
                        ["solve", "a.csv", "--json", "none/r.json"],
                        [*small(), "--json", "none/r.json"],
                        ["generate", "random", "5", "-o", "none/x.csv"]):
            with self.subTest(command=command):
                self.assertIn(command[-1], self.failed(*command).stderr)

    def test_nothing_is_done_before_a_refusal(self):
        """Not even a kernel is built, which -v would say."""
        (self.folder / "folder.json").mkdir()
        for path in ("none/r.json", "folder.json"):
            for command in (["solve", "a.csv"], ["advise", "a.csv"], small(),
                            PROBE, ["verify"]):
                with self.subTest(command=command, path=path):
                    done = self.failed(*command, "-v", "--json", path)
                    self.assertEqual(done.stdout, "")
                    self.assertIn(path, done.stderr)
        self.write("zero.csv", [[0.0]])
        for flag in ("-o", "--inverse"):  # a singular matrix would be status 3
            self.assertIn("none/x.csv", self.failed("solve", "zero.csv", flag, "none/x.csv").stderr)

    def test_a_pipe_is_written_into(self):
        """It stays where it is, and its reader gets the file, once."""
        for command, flag, name in ((["solve", "a.csv"], "-o", "x.csv"),
                                    (["solve", "a.csv"], "--json", "r.json"),
                                    (small(sizes="8,16"), "--json", "s.json"),
                                    (PROBE, "--json", "p.json")):
            with self.subTest(command=command, flag=flag):
                pipe = self.folder / name
                os.mkfifo(pipe)
                texts = []
                reader = threading.Thread(
                    target=lambda: texts.append(pipe.read_text(encoding="utf-8")), daemon=True)
                reader.start()
                self.lugpu(*command, flag, name)
                reader.join(SECONDS)
                self.assertTrue(pipe.is_fifo())
                if flag == "--json":
                    parse_report(texts[0])
                else:
                    self.assertEqual(texts, ["1\n"])

    def test_dev_stdout_is_as_a_dash(self):
        """Behind a pipe and a file there is the JSON and nothing else."""
        for command in (["solve", "a.csv"], small(), ["advise", "a.csv"]):
            with self.subTest(command=command):
                self.assertTrue(parse_report(self.lugpu(*command, "--json", "/dev/stdout").stdout))
        for path in ("/dev/stdout", "out.json"):
            with self.subTest(path=path):
                with open(self.folder / "out.json", "wb") as out:
                    self.assertEqual(self.run_lugpu(*small(), "--json", path, stdout=out).returncode, 0)
                report = (self.folder / "out.json").read_text(encoding="utf-8")
                self.assertEqual(len(parse_report(report)), 1)

    def test_dev_null(self):
        done = self.lugpu("solve", "a.csv", "--json", "/dev/null")
        self.assertIn("passed", done.stdout)

    def test_device_that_may_not_be_written(self):
        """A disk is not filled with a matrix."""
        disks = [path for path in Path("/dev").iterdir() if path.is_block_device()]
        if not disks:
            self.skipTest("there is no disk")
        self.assertIn("disk", self.failed("solve", "a.csv", "--json", str(disks[0])).stderr)

    def test_full_disk_behind_stdout(self):
        """Lost text is a failure, so that a script does not continue without it."""
        for command in (["devices"], ["solve", "a.csv"], ["solve", "a.csv", "--json", "-"],
                        [*small(), "--json", "-"]):
            with self.subTest(command=command), open("/dev/full", "wb") as full:
                done = self.run_lugpu(*command, stdout=full, env={"TMPDIR": str(self.folder)})
                self.assertEqual(done.returncode, 1)
                self.assertRegex(done.stderr, r"\Alugpu: [^\n]+\n\Z")


class OverwriteTest(CommandLine):
    """Outputs that are the same file as an input, another output or an older sweep."""

    def setUp(self):
        super().setUp()
        self.write("a.csv", [[2.0]])
        self.write("b.csv", [[4.0]])
        os.symlink("a.csv", self.folder / "link.csv")
        os.link(self.folder / "a.csv", self.folder / "hard.csv")
        os.symlink("nowhere.csv", self.folder / "open.csv")
        os.symlink(".", self.folder / "here")

    def contents(self):
        return {path.name: path.read_bytes() for path in self.folder.iterdir() if path.is_file()}

    def kept(self, *arguments, words=()):
        """Refused, and every file is as it was."""
        before = self.contents()
        self.refused(*arguments, words=words)
        self.assertEqual(self.contents(), before)

    def test_inputs(self):
        for same in ("a.csv", "./a.csv", "link.csv", "hard.csv", "here/a.csv", str(self.folder / "a.csv")):
            for flag in ("-o", "--inverse", "--json"):
                with self.subTest(same=same, flag=flag):
                    self.kept("solve", "a.csv", flag, same, words=[flag, same, "MATRIX a.csv", "--force"])
        self.kept("solve", "link.csv", "-o", "a.csv", words=["MATRIX link.csv"])
        self.kept("solve", "a.csv", "b.csv", "-o", "b.csv", words=["-o b.csv", "RHS b.csv"])
        self.kept("advise", "a.csv", "b.csv", "--json", "b.csv", words=["--json b.csv", "RHS b.csv"])

    def test_kernels(self):
        shutil.copytree(ROOT / "kernels", self.folder / "kernels")
        kernel = "kernels/common/surface.clh"
        before = (self.folder / kernel).read_bytes()
        self.refused("solve", "a.csv", "--kernel-dir", "kernels", "--json", kernel, words=[kernel])
        self.assertEqual((self.folder / kernel).read_bytes(), before)

    def test_one_another(self):
        for one, other in (("s.csv", "s.csv"), ("s.csv", "./s.csv"), ("s.csv", "here/s.csv"),
                           ("open.csv", "nowhere.csv"), ("b.csv", "b.csv")):
            for flags in (["-o", "--inverse"], ["-o", "--json"], ["--inverse", "--json"]):
                for force in ([], ["--force"]):
                    with self.subTest(one=one, other=other, flags=flags, force=force):
                        self.kept("solve", "a.csv", flags[0], one, flags[1], other, *force,
                                  words=[f"{flags[0]} {one}", f"{flags[1]} {other}"])

    def test_devices_and_other_files_may_be_named_twice(self):
        os.symlink("/dev/null", self.folder / "null.csv")
        self.lugpu("solve", "a.csv", "-o", "null.csv", "--json", "/dev/null")
        self.lugpu("solve", "a.csv", "-o", "x.csv")
        self.lugpu("solve", "b.csv", "b.csv", "-o", "x.csv")  # as cp
        self.assertEqual((self.folder / "x.csv").read_text(encoding="utf-8"), "1\n")

    def test_through_a_link_to_a_file_to_be(self):
        self.lugpu("solve", "a.csv", "-o", "open.csv")
        self.assertTrue((self.folder / "open.csv").is_symlink())
        self.assertEqual((self.folder / "nowhere.csv").read_text(encoding="utf-8"), "1\n")

    def test_force(self):
        self.lugpu("solve", "a.csv", "-o", "a.csv", "--force")
        self.assertEqual((self.folder / "a.csv").read_text(encoding="utf-8"), "1\n")

    def test_an_older_sweep(self):
        self.lugpu(*small(), "--json", "s.json")
        for command in (small(sizes=16), ["solve", "a.csv"], ["advise", "a.csv"], ["verify"],
                        PROBE):
            with self.subTest(command=command):
                self.kept(*command, "--json", "s.json", words=["--json s.json", "--force", "--resume"])
        for command, rows in ((small(sizes=16), 1), (small(sizes=8) + ["--resume"], 2), (["solve", "a.csv"], 1),
                              (["solve", "b.csv"], 1)):
            force = [] if "--resume" in command or command[-1] == "b.csv" else ["--force"]
            with self.subTest(command=command):
                self.lugpu(*command, "--json", "s.json", *force)
                report = (self.folder / "s.json").read_text(encoding="utf-8")
                self.assertEqual(len(parse_report(report)), rows)


class KeptElsewhereTest(CommandLine):
    """Results that turn out not to be writable where they should be."""

    def setUp(self):
        super().setUp()
        self.write("a.csv", [[2.0]])
        os.symlink("/dev/full", self.folder / "full.csv")
        (self.folder / "tmp").mkdir()

    def kept(self, *arguments, stdout=subprocess.PIPE, tmp="tmp"):
        """The text that is elsewhere, as one line on stderr says."""
        done = self.run_lugpu(*arguments, stdout=stdout, env={"TMPDIR": str(self.folder / tmp)})
        self.assertEqual(done.returncode, 1, done.stderr)
        line, = [line for line in done.stderr.splitlines() if "cannot be written" in line
                 or "Cannot write" in line]
        place = Path(re.search(r" is in (/\S+)\.$", line).group(1))
        text = place.read_text(encoding="utf-8")
        self.addCleanup(shutil.rmtree, place.parent, ignore_errors=True)
        self.assertEqual(place.parent.parent == self.folder / "tmp", tmp == "tmp")
        return done, text

    def test_full_disk(self):
        done, text = self.kept("solve", "a.csv", "-o", "full.csv")
        self.assertEqual(text, "1\n")
        self.assertNotIn("written to", done.stdout)
        for command in (["solve", "a.csv"], ["advise", "a.csv"], small(), PROBE):
            with self.subTest(command=command):
                parse_report(self.kept(*command, "--json", "/dev/full")[1])

    def test_full_disk_behind_stdout(self):
        for command in (["solve", "a.csv"], small()):
            with self.subTest(command=command), open("/dev/full", "wb") as full:
                self.assertEqual(len(parse_report(self.kept(*command, "--json", "-", stdout=full)[1])), 1)

    def test_no_temporary_folder(self):
        self.assertEqual(self.kept("solve", "a.csv", "-o", "full.csv", tmp="none")[1], "1\n")

    def test_the_other_files_are_written(self):
        self.kept("solve", "a.csv", "-o", "full.csv", "--inverse", "i.csv", "--json", "r.json")
        self.assertEqual((self.folder / "i.csv").read_text(encoding="utf-8"), "0.5\n")
        row, = parse_report((self.folder / "r.json").read_text(encoding="utf-8"))
        self.assertEqual(row["status"], "ok")

    def test_a_folder_that_is_moved_in_a_sweep(self):
        """The sweep continues, with all its results in another file."""
        folder = self.folder / "sub"
        folder.mkdir()
        process = subprocess.Popen(
            [self.program, *small(sizes="8:128:8", runs=3), "--json", "sub/s.json"], cwd=self.folder,
            env=self.environment({"TMPDIR": str(self.folder / "tmp")}), stdout=subprocess.DEVNULL,
            stderr=subprocess.PIPE, encoding="utf-8")
        while not (folder / "s.json").exists():
            self.assertIsNone(process.poll(), "the sweep ended too early")
            time.sleep(0.001)
        folder.rename(self.folder / "away")
        _, words = process.communicate(timeout=SECONDS)
        self.assertEqual(process.returncode, 1)
        self.assertRegex(words, r"\Alugpu: sub/s\.json: cannot be written[^\n]*\n\Z")
        kept, = (self.folder / "tmp").glob("*/s.json")
        self.assertEqual(len(parse_report(kept.read_text(encoding="utf-8"))), 16)


class SignalTest(CommandLine):
    def writes(self, process):
        """Waits until some of big.csv is in its unfinished file."""
        started = False
        while not started:
            self.assertIsNone(process.poll(), "it was written too soon")
            time.sleep(0.001)
            for path in self.folder.glob("big.csv.*.tmp"):
                with contextlib.suppress(FileNotFoundError):
                    started = path.stat().st_size > 0

    def test_no_unfinished_file_stays(self):
        for how in (signal.SIGHUP, signal.SIGINT, signal.SIGTERM):
            with self.subTest(how=how):
                process = self.start_lugpu("generate", "random", "1500", "-o", "big.csv")
                self.writes(process)
                process.send_signal(how)
                self.assertEqual(process.wait(SECONDS), -how)
                self.assertEqual(self.file_names(), [])

    def test_an_ignored_signal_stays_ignored(self):
        """As under nohup."""
        process = subprocess.Popen(
            [self.program, "generate", "random", "1000", "-o", "big.csv"], cwd=self.folder,
            preexec_fn=lambda: signal.signal(signal.SIGHUP, signal.SIG_IGN))
        self.writes(process)
        process.send_signal(signal.SIGHUP)
        self.assertEqual(process.wait(SECONDS), 0)
        self.assertEqual(self.file_names(), ["big.csv"])


if __name__ == "__main__":
    main()
