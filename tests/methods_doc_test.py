#!/usr/bin/python3
"""docs/methods.md names the kernels that there are: files, functions, and every kernel of every file.

Kernel files are written with their paths below kernels/, host files with their whole paths. Functions are
written `name()` or `Class::name()`. In a row of a table that names kernel files, they are functions of these
files.
"""
import re
import unittest
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
TEXT = (ROOT / "docs/methods.md").read_text(encoding="utf-8")
KERNEL_FILE = re.compile(r"`([\w/]+\.(?:clh?|h))`")
HOST_FILE = re.compile(r"`([\w/]+\.[ch]pp)`")
FUNCTION = re.compile(r"`(?:(\w+)::)?(\w+)\(\)`")


def sources(folder, base, *suffixes):
    """The text of each file, by its path below `base`, without comments."""
    files = [path for path in folder.rglob("*") if path.suffix in suffixes]
    return {path.relative_to(base).as_posix(): re.sub(r"//.*", "", path.read_text(encoding="utf-8"))
            for path in files}


KERNELS = sources(ROOT / "kernels", ROOT / "kernels", ".cl", ".clh", ".h")
HOST = sources(ROOT / "src", ROOT, ".cpp", ".hpp")


def kernels_of(text):
    """The __kernel functions of a file."""
    return set(re.findall(r"__kernel\b[^;{]*?\bvoid\s+(\w+)\s*\(", text))


def defines(text, function):
    return re.search(rf"\b{function}\([^;{{]*\)[^;{{()]*\{{", text) is not None


def rows():
    """What the rows of tables say: paths of kernel files, names of functions."""
    for line in TEXT.splitlines():
        if line.startswith("|"):
            yield set(KERNEL_FILE.findall(line)), {name for _, name in FUNCTION.findall(line)}


class MethodsDoc(unittest.TestCase):
    def test_files_exist(self):
        self.assertGreater(len(KERNEL_FILE.findall(TEXT)), 20)
        self.assertLessEqual(set(KERNEL_FILE.findall(TEXT)), set(KERNELS))
        self.assertGreater(len(HOST_FILE.findall(TEXT)), 10)
        self.assertLessEqual(set(HOST_FILE.findall(TEXT)), set(HOST))

    def test_functions_exist(self):
        self.assertGreater(len(FUNCTION.findall(TEXT)), 20)
        for owner, name in FUNCTION.findall(TEXT):
            places = HOST if owner else {**KERNELS, **HOST}
            function = rf"{owner}::{name}" if owner else name
            with self.subTest(function=function):
                self.assertTrue(any(defines(text, function) for text in places.values()))

    def test_functions_are_in_the_files_of_their_row(self):
        for files, functions in rows():
            for function in functions if files else ():
                with self.subTest(function=function, files=files):
                    self.assertTrue(any(defines(KERNELS.get(file, ""), function) for file in files))

    def test_every_kernel_is_in_a_row_with_its_file(self):
        named = {(file, function) for files, functions in rows() for file in files for function in functions}
        for file, text in KERNELS.items():
            self.assertEqual("__kernel" in text, bool(kernels_of(text)), file)
            for kernel in kernels_of(text):
                with self.subTest(file=file, kernel=kernel):
                    self.assertIn((file, kernel), named)


if __name__ == "__main__":
    unittest.main()
