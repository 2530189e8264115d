#!/usr/bin/env python3
"""`cadastre log dump` on a stored log of format 1: what it prints, that it changes nothing, and damage it names.

  tests/log_process_test.py CADASTRE [TEST...]
"""

import hashlib
import json
import pathlib
import shutil
import subprocess
import sys
import tempfile
import unittest

BINARY = None
SECONDS_MAX = 120
STORED = pathlib.Path(__file__).resolve().parent / "log" / "fixtures" / "format1"
WAL = "000009.log"


def dump(directory, *options):
    return subprocess.run([BINARY, "--json", "log", "dump", str(directory), *options], timeout=SECONDS_MAX,
                          capture_output=True, text=True, check=False)


def lines(done):
    return [json.loads(line) for line in done.stdout.splitlines()]


def content(directory):
    return {path.name: hashlib.sha256(path.read_bytes()).hexdigest() for path in directory.iterdir()}


class LogDump(unittest.TestCase):
    def setUp(self):
        self.scratch = tempfile.TemporaryDirectory()
        self.addCleanup(self.scratch.cleanup)
        self.log = pathlib.Path(self.scratch.name) / "log"
        shutil.copytree(STORED, self.log)

    def damage(self, offset):
        path = self.log / WAL
        stored = bytearray(path.read_bytes())
        stored[offset] ^= 1
        path.write_bytes(stored)

    def test_a_stored_log_reads_as_it_was_written(self):
        done = dump(self.log)
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        found = lines(done)
        self.assertEqual(found[0], {"node": {"id": 3, "cluster": 7, "sets": 20}})
        groups = [line["group"] for line in found if "group" in line]
        self.assertEqual([(group["id"], group["engine"], group["term"], group["last"]) for group in groups],
                         [(1, "local", 2, 12), (42, "local", 2, 12)])
        entries = [line["entry"] for line in found if "entry" in line]
        self.assertEqual([entry["commands"] for entry in entries], 2 * [0, 1, 2, 3, 4, 5, 0, 1, 2, 3, 4, 5])

    def test_one_group_with_its_bytes(self):
        entries = [line["entry"] for line in lines(dump(self.log, "--group", "42", "--bodies")) if "entry" in line]
        self.assertEqual({entry["group"] for entry in entries}, {42})
        self.assertTrue(entries[1]["body"].endswith(b"command 0".hex()))

    def test_nothing_is_changed(self):
        before = content(self.log)
        dump(self.log)
        self.damage(1000)
        damaged = content(self.log)
        dump(self.log)
        self.assertEqual(content(self.log), damaged)
        self.assertNotEqual(before, damaged)

    def test_damage_names_file_and_offset_and_what_reads_is_shown(self):
        self.damage(1000)
        done = dump(self.log)
        self.assertEqual(done.returncode, 1)
        self.assertEqual(json.loads(done.stderr)["error"]["code"], "damaged_log")
        damages = [line["damage"] for line in lines(done) if "damage" in line]
        self.assertIn(WAL, damages[0]["detail"])
        self.assertIn("offset", damages[0]["detail"])
        entries = [line["entry"]["index"] for line in lines(done) if "entry" in line]
        self.assertIn(9, entries)  # Behind the tables and before the damaged block.

    def test_a_torn_end_is_no_damage(self):
        path = self.log / WAL
        path.write_bytes(path.read_bytes()[:-5])
        done = dump(self.log)
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        self.assertEqual(lines(done)[0]["node"]["sets"], 19)

    def test_what_is_no_log_is_refused_by_name(self):
        (self.log / "notes.txt").write_text("mine")
        done = dump(self.log)
        self.assertEqual(done.returncode, 1)
        error = json.loads(done.stderr)["error"]
        self.assertEqual(error["code"], "no_log")
        self.assertIn("notes.txt", error["detail"])

    def test_an_empty_directory_is_no_log(self):
        self.assertEqual(json.loads(dump(self.scratch.name + "/none").stderr)["error"]["code"], "no_log")

    def test_a_group_is_a_number(self):
        done = dump(self.log, "--group", "seven")
        self.assertEqual(done.returncode, 2)


if __name__ == "__main__":
    BINARY = sys.argv.pop(1)
    unittest.main(argv=[sys.argv[0]] + [f"LogDump.{name}" for name in sys.argv[1:]])
