"""lugpu tune: what it finds is kept, named in records, and what the options leave open goes by it."""

import json

from program import BLOCKED, CommandLine, main


class TuneTest(CommandLine):
    def test_found_kept_used_and_forgotten(self):
        self.assertIn("No tuned variants", self.lugpu("tune", "--list").stdout)
        done = self.lugpu("tune", "--max-time", "0", "--json", "tune.json")
        self.assertEqual(done.stderr, "")
        self.assert_narrow(done.stdout)
        report = json.loads((self.folder / "tune.json").read_text(encoding="utf-8"))
        self.assertEqual({row["n"] for row in report["results"]}, {256})
        found = report["devices"][0]["tuning"]
        names = [" ".join(line.split()[2:5]) for line in found]
        for precision in ("single", "double"):
            for pivot in ("none", "partial", "full"):
                self.assertEqual(names.count(f"lu {pivot} {precision}"), 1)
        for line in found:
            self.assertIn(line, self.lugpu("tune", "--list").stdout)

        # Whatever was found, other block sizes are recorded in its place.
        path, = (self.cache / "lugpu").glob("tuning-*.txt")
        head, lines = path.read_text(encoding="utf-8").split("units ", 1)
        units = lines.split()[0]
        line = f"units {units} {BLOCKED} partial double n 256 r nb 32 0.001 s"
        path.write_text(f"{head}{line}\nend\n", encoding="utf-8")
        self.lugpu("generate", "random", "200", "-o", "a.npy")
        row = json.loads(self.lugpu("solve", "a.npy", "--json", "-").stdout)
        self.assertEqual(row["results"][0]["nb"], 32)
        self.assertEqual(len(row["devices"][0]["tuning"]), 1)
        self.assertIn("1 tuned variant of", self.lugpu("tune", "--forget").stdout)
        row = json.loads(self.lugpu("solve", "a.npy", "--json", "-").stdout)
        self.assertNotEqual(row["results"][0]["nb"], 32)
        self.assertNotIn("tuning", row["devices"][0])

    def test_one_thing_at_a_time(self):
        for arguments in (["--list", "--forget"], ["--list", "--json", "-"],
                          ["--forget", "--max-time", "1"]):
            self.refused("tune", *arguments, words=[arguments[0]])


if __name__ == "__main__":
    main()
