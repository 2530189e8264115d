#!/usr/bin/env python3
"""The pages of `cadastre serve` that look into its log.

  tests/server/pages_process_test.py CADASTRE [TEST...]
"""

import json
import os
import pathlib
import sys
import tempfile
import unittest
import urllib.error
import urllib.request

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))
from server_process import SECONDS_MAX, Caller, Server  # noqa: E402

BINARY = None


class PagesTest(unittest.TestCase):
    def setUp(self):
        scratch = tempfile.TemporaryDirectory()
        self.addCleanup(scratch.cleanup)
        self.server = Server(BINARY, pathlib.Path(scratch.name) / "data")
        self.addCleanup(self.server.end)
        self.server.start()
        caller = Caller(self.server.address)
        self.addCleanup(caller.close)
        caller.make_run(1, 2)

    def http(self, path):
        try:
            with urllib.request.urlopen(f"http://{self.server.ready['http']}{path}", timeout=SECONDS_MAX) as answer:
                return answer.status, answer.read().decode()
        except urllib.error.HTTPError as error:
            with error:
                return error.code, error.read().decode()

    def entries(self, path):
        status, page = self.http(path)
        self.assertEqual(status, 200, page)
        return [json.loads(row) for row in page.splitlines()]

    def test_a_group_is_shown_in_detail(self):
        line = json.loads(self.http("/debug/log")[1])
        status, page = self.http("/debug/log/1")
        group = json.loads(page)
        self.assertEqual((status, group["group"], group["role"]), (200, 1, "leader"))
        self.assertEqual(set(line) - set(group), set())
        self.assertEqual((group["waits"]["entries"], group["queue"]["commands"], group["held"]["messages"]), (0, 0, 0))

    def test_entries_are_listed_without_their_bytes(self):
        group = json.loads(self.http("/debug/log/1")[1])
        first = group["truncated"] + 1
        two = self.entries(f"/debug/log/1/entries?from={first}&count=2")
        self.assertEqual([entry["index"] for entry in two], [first, first + 1])
        self.assertEqual({frozenset(entry) for entry in two}, {frozenset(("index", "term", "type", "bytes"))})
        every = self.entries("/debug/log/1/entries")
        self.assertEqual(every[:2], two)
        self.assertEqual(every[-1]["index"], group["persisted"])

    def test_what_is_asked_wrongly_is_refused_with_a_sentence(self):
        for path, status in (("/debug/log/x", 400), ("/debug/log/2", 404), ("/debug/log/2/entries", 404),
                             ("/debug/log/1/entries?from=0", 400), ("/debug/log/1/entries?from=a", 400),
                             ("/debug/log/1/entries?count=1001", 400), ("/debug/log/1/entries?until=3", 400),
                             ("/debug/log/1/entries?from=1000000", 404)):
            answered, sentence = self.http(path)
            self.assertEqual(answered, status, path)
            self.assertIn(" ", sentence.strip(), path)
        self.assertEqual(self.http("/debug/log/1/bodies")[0], 404)


if __name__ == "__main__":
    BINARY = os.path.abspath(sys.argv.pop(1))
    unittest.main(argv=[sys.argv[0], *[f"PagesTest.{name}" for name in sys.argv[1:]]])
