#!/usr/bin/python3
"""What users get: the installed files, man pages, completion in shells, the library for other programs, and
the Debian packages. What a tool is needed for that the system does not have is skipped.

Run it as: /usr/bin/python3 tests/install_test.py BUILD_DIR [arguments of unittest]
"""

import glob
import gzip
import os
import pathlib
import pty
import re
import select
import shlex
import shutil
import subprocess
import sys
import tempfile
import time
import unittest

if len(sys.argv) < 2:
    sys.exit(__doc__)
BUILD = pathlib.Path(sys.argv.pop(1)).resolve()
SECONDS = 300  # that a command may take
PACKAGE_LIBRARY = (BUILD / "lugpu.pc").exists()
COMPLETION = "/usr/share/bash-completion/bash_completion"


def run(*command, check=True, **options):
    done = subprocess.run([str(word) for word in command], text=True, capture_output=True, timeout=SECONDS,
                          **options)
    if check and done.returncode != 0:
        raise AssertionError(f"{command} ended with {done.returncode}:\n{done.stdout}{done.stderr}")
    return done


def needs(*programs):
    missing = [program for program in programs if not shutil.which(program)]
    return unittest.skipIf(missing, "not installed: " + ", ".join(missing))


def tree(folder):
    """Paths of all files and links, without the folder."""
    return {str(path.relative_to(folder)) for path in folder.rglob("*") if path.is_symlink() or path.is_file()}


def subcommands(lugpu):
    """As `lugpu --help` lists them."""
    listed = run(lugpu, "--help").stdout.partition("Subcommands:\n")[2].partition("\n\n")[0]
    return re.findall(r"(?m)^  (\S+)", listed)


class Installed(unittest.TestCase):
    """Installed once, under a prefix with a blank in its name."""

    @classmethod
    def setUpClass(cls):
        cls.folder = tempfile.TemporaryDirectory()
        cls.addClassCleanup(cls.folder.cleanup)
        cls.prefix = pathlib.Path(cls.folder.name, "the prefix")
        run("cmake", "--install", BUILD, "--prefix", cls.prefix)
        cls.lugpu = cls.prefix / "bin/lugpu"
        cls.libdir = next(cls.prefix.glob("lib/**/liblugpu_lapack.so")).parent
        cls.work = pathlib.Path(cls.folder.name, "work")
        cls.work.mkdir()
        for name in ("A.npy", "B.mtx", "notes.txt"):
            (cls.work / name).touch()
        (cls.work / "kernels").mkdir()

    def shell(self, **more):
        """The environment of a shell that finds the program and its completion."""
        return {"PATH": f"{self.prefix}/bin:{os.environ['PATH']}", "HOME": self.folder.name, "TERM": "dumb",
                "XDG_DATA_DIRS": f"{self.prefix}/share:/usr/local/share:/usr/share", "LC_ALL": "C.UTF-8"} | more


class FilesTest(Installed):
    def test_program(self):
        """It stands alone: the version and the kernels are in it."""
        self.assertRegex(run(self.lugpu, "--version").stdout, r"^lugpu \d+\.\d+\.\d+\n$")
        self.assertIn("Usage: lugpu solve", run(self.lugpu, "help", "solve").stdout)

    def test_what_the_build_asks_for_is_in_no_help(self):
        self.assertNotIn("--format", run(self.lugpu, "help", "--help").stdout)

    def test_files(self):
        share = {str(pathlib.Path("share", name)) for name in
                 ["bash-completion/completions/lugpu", "zsh/vendor-completions/_lugpu",
                  "fish/vendor_completions.d/lugpu.fish", "doc/lugpu/LICENSE", "doc/lugpu/README.md",
                  "doc/lugpu/CHANGELOG.md", "doc/lugpu/docs/lugpu.schema.json"]}
        pages = {f"share/man/man1/{page}.1.gz" for page in
                 ["lugpu", *("lugpu-" + command for command in subcommands(self.lugpu))]}
        lib = str(self.libdir.relative_to(self.prefix))
        lapack = {f"{lib}/liblugpu_lapack.so", f"{lib}/liblugpu_lapack.so.0", f"{lib}/lugpu/liblapack.so.3"}
        files = tree(self.prefix)
        self.assertLessEqual({"bin/lugpu"} | share | pages | lapack, files)
        more = {name for name in files - share - pages - lapack - {"bin/lugpu"}
                if not re.match(r"include/lugpu/|share/doc/lugpu/docs/.*\.(md|svg)$", name)}
        if (BUILD / "liblugpu_mpi.so").exists():
            more -= {f"{lib}/{name}" for name in ["lugpu/liblugpu_mpi.so", "liblugpu_scalapack.so",
                                                  "liblugpu_scalapack.so.0"]}
        if PACKAGE_LIBRARY:
            more -= {f"{lib}/{name}" for name in ["liblugpu.so", "liblugpu.so.0", "pkgconfig/lugpu.pc"]}
            more = {name for name in more if not re.match(lib + r"/(cmake/lugpu/|liblugpu\.so\.0\.)", name)}
        self.assertEqual(more, set())

    @needs("readelf")
    def test_sonames(self):
        sonames = {"liblugpu_lapack.so": "liblugpu_lapack.so.0", "lugpu/liblapack.so.3": "liblapack.so.3"}
        if PACKAGE_LIBRARY:
            sonames["liblugpu.so"] = "liblugpu.so.0"
        for file, soname in sonames.items():
            with self.subTest(file=file):
                dynamic = run("readelf", "-d", self.libdir / file, env={"LC_ALL": "C"}).stdout
                self.assertIn(f"Library soname: [{soname}]", dynamic)


class VersionTest(Installed):
    WORDS = ["revision", "compiler", "system", "processor", "OpenCL loader", "BLAS", "LAPACK", "kernels"]

    def test_bug_report(self):
        """In either order; with the variables that matter."""
        environment = os.environ | {"OMP_NUM_THREADS": "3"}
        texts = [run(self.lugpu, *words, env=environment).stdout for words in
                 (["--version", "-v"], ["-v", "--version"], ["-V", "-v"], ["-Vv"], ["--verbose", "-V"])]
        self.assertEqual(len(set(texts)), 1)
        lines = texts[0].splitlines()
        self.assertEqual(lines[0] + "\n", run(self.lugpu, "-V").stdout)
        for word in self.WORDS:
            self.assertEqual(sum(line.startswith(word) for line in lines), 1, word)
        self.assertIn("OMP_NUM_THREADS=3", texts[0])
        self.assertRegex(texts[0], r"(?m)^device 0 .*")
        self.assertIn("libOpenCL.so", texts[0])
        self.assertLessEqual(max(map(len, lines)), 100)

    def test_without_opencl(self):
        """One line, not a failure."""
        done = run(self.lugpu, "--version", "-v", env=os.environ | {"OCL_ICD_VENDORS": "/dev/null/none"})
        self.assertRegex(done.stdout, r"(?m)^device +none: ")
        self.assertNotIn("platform", done.stdout)
        self.assertIn("kernels", done.stdout)

    def test_verbose_needs_version(self):
        for words in (["-v"], ["-v", "devices"]):
            done = run(self.lugpu, *words, check=False)
            self.assertEqual((done.returncode, done.stdout), (2, ""))


class ManPagesTest(Installed):
    SECTIONS = ["NAME", "SYNOPSIS", "DESCRIPTION", "OPTIONS", "EXIT STATUS", "ENVIRONMENT", "EXAMPLES", "SEE ALSO"]

    def pages(self):
        """Path, subcommand and roff of the pages, in the order of the help."""
        commands = ["", *subcommands(self.lugpu)]
        paths = [self.prefix / f"share/man/man1/lugpu{'-' * bool(command)}{command}.1.gz" for command in commands]
        return [(path, command, gzip.decompress(path.read_bytes()).decode())
                for path, command in zip(paths, commands)]

    def plain(self, roff):
        return run("groff", "-man", "-Tutf8", "-P-bcou", "-rLL=200n", input=roff).stdout

    @needs("groff")
    def test_groff_without_warnings(self):
        for path, command, roff in self.pages():
            with self.subTest(page=path.name):
                done = run("groff", "-man", "-Tutf8", "-w", "all", input=roff)
                self.assertEqual(done.stderr, "")
                wanted = [*self.SECTIONS]
                if not command:
                    wanted.insert(wanted.index("OPTIONS"), "COMMANDS")
                self.assertEqual(re.findall(r"(?m)^\.SH (.*)", roff), wanted)

    @needs("mandoc")
    def test_mandoc_lint(self):
        for path, _, roff in self.pages():
            with self.subTest(page=path.name):
                self.assertEqual(run("mandoc", "-T", "lint", check=False, input=roff).stdout, "")

    @needs("man", "lexgrog")
    def test_man(self):
        """man shows it, and whatis would find it."""
        for path, command, _ in self.pages():
            with self.subTest(page=path.name):
                name = path.name.partition(".")[0]
                self.assertRegex(run("lexgrog", path).stdout, f'"{name} - [^"]+"')
                done = run("man", "--warnings=all", "-l", path,
                           env=os.environ | {"MANWIDTH": "80", "LC_ALL": "C.UTF-8"})
                self.assertEqual(done.stderr, "")
                self.assertIn(f"lugpu {command}".strip(), done.stdout)

    @needs("groff")
    def test_says_what_the_help_says(self):
        """The same options, the same exit statuses, the same words of description."""
        for path, command, roff in self.pages():
            with self.subTest(page=path.name):
                text = run(self.lugpu, *command.split(), "--help").stdout
                options = re.findall(r"(?m)^  (?:(-\w),)?(--[\w-]+)", text)
                self.assertTrue(options)
                page = self.plain(roff)
                listed = page.partition("\nOPTIONS\n")[2].partition("\nEXIT STATUS\n")[0]
                self.assertEqual(re.findall(r"(?m)^       (?:(-\w), )?(--[\w-]+)", listed), options)
                listed = text.partition("Exit status: ")[2]
                statuses = re.findall(r"(?m)^       (\d) +\S", page.partition("EXIT STATUS")[2])
                self.assertEqual(statuses, re.findall(r"(?:^|, )(\d) ", " ".join(listed.split())))
                marks = {"usage", "positionals", "subcommands", "required", "env", "needs", "excludes"}
                words = [set(re.findall("[a-z]+", text.lower())) for text in (text, page)]
                self.assertEqual(words[0] - words[1] - marks, set())

    def test_examples(self):
        """They run, one after the other in an empty folder."""
        with tempfile.TemporaryDirectory() as folder:
            for path, _, roff in self.pages():
                with self.subTest(page=path.name):
                    examples = re.findall(r"\.EX\n(.*)\n\.EE", roff)
                    self.assertTrue(examples)
                    for example in examples:
                        command = example.replace("\\-", "-").replace("\\(ti", "~").replace("\\(aq", "'")
                        self.assertNotIn("\\", command)
                        if re.match("lugpu (verify|tune|probe)", command):  # which their own tests run to the end
                            command = f"timeout 2 {command} || test $? = 124"
                        command = re.sub("^lugpu bench ", "lugpu bench --runs 2 --min-time 0 ", command)
                        run("sh", "-c", command, cwd=folder, env=os.environ | {"PATH": self.shell()["PATH"]})
            self.assertIn("x.npy", os.listdir(folder))


class Terminal:
    """An interactive shell on a terminal of its own."""

    def __init__(self, *command, **options):
        self.ours, theirs = pty.openpty()
        self.process = subprocess.Popen(command, stdin=theirs, stdout=theirs, stderr=theirs,
                                        start_new_session=True, **options)
        os.close(theirs)

    def send(self, text):
        os.write(self.ours, text.encode())

    def read_until(self, end):
        text, deadline = "", time.monotonic() + 60
        while end not in text:
            if not select.select([self.ours], [], [], max(0, deadline - time.monotonic()))[0]:
                raise AssertionError(f"no {end!r} in {text!r}")
            text += os.read(self.ours, 65536).decode(errors="replace")
        return text

    def close(self):
        self.process.kill()
        self.process.wait()
        os.close(self.ours)


# Line before the cursor, and what the shell must offer there; the sets are complete, the lists are not.
OFFERS = [
    ("lugpu so", {"solve"}),
    ("lugpu ", ["solve", "bench", "verify", "help"]),
    ("lugpu --ver", {"--verbose", "--version"}),
    ("lugpu solve --piv", {"--pivot"}),
    ("lugpu solve --no", {"--no-vendor-kernels"}),
    ("lugpu solve --pivot ", {"none", "partial", "scaled", "rook", "full", "complete"}),
    ("lugpu solve A.npy --method lu", {"lu", "lu-blocked"}),
    ("lugpu solve --color a", {"auto", "always"}),
    ("lugpu solve A", {"A.npy"}),
    ("lugpu solve -o B", {"B.mtx"}),
    ("lugpu solve --json no", {"notes.txt"}),
    ("lugpu solve --kernel-dir ker", {"kernels"}),
    ("lugpu bench --pivot none,pa", {"none,partial"}),
    ("lugpu bench --baseline getc2,getr", {"getc2,getrf"}),
    ("lugpu bench --matrix wil", {"wilkinson"}),
    ("lugpu generate wil", {"wilkinson"}),
    ("lugpu help so", {"solve"}),
    ("lugpu verify --li", {"--list"}),
    ("lugpu devices --piv", set()),
]


class CompletionTest(Installed):
    def check(self, complete):
        for line, offers in OFFERS:
            with self.subTest(line=line):
                found = [word.rstrip("/") for word in complete(line)]
                if isinstance(offers, set):
                    self.assertEqual(set(found), offers)
                else:
                    self.assertLessEqual(set(offers), set(found))

    def offered(self, terminal, line, insert_all):
        """The last words of the line once the shell has put in all that it offers."""
        terminal.send(line + insert_all + "\x01show \r")
        shown = terminal.read_until("END\r\n").partition("BEGIN\r\n")[2]
        words = shown.split("\r\n")[:-2]
        typed = line.split(" ")
        return [] if words == [word for word in typed if word] else words[len(typed) - 1:]

    def interactive(self, *command, rc):
        terminal = Terminal(*command, cwd=self.work, env=self.shell(INPUTRC="/dev/null"))
        self.addCleanup(terminal.close)
        script = pathlib.Path(self.folder.name, "rc")
        # The marks are in two parts: the terminal echoes this line too.
        script.write_text("show() { echo BEG''IN; printf '%s\\n' \"$@\"; echo EN''D; }\n" + rc)
        terminal.send(f". {script}; echo REA''DY\r")
        terminal.read_until("READY\r\n")
        return terminal

    @needs("bash")
    @unittest.skipUnless(os.path.exists(COMPLETION), "not installed: bash-completion")
    def test_bash(self):
        terminal = self.interactive("bash", "--norc", "--noprofile", "-i", rc=f"""
            . {COMPLETION}
            bind 'set enable-bracketed-paste off'
            bind '"\\C-t": insert-completions'
            PS1=
            """)
        self.check(lambda line: self.offered(terminal, line, "\x14"))
        for line, value in (("lugpu solve --pivot=ro", "--pivot=rook"), ("lugpu solve --pivot ro", "rook")):
            self.assertEqual(self.offered(terminal, line, "\t")[-1], value)

    @needs("zsh")
    def test_zsh(self):
        terminal = self.interactive("zsh", "-f", "-i", rc=f"""
            fpath=({shlex.quote(str(self.prefix))}/share/zsh/vendor-completions $fpath)
            autoload -U compinit && compinit -D -u
            unsetopt zle_bracketed_paste prompt_sp 2>/dev/null; unset zle_bracketed_paste
            setopt menu_complete
            zstyle ':completion:*' completer _all_matches _complete
            zstyle ':completion:*' insert yes
            bindkey -e
            PS1=
            """)
        self.check(lambda line: self.offered(terminal, line, "\t"))

    @needs("fish")
    def test_fish(self):
        def complete(line):
            out = run("fish", "-c", 'complete -C "$LINE"', cwd=self.work,
                      env=self.shell(LINE=line)).stdout
            return [offer.partition("\t")[0] for offer in out.splitlines()]
        self.check(complete)


@unittest.skipUnless(PACKAGE_LIBRARY, "this build has no library")
class LibraryTest(Installed):
    """The package for C++ programs. The program includes every header, and needs nothing but the library."""

    def sources(self, folder):
        headers = sorted(str(path.relative_to(self.prefix / "include"))
                         for path in (self.prefix / "include/lugpu").rglob("*.h*"))
        self.assertTrue(headers)
        pathlib.Path(folder, "user.cpp").write_text(
            "".join(f"#include <{header}>\n" for header in headers) + "int main() {}\n")
        pathlib.Path(folder, "CMakeLists.txt").write_text("""
cmake_minimum_required(VERSION 3.24)
project(user LANGUAGES CXX)
find_package(lugpu REQUIRED)
add_executable(user user.cpp)
target_link_libraries(user PRIVATE -Wl,--no-as-needed lugpu::lugpu)
""")

    def test_find_package(self):
        with tempfile.TemporaryDirectory() as folder:
            self.sources(folder)
            run("cmake", "-S", folder, "-B", folder + "/build", f"-DCMAKE_PREFIX_PATH={self.prefix}",
                "-DCMAKE_FIND_USE_CMAKE_SYSTEM_PATH=OFF")
            run("cmake", "--build", folder + "/build")
            run(folder + "/build/user")

    @needs("pkg-config", "g++")
    def test_pkg_config(self):
        environment = os.environ | {"PKG_CONFIG_PATH": str(self.libdir / "pkgconfig"),
                                    "LD_LIBRARY_PATH": str(self.libdir)}
        with tempfile.TemporaryDirectory() as folder:
            self.sources(folder)
            flags = run("pkg-config", "--cflags", "--libs", "lugpu", env=environment).stdout
            self.assertNotRegex(flags, "OpenCL|blas|lapack")
            run("g++", "-std=c++20", "user.cpp", "-Wl,--no-as-needed", *shlex.split(flags), "-o", "user",
                cwd=folder, env=environment)
            run(folder + "/user", env=environment)


def is_for_packages():
    cache = (BUILD / "CMakeCache.txt").read_text(encoding="utf-8")
    return "CMAKE_INSTALL_PREFIX:PATH=/usr\n" in cache


@needs("cpack", "dpkg-deb", "dpkg-shlibdeps", "file", "dpkg-architecture")
@unittest.skipUnless(is_for_packages(), "the prefix of this build is not /usr")
class PackagesTest(unittest.TestCase):
    LIBRARY = ["liblugpu0", "liblugpu-dev"]
    HAS_MPI = (BUILD / "liblugpu_mpi.so").exists()
    MPI = ["lugpu-mpi", "liblugpu-scalapack"] if HAS_MPI else []

    @classmethod
    def setUpClass(cls):
        cls.folder = tempfile.TemporaryDirectory()
        cls.addClassCleanup(cls.folder.cleanup)
        run("cpack", "-G", "DEB", "--config", BUILD / "CPackConfig.cmake", "-B", cls.folder.name)
        cls.files = sorted(glob.glob(cls.folder.name + "/*.deb"))
        cls.debs = {run("dpkg-deb", "-f", file, "Package").stdout.strip(): file for file in cls.files}
        cls.lib = "usr/lib/" + run("dpkg-architecture", "-qDEB_HOST_MULTIARCH").stdout.strip()

    def field(self, package, name):
        return run("dpkg-deb", "-f", self.debs[package], name).stdout.strip()

    def unpacked(self, package):
        folder = pathlib.Path(self.folder.name, "unpacked", package)
        if not folder.exists():
            folder.mkdir(parents=True)
            run("dpkg-deb", "-x", self.debs[package], folder)
        return folder

    def test_names(self):
        self.assertEqual(set(self.debs), {"lugpu", "liblugpu-lapack", *self.MPI,
                                           *(self.LIBRARY if PACKAGE_LIBRARY else [])})
        architecture = run("dpkg-architecture", "-qDEB_HOST_ARCH").stdout.strip()
        for package, file in self.debs.items():
            version = self.field(package, "Version")
            self.assertEqual(os.path.basename(file), f"{package}_{version}_{architecture}.deb")

    def test_contents(self):
        """Each file in one package, each package with its copyright and changelogs."""
        trees = {package: tree(self.unpacked(package)) for package in self.debs}
        for package, files in trees.items():
            own = {f"usr/share/doc/{package}/{name}" for name in
                   ["copyright", "changelog.gz", "changelog.Debian.gz"]}
            self.assertLessEqual(own, files)
            for other, others in trees.items():
                self.assertTrue(other == package or not files & others)
        self.assertIn("usr/bin/lugpu", trees["lugpu"])
        self.assertIn("usr/share/man/man1/lugpu-solve.1.gz", trees["lugpu"])
        self.assertFalse([name for name in trees["lugpu"] if name.startswith("usr/lib")])
        self.assertLessEqual({f"{self.lib}/{name}" for name in ["liblugpu_lapack.so", "liblugpu_lapack.so.0",
                                                                "lugpu/liblapack.so.3"]}, trees["liblugpu-lapack"])
        if PACKAGE_LIBRARY:
            self.assertIn(f"{self.lib}/liblugpu.so.0", trees["liblugpu0"])
            self.assertLessEqual({f"{self.lib}/{name}" for name in
                                  ["liblugpu.so", "pkgconfig/lugpu.pc", "cmake/lugpu/lugpuConfig.cmake"]},
                                 trees["liblugpu-dev"])
            self.assertTrue([name for name in trees["liblugpu-dev"] if name.startswith("usr/include/lugpu/")])

    def test_dependencies(self):
        for package in self.MPI:
            self.assertIn("libopenmpi", self.field(package, "Depends"))
        if self.HAS_MPI:
            self.assertIn(f"lugpu (= {self.field('lugpu', 'Version')})", self.field("lugpu-mpi", "Depends"))
        for package in set(self.debs) - {"liblugpu-dev", "lugpu-mpi"}:
            with self.subTest(package=package):
                depends = self.field(package, "Depends")
                for name in ("libc6", "libstdc++6", "ocl-icd-libopencl1"):
                    self.assertIn(name, depends)
                self.assertEqual("libopenblas0" in depends, package in ("lugpu", "liblugpu-lapack"))
                self.assertEqual(self.field(package, "Recommends"), "pocl-opencl-icd | opencl-icd")
        if PACKAGE_LIBRARY:
            self.assertEqual(self.field("liblugpu-dev", "Depends"),
                             f"liblugpu0 (= {self.field('liblugpu0', 'Version')})")

    def test_describe_themselves(self):
        for package in self.debs:
            with self.subTest(package=package):
                self.assertTrue(self.field(package, "Maintainer"))
                self.assertEqual(self.field(package, "Section"),
                                 {"lugpu": "math", "lugpu-mpi": "math", "liblugpu-dev": "libdevel"}.get(package, "libs"))
        summaries = {self.field(package, "Description").splitlines()[0] for package in self.debs}
        self.assertEqual(len(summaries), len(self.debs))

    @needs("readelf")
    def test_no_runpath(self):
        """The loader finds everything by itself."""
        for package in self.debs:
            for path in self.unpacked(package).rglob("*"):
                if path.is_file() and path.read_bytes()[:4] == b"\x7fELF":
                    self.assertNotRegex(run("readelf", "-d", path).stdout, "RPATH|RUNPATH")

    def test_alternative(self):
        """The drop-in is offered as liblapack.so.3 with the lowest priority, and taken back."""
        control = pathlib.Path(self.folder.name, "control")
        run("dpkg-deb", "-e", self.debs["liblugpu-lapack"], control)
        path = f"/{self.lib}/lugpu/liblapack.so.3"
        self.assertTrue((self.unpacked("liblugpu-lapack") / path[1:]).exists())
        for script, words in (("postinst", path + " 1\n"), ("prerm", path + "\n")):
            self.assertIn(words, (control / script).read_text())

    @needs("lintian")
    def test_lintian(self):
        done = run("lintian", "--fail-on", "error,warning", "--allow-root", *self.files, check=False)
        self.assertEqual((done.returncode, done.stdout), (0, ""))


if __name__ == "__main__":
    unittest.main()
