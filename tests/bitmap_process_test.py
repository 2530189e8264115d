#!/usr/bin/env python3
"""Bitmap tables as a process: who holds the directory, damage that verify names, pages of large sets, constant memory.

  tests/bitmap_process_test.py CADASTRE [TEST...]
"""

import json
import os
import pathlib
import random
import subprocess
import sys
import tempfile
import unittest

BINARY = None
SECONDS_MAX = 280
# Freed memory that a sanitizer holds back, to notice its use, would look like growth.
ENVIRONMENT = os.environ | {"ASAN_OPTIONS": "quarantine_size_mb=1", "TSAN_OPTIONS": "history_size=0"}
GROWTH_BYTES_MAX = 8 << 20
ID_BYTES = 10  # Of a segment's stored key behind the set's key: shard and fence.


class Batch:
    """A live batch: ask() sends one request and waits for its answer."""

    def __init__(self, directory, *options):
        self.process = subprocess.Popen([BINARY, "bitmap", "--batch", "--db", directory, *options], env=ENVIRONMENT,
                                        stdin=subprocess.PIPE, stdout=subprocess.PIPE)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.process.stdin.close()
        self.process.stdout.close()
        self.process.wait(SECONDS_MAX)

    def ask(self, op, **fields):
        self.process.stdin.write(json.dumps({"op": op} | fields).encode() + b"\n")
        self.process.stdin.flush()
        return json.loads(self.process.stdout.readline())


class BitmapProcess(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory(prefix="cadastre_bitmap_")
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)
        self.db = str(self.folder / "db")

    def run_once(self, *words):
        return subprocess.run([BINARY, "bitmap", *words, "--db", self.db, "--json"], capture_output=True,
                              env=ENVIRONMENT, timeout=SECONDS_MAX, check=False)

    def once(self, *words):
        done = self.run_once(*words)
        self.assertEqual((done.returncode, done.stderr), (0, b""), words)
        return [json.loads(line) for line in done.stdout.splitlines()]

    def error(self, *words):
        done = self.run_once(*words)
        self.assertEqual(done.returncode, 1, words)
        return json.loads(done.stderr)["error"]

    def damage(self, key, behind, change):
        """Changes one byte of the first segment of a key, where the file has it."""
        path = self.folder / "db" / "data.mdb"
        content = bytearray(path.read_bytes())
        stored = len(key).to_bytes(4, "big") + key.encode() + bytes(ID_BYTES)
        places = [at for at in range(len(content)) if content.startswith(stored, at)]
        self.assertTrue(places)
        for at in places:  # Pages of older commits may have it too.
            content[at + len(stored) + behind] ^= change
        path.write_bytes(content)

    #
    def test_a_directory_belongs_to_the_process_that_writes(self):
        with Batch(self.db) as live:
            self.assertEqual(live.ask("add", key="a", ids=[1]), {"changed": 1})
            for words in (["add", "a", "2"], ["count", "a"], ["verify"], ["backup", str(self.folder / "copy")]):
                error = self.error(*words)
                self.assertEqual((error["code"], error["retry"], error["pid"]), ("locked", "later", live.process.pid))
                self.assertIn(f"process {live.process.pid}", error["detail"])
            live.process.kill()
            live.process.wait(SECONDS_MAX)
        self.assertEqual(self.once("count", "a"), [{"count": 1}])

    def test_an_answered_commit_survives_a_kill_and_an_open_transaction_does_not(self):
        with Batch(self.db) as live:
            live.ask("begin")
            live.ask("add", key="a", ids=[1, 2])
            self.assertEqual(live.ask("commit"), {})
            live.ask("begin")
            self.assertEqual(live.ask("add", key="a", ids=[3]), {"changed": 1})
            live.process.kill()
            live.process.wait(SECONDS_MAX)
        self.assertEqual(self.once("get", "a"), [{"ids": [1, 2], "next": None}])
        self.assertEqual(self.once("verify")[-1]["errors"], 0)

    def test_verify_names_a_damaged_segment(self):
        self.once("add", "damaged", "1", "2", "3", "500000")
        self.once("add", "whole", "1", "2", "3")
        self.damage("damaged", 5, 0x10)
        done = self.run_once("verify")
        self.assertEqual(done.returncode, 1)
        lines = [json.loads(line) for line in done.stdout.splitlines()]
        self.assertEqual([(line["table"], line["kind"], line["key"], line["what"], line["error"]) for line in lines[:-1]],
                         [("default", "segment", "damaged", "bad_checksum", True)])
        self.assertEqual(lines[-1], {"tables": 1, "errors": 1, "remarks": 0, "complete": True})
        self.assertEqual(json.loads(done.stderr)["error"]["code"], "corrupt")

        for words in (["get", "damaged"], ["add", "damaged", "4"], ["or", "damaged", "whole"],
                      ["export", "damaged", str(self.folder / "file")], ["compact", "damaged"]):
            error = self.error(*words)
            self.assertEqual((error["code"], error["retry"]), ("corrupt", "never"), words)
        self.assertFalse((self.folder / "file").exists())
        self.assertEqual(self.once("get", "whole"), [{"ids": [1, 2, 3], "next": None}])

        told = subprocess.run([BINARY, "bitmap", "verify", "--db", self.db], capture_output=True, text=True,
                              env=ENVIRONMENT, timeout=SECONDS_MAX, check=False)
        self.assertEqual(told.returncode, 1)
        self.assertEqual(told.stdout.splitlines()[0].split(), ["table", "key", "record", "shard", "from", "finding"])
        self.assertEqual(told.stdout.splitlines()[1].split(), ["default", "damaged", "segment", "0", "0", "bad", "checksum"])
        self.assertEqual(told.stdout.splitlines()[2], "1 error in 1 table")
        self.assertIn("corrupt", told.stderr)

    def test_damage_aborts_a_transaction(self):
        self.once("add", "damaged", "1", "2", "3", "500000")
        self.damage("damaged", 5, 0x10)
        with Batch(self.db) as live:
            live.ask("begin")
            live.ask("add", key="whole", ids=[1])
            self.assertEqual(live.ask("add", key="damaged", ids=[4])["error"]["code"], "corrupt")
            self.assertEqual(live.ask("count", key="whole")["error"]["code"], "transaction_aborted")
            self.assertEqual(live.ask("commit")["error"]["code"], "transaction_aborted")
            self.assertEqual(live.ask("count", key="whole"), {"count": 0})

    def test_a_segment_of_a_newer_release_is_told_apart(self):
        self.once("add", "a-new-form", "1", "2", "3")
        self.damage("a-new-form", 0, 0x40)
        self.assertEqual(self.error("get", "a-new-form")["code"], "unsupported_form")

    def test_pages_make_up_the_set(self):
        chance = random.Random(4)
        ids = sorted({chance.randrange(2**64) for _ in range(2500)} | set(range(3000)))
        with Batch(self.db, "--shards", "3", "--segment-bytes", "1024") as live:
            self.assertEqual(live.ask("add", key="k", ids=[str(i) for i in ids]), {"changed": len(ids)})
            seen, start, pages = [], 0, 0
            while start is not None:
                page = live.ask("get", key="k", **{"from": start})
                seen += map(int, page["ids"])
                start, pages = page["next"], pages + 1
            self.assertEqual((seen, pages), (ids, (len(ids) + 999) // 1000))
            everything = live.ask("get", key="k", limit=2**64 - 1)
            self.assertEqual((list(map(int, everything["ids"])), everything["next"]), (ids, None))
            self.assertEqual(list(map(int, live.ask("or", keys=["k", "k"], limit=10**6)["ids"])), ids)
            self.assertEqual(len(live.ask("or", keys=["k", "none"])["ids"]), 1000)

    def test_keys_are_listed_in_pages(self):
        names = [f"k{i}" for i in range(2300)]
        with Batch(self.db) as live:
            live.ask("begin")
            for name in names:
                live.ask("add", key=name, ids=[1])
            live.ask("commit")
            seen, after = [], None
            while True:
                page = live.ask("keys", prefix="k", after=after)
                seen += page["keys"]
                after = page["next"]
                if after is None:
                    break
            self.assertEqual(seen, sorted(names, key=lambda name: (len(name), name)))

    def test_a_set_operation_has_at_most_256_keys(self):
        keys = [f"k{i}" for i in range(257)]
        with Batch(self.db) as live:
            live.ask("add", key="k255", ids=[7])
            self.assertEqual(live.ask("or", keys=keys)["error"]["code"], "too_many_keys")
            self.assertEqual(live.ask("or", keys=keys[:256]), {"ids": [7]})
            self.assertEqual(live.ask("xor", keys=keys[:256]), {"ids": [7]})
        self.assertEqual(self.error("or", *keys)["code"], "too_many_keys")
        self.assertEqual(self.once("or", *keys[:256]), [{"ids": [7]}])

    def test_readers_share_the_directory(self):
        ids = [i * 97 for i in range(60_000)]
        with Batch(self.db) as live:
            live.ask("add", key="a", ids=ids)
        fifo = self.folder / "fifo"
        os.mkfifo(fifo)
        # Larger than a pipe: the first reader holds the directory until someone takes its bytes.
        exporting = subprocess.Popen([BINARY, "bitmap", "export", "a", str(fifo), "--db", self.db, "--json"],
                                     stdout=subprocess.PIPE, env=ENVIRONMENT)
        with open(fifo, "rb") as taken:
            self.assertEqual(self.once("count", "a"), [{"count": len(ids)}])
            self.assertEqual(self.error("add", "a", "1")["code"], "locked")
            size = len(taken.read())
        self.assertEqual(json.loads(exporting.communicate(timeout=SECONDS_MAX)[0]), {"ids": len(ids), "bytes": size})
        self.assertEqual(exporting.returncode, 0)

    def test_export_replaces_a_file_as_a_whole(self):
        self.once("add", "a", "1", "2")
        path = self.folder / "file"
        path.write_bytes(b"x" * 10_000)
        self.assertEqual(self.once("export", "a", str(path)), [{"ids": 2, "bytes": path.stat().st_size}])
        self.assertLess(path.stat().st_size, 100)
        self.assertEqual(sorted(p.name for p in self.folder.iterdir()), ["db", "file"])

    def test_memory_does_not_grow_with_requests_or_sets(self):
        def peak_bytes(rounds):
            directory = str(self.folder / f"db{rounds}")
            requests = [{"op": "begin"}]
            for i in range(rounds):
                requests.append({"op": "add", "key": "k", "ids": [(i * 100 + j) * 7 for j in range(100)]})
                requests.append({"op": "get", "key": "k", "from": i * 700, "limit": 3})
            requests += [{"op": "commit"}, {"op": "and", "keys": ["k", "k"], "count_only": True}]
            given = self.folder / "requests"
            given.write_text("".join(json.dumps(request) + "\n" for request in requests))
            with open(given, "rb") as lines, open(self.folder / "answers", "wb") as answers:
                process = subprocess.Popen([BINARY, "bitmap", "--batch", "--db", directory], env=ENVIRONMENT,
                                           stdin=lines, stdout=answers)
                _, status, usage = os.wait4(process.pid, 0)
                process.returncode = os.waitstatus_to_exitcode(status)
            self.assertEqual(process.returncode, 0)
            last = (self.folder / "answers").read_text().splitlines()[-1]
            self.assertEqual(json.loads(last), {"count": rounds * 100})
            return usage.ru_maxrss * 1024

        self.assertLess(peak_bytes(10_000), peak_bytes(500) + GROWTH_BYTES_MAX)


if __name__ == "__main__":
    BINARY = str(pathlib.Path(sys.argv.pop(1)).resolve())
    unittest.main(argv=[sys.argv[0], *(f"BitmapProcess.{name}" for name in sys.argv[1:])])
