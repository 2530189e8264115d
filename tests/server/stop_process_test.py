#!/usr/bin/env python3
"""`cadastre serve` and signals, on a disk that hangs while the test wants it to: R-27.

  tests/server/stop_process_test.py CADASTRE STUCK_SYNC [TEST...]
"""

import fcntl
import os
import pathlib
import signal
import subprocess
import sys
import tempfile
import time
import unittest
import urllib.request

import grpc

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))
from server_process import SECONDS_MAX, DIES_WITH_PARENT, Caller, Server, messages  # noqa: E402

BINARY = None
STUCK_SYNC = None
Code = grpc.StatusCode


class StopTest(unittest.TestCase):
    def setUp(self):
        scratch = tempfile.TemporaryDirectory()
        self.addCleanup(scratch.cleanup)
        self.scratch = pathlib.Path(scratch.name)
        self.data = self.scratch / "data"
        self.disk = (self.scratch / "stuck").open("w")
        self.addCleanup(self.disk.close)
        self.surroundings = {"cwd": self.scratch, "env": {**os.environ, "LD_PRELOAD": STUCK_SYNC}}
        self.v1 = messages()

    def serve(self):
        self.server = Server(BINARY, self.data, **self.surroundings)
        self.addCleanup(self.server.end)
        return self.server.start()

    def caller(self, server):
        caller = Caller(server.address)
        self.addCleanup(caller.close)
        return caller

    def wait_for_metric(self, row):
        deadline = time.monotonic() + SECONDS_MAX
        while True:
            with urllib.request.urlopen(f"http://{self.server.ready['http']}/metrics", timeout=SECONDS_MAX) as answer:
                if f"{row}\n" in answer.read().decode():
                    return
            self.assertLess(time.monotonic(), deadline, row)

    def busy(self):
        """A server with an open claim stream and a call that waits for the disk."""
        server = self.serve()
        caller = self.caller(server)
        caller.make_run(1, 1)
        lease = caller.call("Claim", run=1, worker=1).lease
        stream = caller.stream(run=1, worker=2)
        self.wait_for_metric("cadastre_claim_streams 1")
        fcntl.flock(self.disk, fcntl.LOCK_EX)
        request = caller.request("Checkpoint", lease=lease, cursor=self.v1.Cursor(last_key=b"0000x"), op_id=5)
        call = caller.stub("Checkpoint").future(request, timeout=SECONDS_MAX)
        self.wait_for_metric("cadastre_calls_under_way 1")
        return server, stream, call

    def log_until_the_end(self, server):
        """The exit status and the lines of the log."""
        log = server.process.stderr.read().splitlines()
        return server.process.wait(SECONDS_MAX), log

    def end_of(self, stream):
        with self.assertRaises(grpc.RpcError) as ended:
            next(stream)
        return ended.exception.code()

    def test_a_call_in_flight_is_finished_and_a_stream_ended(self):
        server, stream, call = self.busy()
        server.process.send_signal(signal.SIGTERM)
        self.assertEqual(self.end_of(stream), Code.UNAVAILABLE)
        fcntl.flock(self.disk, fcntl.LOCK_UN)
        self.assertEqual(call.result(SECONDS_MAX).outcome, self.v1.OUTCOME_EXECUTED)
        status, log = self.log_until_the_end(server)
        self.assertEqual(status, 0, log)
        self.assertIn(" stopped", log[-1])

    def test_a_stop_that_hangs_is_cut_short_within_10_seconds(self):
        server, stream, call = self.busy()
        began = time.monotonic()
        server.process.send_signal(signal.SIGTERM)
        self.assertEqual(self.end_of(stream), Code.UNAVAILABLE)
        self.assertIn(call.exception(SECONDS_MAX).code(), (Code.UNAVAILABLE, Code.CANCELLED))
        status, log = self.log_until_the_end(server)
        self.assertLess(time.monotonic() - began, 10)
        self.assertEqual(status, 1, log)
        self.assertIn("it took too long", log[-1])
        self.after_the_disk_is_well()

    def test_a_second_signal_ends_it_at_once(self):
        for first, second in ((signal.SIGTERM, signal.SIGTERM), (signal.SIGINT, signal.SIGTERM)):
            server, stream, _ = self.busy()
            server.process.send_signal(first)
            self.assertEqual(self.end_of(stream), Code.UNAVAILABLE)
            began = time.monotonic()
            server.process.send_signal(second)
            status, log = self.log_until_the_end(server)
            self.assertLess(time.monotonic() - began, 2)
            self.assertEqual(status, 1, log)
            self.assertIn("a second signal", log[-1])
            self.after_the_disk_is_well()
            self.data = self.scratch / "another"

    def after_the_disk_is_well(self):
        """What was acknowledged is there, and the directory is free."""
        fcntl.flock(self.disk, fcntl.LOCK_UN)
        caller = self.caller(self.serve())
        shard = caller.call("GetShard", run=1, shard=1)
        self.assertEqual((shard.worker, shard.fence), (1, 2))
        caller.close()
        self.assertEqual(self.server.terminate()[0], 0)

    def test_a_start_that_hangs_ends_at_the_first_signal(self):
        fcntl.flock(self.disk, fcntl.LOCK_EX)
        process = subprocess.Popen([*DIES_WITH_PARENT, BINARY, "serve", "--data", str(self.data), "--listen", "127.0.0.1:0", "--http",
                                    "127.0.0.1:0"], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
                                   start_new_session=True, **self.surroundings)
        self.addCleanup(process.communicate)
        self.addCleanup(process.kill)
        deadline = time.monotonic() + SECONDS_MAX
        while not (self.data / "log").is_dir():  # By then it listens to signals.
            self.assertLess(time.monotonic(), deadline)
            self.assertIsNone(process.poll())
        process.send_signal(signal.SIGTERM)
        said, log = process.communicate(timeout=SECONDS_MAX)
        self.assertEqual((process.returncode, said), (0, ""), log)
        self.assertIn("stopped before it was ready", log)


if __name__ == "__main__":
    BINARY, STUCK_SYNC = os.path.abspath(sys.argv.pop(1)), os.path.abspath(sys.argv.pop(1))
    unittest.main(argv=[sys.argv[0], *[f"StopTest.{name}" for name in sys.argv[1:]]])
