#!/usr/bin/python3
"""`lugpu simulate --window`, on an X server without a screen."""

import os
import re
import shutil
import subprocess
import time
import unittest

from program import SECONDS, CommandLine, main

TOOLS = ["Xvfb", "xdotool", "import"]
NO_DISPLAY = {"DISPLAY": "", "WAYLAND_DISPLAY": "", "SDL_VIDEODRIVER": "x11"}
WINDOW = ["simulate", "fluid", "--scene", "smoke", "--grid", "32x24", "--window"]


class WindowTest(CommandLine):
    def setUp(self):
        super().setUp()
        done = self.run_lugpu(*WINDOW, env=NO_DISPLAY)
        if "libsdl2-dev" in done.stderr:
            self.assertEqual(done.returncode, 2)
            self.skipTest("built without SDL2")

    def start(self, *arguments):
        """The program and its window on a new X server."""
        if missing := [tool for tool in TOOLS if not shutil.which(tool)]:
            self.skipTest("no " + ", ".join(missing))
        server = subprocess.Popen(["Xvfb", "-displayfd", "1", "-screen", "0", "800x700x24", "-nolisten",
                                   "tcp"], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)
        self.addCleanup(server.stdout.close)
        self.addCleanup(server.wait)
        self.addCleanup(server.terminate)
        display = ":" + server.stdout.readline().decode().strip()
        self.x11 = self.environment({"DISPLAY": display, "SDL_VIDEODRIVER": "x11"})
        self.process = subprocess.Popen([self.program, *arguments], cwd=self.folder, env=self.x11,
                                        stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                                        stderr=subprocess.PIPE, encoding="utf-8")
        self.addCleanup(self.process.communicate)
        self.addCleanup(self.process.kill)
        self.window = self.xdotool("search", "--sync", "--onlyvisible", "--name", "^lugpu ").split()[0]
        self.xdotool("windowfocus", "--sync", self.window)

    def xdotool(self, *arguments):
        return subprocess.run(["xdotool", *arguments], env=self.x11, check=True, encoding="utf-8",
                              stdout=subprocess.PIPE, timeout=SECONDS).stdout

    def screenshot(self, name):
        subprocess.run(["import", "-window", "root", name], cwd=self.folder, env=self.x11, check=True,
                       timeout=SECONDS)
        if os.environ.get("LUGPU_SCREENSHOTS"):
            shutil.copy(self.folder / name, os.environ["LUGPU_SCREENSHOTS"])
        return (self.folder / name).read_bytes()

    def expect_title(self, pattern):
        """Waits until the title is as it should be."""
        end = time.monotonic() + SECONDS
        while not re.search(pattern, title := self.xdotool("getwindowname", self.window)):
            self.assertLess(time.monotonic(), end, f"{title} is not {pattern}")
            time.sleep(0.05)
        return title

    def press(self, key, pattern):
        self.xdotool("key", key)
        return self.expect_title(pattern)

    def end(self):
        out, err = self.process.communicate(timeout=SECONDS)
        self.assertEqual((self.process.returncode, err), (0, ""), out)
        return out

    def test_keys(self):
        """Every key does what it should, as the title says."""
        self.start(*WINDOW, "--method", "cg", "--iterations", "8")
        self.expect_title(r"^lugpu fluid smoke, 32 x 24, cg, iterations 8, "
                          r"[0-9.e+]+ frames/s, divergence [0-9.e-]+$")
        self.press("plus", ", iterations 16,")
        self.press("minus", ", iterations 8,")
        self.press("minus", ", iterations 4,")
        self.press("m", "24, (?!cg,)[a-z-]+, iterations 4, .*divergence")
        self.press("space", "paused$")
        title = self.press("r", "iterations 4, paused$")  # nothing is measured before a step
        self.assertNotIn("divergence", title)
        self.press("space", "divergence [0-9.e-]+$")
        self.xdotool("key", "h")
        self.xdotool("key", "q")
        keys = self.end()
        self.assert_narrow(keys)
        for key in ("mouse", "m ", r"\+ -", "space", "r ", "h ", "q, Escape"):
            self.assertRegex(keys, "(?m)^" + key)

    def test_tolerance(self):
        """A tolerance out of reach is said, and the simulation goes on; Escape ends."""
        self.start(*WINDOW, "--method", "cg", "--tolerance", "1e-2")
        self.press("plus", ", tolerance 0.001,")
        self.press("minus", ", tolerance 0.01,")
        for _ in range(10):
            self.xdotool("key", "plus")
        self.expect_title(r"tolerance 1e-12, .*frames/s.* \| ")
        self.press("r", "tolerance 1e-12")
        self.xdotool("key", "Escape")
        self.end()

    def test_methods(self):
        """m comes to every method that takes the system, and back to the first; dense ones too."""
        for arguments, some in ((["fluid"], {"cg", "multigrid-cg", "jacobi"}),
                                (["bubbles", "--scene", "cells"], {"lu", "lu-blocked"})):
            with self.subTest(arguments=arguments):
                self.start("simulate", *arguments, "--grid", "16", "--window")
                first = self.expect_title("16 x 16").split(", ")[2]
                seen, method = {first}, ""
                while method != first:
                    before = method or first
                    method = self.press("m", f"16 x 16, (?!{before},)").split(", ")[2]
                    self.assertTrue(method == first or method not in seen, (method, seen))
                    seen.add(method)
                self.assertLessEqual(some, seen)
                self.xdotool("key", "q")
                self.end()

    def test_mouse(self):
        """A drag presses the water, which is still without it, down where the mouse is."""
        self.start("simulate", "wave", "--scene", "still", "--grid", "64x32", "--window")
        self.expect_title("frames/s")
        still = self.screenshot("still.png")
        time.sleep(0.2)
        self.assertEqual(self.screenshot("later.png"), still)
        self.xdotool("key", "space")
        self.expect_title("paused$")
        at = dict(line.split("=") for line in
                  self.xdotool("getwindowgeometry", "--shell", self.window).splitlines())
        self.assertEqual((at["WIDTH"], at["HEIGHT"]), ("640", "320"))
        self.xdotool("mousemove", "--window", self.window, "64", "64", "mousedown", "1")
        for x in range(64, 200, 8):
            self.xdotool("mousemove", "--window", self.window, str(x), "64")
        self.xdotool("mouseup", "1")
        time.sleep(0.3)
        self.assertNotEqual(self.screenshot("pushed.png"), still)
        # In the upper left quarter there is a hole; in the lower right one the level has risen a bit.
        changes = {}
        for name, x, y in (("quarter", 0, 0), ("other", 320, 160)):
            crops = [subprocess.run(
                ["convert", f"{shot}.png", "-crop",
                 f"320x160+{int(at['X']) + x}+{int(at['Y']) + y}", "rgb:-"],
                cwd=self.folder, check=True, stdout=subprocess.PIPE).stdout for shot in ("still", "pushed")]
            changes[name] = max(abs(one - other) for one, other in zip(*crops))
        self.assertGreater(changes["quarter"], 100)
        self.assertLess(changes["other"], 40)
        self.xdotool("key", "space")
        self.expect_title("frames/s")
        self.screenshot("waves.png")
        self.xdotool("windowsize", "--sync", self.window, "700", "600")
        time.sleep(0.3)
        self.screenshot("resized.png")
        self.xdotool("key", "q")
        self.end()

    def test_steps(self):
        """It closes itself after so many."""
        done = self.lugpu(*WINDOW, "--steps", "40", env={"SDL_VIDEODRIVER": "dummy"})
        self.assertEqual(done.stdout, "")

    def test_no_display(self):
        for driver in ("x11", "wayland", "nonsense", ""):
            for display in ("", ":4711"):
                with self.subTest(driver=driver, display=display):
                    env = NO_DISPLAY | {"SDL_VIDEODRIVER": driver, "DISPLAY": display,
                                        "XDG_RUNTIME_DIR": str(self.folder)}
                    self.refused(*WINDOW, status=1, env=env, words=["needs a display"])

    def test_usage(self):
        for option in ("--frames", "--animate", "--profile", "--json", "--every"):
            self.refused(*WINDOW, option, "1", words=["--window", option], env=NO_DISPLAY)


if __name__ == "__main__":
    main()
