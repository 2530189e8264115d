#!/usr/bin/env python3
"""Clients against a real `cadastre serve`: the command line by HOST:PORT, and the worker of examples/python.

  clients_process_test.py CADASTRE STUBS [TEST]
"""

import json
import os
import pathlib
import subprocess
import sys
import tempfile
import unittest

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
sys.path.insert(0, str(ROOT / "tests" / "server"))
sys.dont_write_bytecode = True
from server_process import DIES_WITH_PARENT, Server  # noqa: E402

WORKER = ROOT / "examples" / "python" / "worker.py"
SECONDS_MAX = 60
ROWS, PER_SHARD = 12_000, 6_000


class Clients(unittest.TestCase):
    def setUp(self):
        self.scratch = tempfile.TemporaryDirectory(prefix="cadastre-clients-")
        self.addCleanup(self.scratch.cleanup)
        self.directory = pathlib.Path(self.scratch.name)

    def serve(self, *options):
        server = Server(BINARY, self.directory / "data", *options).start()
        self.addCleanup(server.end)
        return server

    def cadastre(self, *words, **options):
        return subprocess.run([BINARY, *map(str, words)], capture_output=True, text=True, timeout=SECONDS_MAX, **options)

    def coord(self, server, *words):
        done = self.cadastre("coord", *words, "--backend", server.address, "--json")
        self.assertEqual(done.returncode, 0, done.stderr + done.stdout)
        return json.loads(done.stdout)

    def make_run(self, server):
        plan = self.cadastre("shard", "plan", "--manifest", 7, "--rows", f"0..{ROWS}", "--per-shard", PER_SHARD, "--hex", "--json")
        (self.directory / "plan.jsonl").write_text(plan.stdout)
        self.assertEqual(self.coord(server, "run", "create", 1, "--lease-ms", 30_000)["status"], "initializing")
        registered = self.coord(server, "run", "register", 1, self.directory / "plan.jsonl", "--hex")
        self.assertEqual(registered["shards"], ROWS // PER_SHARD)

    def test_a_python_worker_covers_every_row_once(self):
        server = self.serve()
        self.make_run(server)
        worker = subprocess.Popen(
            [*DIES_WITH_PARENT, sys.executable, WORKER, "--server", server.address, "--tenant", "default", "--run", "1", "--worker", "3",
             "--stubs", STUBS], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, start_new_session=True)
        self.addCleanup(worker.stdout.close)
        self.addCleanup(worker.stderr.close)
        self.addCleanup(worker.kill)
        events, covered = [], 0
        while covered < ROWS:
            line = worker.stdout.readline()
            self.assertTrue(line, worker.stderr.read() if worker.poll() is not None else "it closed its output")
            events.append(json.loads(line))
            if events[-1]["event"] == "accepted":
                covered += events[-1]["to"] - events[-1]["from"]
        accepted = sorted((event["from"], event["to"]) for event in events if event["event"] == "accepted")
        ends = [0] + [to for _, to in accepted]
        self.assertEqual([start for start, _ in accepted], ends[:-1], "no gap and no row twice")
        self.assertEqual(ends[-1], ROWS)
        self.assertGreater(sum(event["event"] == "split" for event in events), 0, "it shares what others could do")
        counts = self.coord(server, "run", "show", 1)["counts"]
        self.assertEqual((counts["active"], counts["parked"]), (0, 0))
        # The stream of one who waits ends with the run.
        self.coord(server, "run", "complete", 1)
        self.assertEqual(worker.wait(SECONDS_MAX), 0, worker.stderr.read())

    def test_the_command_line_shows_its_token(self):
        tokens = self.directory / "tokens"
        tokens.write_text("0123456789abcdef0123 default\n")
        tokens.chmod(0o600)
        (self.directory / "mine").write_text("0123456789abcdef0123\n")
        server = self.serve("--token-file", str(tokens))
        without = self.cadastre("coord", "run", "list", "--backend", server.address, "--json")
        self.assertEqual(without.returncode, 1)
        error = json.loads(without.stderr or without.stdout)["error"]
        self.assertEqual((error["code"], error["retry"]), ("refused", "never"))
        self.coord(server, "run", "create", 5, "--lease-ms", 1000, "--token-file", self.directory / "mine")
        other = self.cadastre("coord", "run", "list", "--backend", server.address, "--tenant", "other", "--token-file",
                              self.directory / "mine", "--json")
        self.assertEqual(json.loads(other.stderr or other.stdout)["error"]["code"], "refused")

    def test_an_address_that_nobody_listens_on_is_transient(self):
        done = self.cadastre("coord", "run", "show", "1", "--backend", "127.0.0.1:1", "--json")
        self.assertEqual(done.returncode, 1)
        error = json.loads(done.stderr or done.stdout)["error"]
        self.assertEqual((error["code"], error["retry"]), ("transient", "later"))


if __name__ == "__main__":
    BINARY, STUBS = os.path.abspath(sys.argv[1]), os.path.abspath(sys.argv[2])
    unittest.main(argv=[sys.argv[0], *(f"Clients.{name}" for name in sys.argv[3:])])
