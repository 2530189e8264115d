#!/usr/bin/env python3
"""`cadastre serve` on a small disk that fills up: it steps back before, and goes on when there is room again (L-50).

  tests/server/disk_process_test.py CADASTRE [TEST...]
"""

import os
import pathlib
import subprocess
import sys
import tempfile
import time
import unittest
import urllib.error
import urllib.request

import grpc

FOLDER = pathlib.Path(__file__).resolve().parent
sys.path[:0] = [str(FOLDER), str(FOLDER.parent / "cluster")]
from machines import enter  # noqa: E402

if __name__ == "__main__":
    enter()  # What is mounted goes with it.

from server_process import SECONDS_MAX, Caller, Server  # noqa: E402

BINARY = None
Code = grpc.StatusCode
MIB = 1 << 20
DISK_MIB = 160  # Low below 40 MiB, critical below 20 MiB; a ballast of 5 MiB.


class DiskTest(unittest.TestCase):
    def setUp(self):
        scratch = tempfile.TemporaryDirectory()
        self.addCleanup(scratch.cleanup)
        self.disk = pathlib.Path(scratch.name)
        subprocess.run(["mount", "-t", "tmpfs", "-o", f"size={DISK_MIB}m", "none", self.disk], check=True)
        self.addCleanup(subprocess.run, ["umount", "-l", self.disk], check=False)
        self.server = Server(BINARY, self.disk / "data")
        self.addCleanup(self.server.end)
        self.server.start()
        self.runs = 0
        self.caller = Caller(self.server.address)
        self.addCleanup(self.caller.close)

    def http(self, path):
        try:
            with urllib.request.urlopen(f"http://{self.server.ready['http']}{path}", timeout=SECONDS_MAX) as answer:
                return answer.status, answer.read().decode()
        except urllib.error.HTTPError as error:
            with error:
                return error.code, error.read().decode()

    def wait_for_level(self, level):
        deadline = time.monotonic() + SECONDS_MAX
        while f"log_disk_level {level}\n" not in self.http("/metrics")[1]:
            self.assertLess(time.monotonic(), deadline, self.http("/metrics")[1])
            self.assertIsNone(self.server.process.poll())

    def leave(self, mib):
        """Fills the disk until so much is left."""
        filler = self.disk / "filler"
        filler.unlink(missing_ok=True)
        room = os.statvfs(self.disk)
        with filler.open("wb") as file:
            os.posix_fallocate(file.fileno(), 0, room.f_bavail * room.f_frsize - mib * MIB)

    def refusal(self):
        """Of a new run, soon after the level is known."""
        deadline = time.monotonic() + SECONDS_MAX
        while True:
            self.runs += 1
            try:
                self.caller.make_run(self.runs, 1)
            except grpc.RpcError as refused:
                return refused
            self.assertLess(time.monotonic(), deadline)

    def make_run(self):
        """Taken, or taken soon: the level may be known a moment before the log heeds it."""
        deadline = time.monotonic() + SECONDS_MAX
        while True:
            self.runs += 1
            try:
                return self.caller.make_run(self.runs, 1)
            except grpc.RpcError as refused:
                self.assertEqual(refused.code(), Code.UNAVAILABLE, refused)
                self.assertLess(time.monotonic(), deadline)

    def test_a_low_disk_refuses_commands_until_there_is_room(self):
        self.make_run()
        self.assertTrue((self.disk / "data" / "BALLAST").exists())
        self.leave(30)
        self.wait_for_level(1)
        refused = self.refusal()
        self.assertEqual(refused.code(), Code.UNAVAILABLE, refused)
        self.assertIn("nearly full", refused.details())
        self.assertEqual(self.caller.call("GetRun", run=1).run, 1)  # Who reads is served.
        self.assertEqual(self.http("/readyz")[0], 200)
        (self.disk / "filler").unlink()
        self.wait_for_level(0)
        self.make_run()

    def test_a_full_disk_costs_the_ballast_and_no_process(self):
        self.make_run()
        self.leave(2)
        self.wait_for_level(2)
        self.assertEqual(self.http("/readyz"), (503, "disk full\n"))
        self.assertFalse((self.disk / "data" / "BALLAST").exists())
        self.refusal()
        (self.disk / "filler").unlink()
        self.wait_for_level(0)
        self.make_run()
        status, _ = self.server.terminate()
        self.assertEqual(status, 0)


if __name__ == "__main__":
    BINARY = os.path.abspath(sys.argv.pop(1))
    unittest.main(argv=[sys.argv[0], *[f"DiskTest.{name}" for name in sys.argv[1:]]])
