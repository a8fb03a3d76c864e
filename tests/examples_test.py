#!/usr/bin/python3
"""The examples, built against the installed library as other programs are, and what the library promises them:
headers that stand alone, few dependencies, only versioned names of the API. Only the components that other
programs need are installed.

Run it as: /usr/bin/python3 tests/examples_test.py BUILD_DIR [arguments of unittest]
"""

import os
import pathlib
import re
import shlex
import subprocess
import sys
import tempfile
import unittest

if len(sys.argv) < 2:
    sys.exit(__doc__)
BUILD = pathlib.Path(sys.argv.pop(1)).resolve()
SOURCE = pathlib.Path(__file__).resolve().parent.parent
EXAMPLES = SOURCE / "examples"
NAMES = ["devices", "factorize", "fluid", "solve", "sparse"]
SECONDS = 300  # that a command may take
# With the C library's own loader, which threads' variables need.
NEEDED = {"libOpenCL.so.1", "libstdc++.so.6", "libgcc_s.so.1", "libm.so.6", "libc.so.6", "ld-linux-x86-64.so.2"}

# What include/lugpu declares, and the type of its exception.
API = re.compile(r"""lugpu::(
    list_devices\(|choose_devices?\(|simulation_scenes|solve\(|name\(lugpu::Pivot\)|pivot_name(s|d)\b|
    Context::|Error::|Determinant::multiply\(|Checks::(failure|digits)\b|Simulation::|(Batch)?Factorization<(float|double)>::)|
    .*\blugpu::(solve|factorize|adopt|solve_batch|factorize_batch)<(float|double)>\(|
    (typeinfo|typeinfo\ name|vtable)\ for\ lugpu::Error$""", re.VERBOSE)


def run(*command, check=True, **options):
    done = subprocess.run([str(word) for word in command], text=True, capture_output=True, timeout=SECONDS,
                          **options)
    if check and done.returncode != 0:
        raise AssertionError(f"{command} ended with {done.returncode}:\n{done.stdout}{done.stderr}")
    return done


def setUpModule():
    global work, prefix, libdir
    folder = tempfile.TemporaryDirectory()
    unittest.addModuleCleanup(folder.cleanup)
    work = pathlib.Path(folder.name)
    prefix = work / "the prefix"
    for component in ("library", "development"):
        run("cmake", "--install", BUILD, "--component", component, "--prefix", prefix)
    libdir = next(prefix.glob("lib/**/liblugpu.so.0")).parent


class ExamplesTest(unittest.TestCase):
    def check(self, programs, **options):
        """The output of each example against the truth."""
        self.assertEqual(sorted(path.stem for path in EXAMPLES.glob("*.cpp")), NAMES)
        out = {name: run(programs / name, **options).stdout for name in NAMES}
        x = [float(line.split()[-1]) for line in out["solve"].splitlines() if line.startswith("x =")]
        self.assertEqual([round(value, 12) for value in x], [1, 1, 2])
        self.assertIn("status: ok\n", out["solve"])
        self.assertGreaterEqual(int(re.search(r"at least (\d+) digits", out["solve"])[1]), 12)

        number = r"([-+.e\d]+)\n"
        self.assertIn("50 systems", out["factorize"])
        self.assertLess(float(re.search("largest relative error " + number, out["factorize"])[1]), 1e-11)
        self.assertIn("determinant 101\n", out["factorize"])
        self.assertIn("condition number 5100\n", out["factorize"])
        self.assertIn("inverse(1, 1) = 0.9900990099\n", out["factorize"])

        listed = re.findall(r"(?m)^\d+: (.+) \(\w+, \d+ compute units", out["devices"])
        timed = re.findall(r"(?m)^(.+): n = 500, largest error (.+)\n((?:  \w+ +[.\d]+ ms\n)+)", out["devices"])
        self.assertTrue(listed)
        self.assertEqual([name for name, error, phases in timed], listed)
        for name, error, phases in timed:
            self.assertLess(float(error), 1e-4)
            self.assertEqual(set(re.findall(r"(?m)^  (\w+)", phases)), {"upload", "factor", "solve", "download"})

        lines = re.findall(r"(?m)^(\S+): (\d+) iterations, largest error " + number.replace(r"\n", " of (\\d+); (.*)$"),
                           out["sparse"])
        self.assertEqual([line[0] for line in lines], ["banded", "cg"])
        for _, _, error, largest, _ in lines:
            self.assertLess(float(error), 1e-9 * float(largest))
        self.assertEqual([int(line[1]) > 0 for line in lines], [False, True])
        self.assertEqual([bool(line[4]) for line in lines], [True, False])

        self.assertIn("256 x 256 cells by fast-diagonal: ", out["fluid"])
        self.check_smoke(out["fluid"])
        picture = work / "smoke.ppm"
        self.check_smoke(run(programs / "fluid", "64", picture, **options).stdout)
        header, _, pixels = picture.read_bytes().partition(b"\n")
        self.assertEqual((header, len(pixels)), (b"P6 256 256 255", 3 * 256**2))
        # From the top: the source is low and in the middle, yellow on blue.
        source, corner = (tuple(pixels[3 * (256 * y + x):][:3]) for x, y in ((128, 225), (2, 253)))
        self.assertGreater(source[0], 200)
        self.assertEqual(corner, (0, 34, 78))
        done = run(programs / "fluid", "1", check=False, **options)
        self.assertEqual((done.returncode, done.stderr), (1, "A fluid needs at least 2 cells along each axis.\n"))

        done = run(programs / "devices", "no such device", check=False, **options)
        self.assertEqual(done.returncode, 1)
        self.assertRegex(done.stderr, r'^There is no OpenCL device "no such device"; there are: .*\n$')
        one = run(programs / "devices", "0", **options).stdout
        self.assertEqual(one.count("n = 500"), 1)

    def check_smoke(self, out):
        self.assertGreater(float(re.search(r": ([.\d]+) frames/s\n", out)[1]), 0)
        left = float(re.search(r"divergence: at most (.+) of it is left\n", out)[1])
        self.assertTrue(0 < left <= 1e-4, out)
        self.assertTrue(1 < float(re.search(r"(?m)^([.\d]+) % of the box is smoke", out)[1]) < 50, out)

    def test_find_package(self):
        build = work / "by CMake"
        run("cmake", "-S", EXAMPLES, "-B", build, f"-DCMAKE_PREFIX_PATH={prefix}", "-DCMAKE_CXX_FLAGS=-Wall -Werror",
            "-DCMAKE_FIND_USE_CMAKE_SYSTEM_PATH=OFF")
        run("cmake", "--build", build)
        self.check(build)

    def test_pkg_config(self):
        environment = os.environ | {"PKG_CONFIG_PATH": str(libdir / "pkgconfig"), "LD_LIBRARY_PATH": str(libdir)}
        flags = shlex.split(run("pkg-config", "--cflags", "--libs", "lugpu", env=environment).stdout)
        programs = work / "by pkg-config"
        programs.mkdir()
        for name in NAMES:
            run("g++", "-std=c++20", EXAMPLES / f"{name}.cpp", *flags, "-o", programs / name, env=environment)
        self.check(programs, env=environment)

    def test_guide(self):
        """The programs in docs/library.md, and the output that it shows of them."""
        guide = (SOURCE / "docs/library.md").read_text()
        found = re.findall(r"(?s)```cpp\n(.*?)```\n(?:[^`]*prints:?\n\n```\n(.*?)```)?", guide)
        found = [(program, output) for program, output in found if "int main" in program]
        self.assertEqual(len(found), 3)
        environment = os.environ | {"PKG_CONFIG_PATH": str(libdir / "pkgconfig"), "LD_LIBRARY_PATH": str(libdir)}
        flags = shlex.split(run("pkg-config", "--cflags", "--libs", "lugpu", env=environment).stdout)
        for program, output in found:
            (work / "guide.cpp").write_text(program)
            run("g++", "-std=c++20", "-Wall", "-Werror", work / "guide.cpp", *flags, "-o", work / "guide", env=environment)
            self.assertEqual(run(work / "guide", env=environment).stdout, output)

    def test_are_short(self):
        for name in NAMES:
            self.assertLess(len((EXAMPLES / f"{name}.cpp").read_text().splitlines()), 80, name)


class LibraryTest(unittest.TestCase):
    def test_each_header_stands_alone(self):
        """In C++20 with all warnings. Of the OpenCL headers, which are in the compiler's own folders, none."""
        headers = sorted((prefix / "include/lugpu").glob("*.hpp"))
        self.assertTrue(headers)
        for header in headers:
            with self.subTest(header=header.name):
                source = work / "one_header.cpp"
                source.write_text(f"#include <lugpu/{header.name}>\n")
                done = run("g++", "-std=c++20", "-pedantic-errors", "-Wall", "-Wextra", "-Werror", "-fsyntax-only", "-H",
                           "-I", prefix / "include", source)
                self.assertNotRegex(done.stderr, r"(?i)/CL/|opencl")
                ours = set(re.findall(r"(?m)^\.+ (.*/lugpu/.*)$", done.stderr))
                self.assertEqual({pathlib.Path(path).parent for path in ours}, {prefix / "include/lugpu"})

    @unittest.skipIf("ASAN_OPTIONS" in os.environ, "sanitizers have libraries of their own")
    def test_dependencies(self):
        dynamic = run("readelf", "-d", libdir / "liblugpu.so.0", env=os.environ | {"LC_ALL": "C"}).stdout
        self.assertLessEqual(set(re.findall(r"NEEDED.*\[(.*)\]", dynamic)), NEEDED)
        self.assertIn("Library soname: [liblugpu.so.0]", dynamic)
        self.assertNotRegex(dynamic, "RPATH|RUNPATH")

    def test_exported_names(self):
        """The API and nothing else, all of them of version LUGPU_0."""
        out = run("nm", "-DC", "--defined-only", "--with-symbol-versions", libdir / "liblugpu.so.0").stdout
        names = [line.split(maxsplit=2)[2] for line in out.splitlines()]
        names.remove("LUGPU_0")
        for name in names:
            with self.subTest(name=name):
                self.assertTrue(name.endswith("@@LUGPU_0"))
                self.assertRegex(name.removesuffix("@@LUGPU_0"), re.compile("^(" + API.pattern + ")", re.VERBOSE))
        for call in ("solve", "factorize", "adopt", "list_devices", "choose_device"):
            self.assertTrue([name for name in names if f"lugpu::{call}" in name], call)


if __name__ == "__main__":
    unittest.main()
