#!/usr/bin/env python3
"""`cadastre coord --backend etcd:…` as a process, on a real etcd of its own.

  tests/etcd_process_test.py CADASTRE [TEST...]

The transcripts of tests/cli that speak to a backend give the same answers on etcd as in memory, each block under a
prefix of its own; only `capacity` is advice and counted in another way there.
"""

import ctypes
import json
import os
import pathlib
import re
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import time
import unittest
import urllib.error
import urllib.request

HERE = pathlib.Path(__file__).resolve().parent
sys.dont_write_bytecode = True
sys.path.insert(0, str(HERE))
import cli_transcript  # noqa: E402

BINARY = None
SECONDS_MAX = 60
START_SECONDS_MAX = 20
PR_SET_PDEATHSIG = 1
TRANSCRIPTS = ("coord_timeline.txt", "coord_runs.txt", "coord_splits.txt", "coord_hostile.txt")
CAPACITY = re.compile(r'"capacity":\{[^}]*\}')


def end_with_parent():
    ctypes.CDLL(None).prctl(PR_SET_PDEATHSIG, signal.SIGKILL)
    os.setpgid(0, 0)


def free_ports(count):
    sockets = [socket.socket() for _ in range(count)]
    for one in sockets:
        one.bind(("127.0.0.1", 0))
    ports = [one.getsockname()[1] for one in sockets]
    for one in sockets:
        one.close()
    return ports


class Etcd:
    """A real etcd in a directory of its own. If somebody takes its port in between, others are tried."""

    def __init__(self):
        self.directory = pathlib.Path(tempfile.mkdtemp(prefix="cadastre_etcd_"))
        for _ in range(5):
            if self.start():
                return
        raise AssertionError("etcd does not start")

    def start(self):
        client, peer = free_ports(2)
        self.address = f"127.0.0.1:{client}"
        peers = f"http://127.0.0.1:{peer}"
        with open(self.directory / "log", "wb") as log:
            self.process = subprocess.Popen(
                ["etcd", f"--data-dir={self.directory / 'data'}", f"--listen-client-urls=http://{self.address}",
                 f"--advertise-client-urls=http://{self.address}", f"--listen-peer-urls={peers}",
                 f"--initial-advertise-peer-urls={peers}", f"--initial-cluster=default={peers}"],
                stdout=log, stderr=log, preexec_fn=end_with_parent)
        deadline = time.monotonic() + START_SECONDS_MAX
        while time.monotonic() < deadline and self.process.poll() is None:
            try:
                with urllib.request.urlopen(f"http://{self.address}/health", timeout=1) as answer:
                    if json.load(answer)["health"] == "true":
                        return True
            except (OSError, urllib.error.URLError):
                time.sleep(0.02)
        self.process.kill()
        self.process.wait()
        shutil.rmtree(self.directory / "data", ignore_errors=True)
        return False

    def stop(self):
        self.process.kill()
        self.process.wait()
        shutil.rmtree(self.directory)


def run(*words, given=""):
    return subprocess.run([BINARY, *words], input=given.encode(), capture_output=True, timeout=SECONDS_MAX, check=False)


class EtcdProcess(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.etcd = Etcd()

    @classmethod
    def tearDownClass(cls):
        cls.etcd.stop()

    def coord(self, *words, prefix="/shared"):
        done = run("coord", *words, "--backend", f"etcd:{self.etcd.address}{prefix}", "--json")
        self.assertEqual(done.returncode, 0, done.stderr)
        return json.loads(done.stdout)

    def refused(self, *words, backend):
        done = run("coord", *words, "--backend", backend, "--json")
        self.assertEqual(done.returncode, 1, done.stdout)
        self.assertEqual(done.stdout, b"")
        return json.loads(done.stderr)["error"]

    def test_the_transcripts_of_coord_give_the_same_answers_on_etcd(self):
        blocks_run = 0
        for name in TRANSCRIPTS:
            path = HERE / "cli" / name
            for number, block in enumerate(re.split(r"\n\n+", path.read_text().strip("\n"))):
                head, separator, expected = block.partition("\n----")
                command = [line for line in head.split("\n") if line.startswith("$ ")]
                if not separator or not command or "--backend memory" not in command[0]:
                    continue
                place = f"etcd:{self.etcd.address}/{path.stem}/{number}"
                given = "".join(line[2:] + "\n" for line in head.split("\n") if line.startswith("< "))
                with tempfile.TemporaryDirectory(prefix="cadastre_cli_") as scratch:
                    really = cli_transcript.run(BINARY, path.parent, os.fsencode(scratch),
                                                command[0].replace("memory", place), given)
                wanted = expected.strip("\n").split("\n") if expected.strip("\n") else []
                plain = lambda lines: [CAPACITY.sub('"capacity":{}', line) for line in lines]
                self.assertEqual(plain(really), plain(wanted), f"{name}, block {number}")
                blocks_run += 1
        self.assertGreater(blocks_run, 15)

    def test_a_lease_that_outlasts_its_owner_key_is_refused(self):  # D-35
        error = self.refused("run", "create", "9", "--lease-ms", "60001", backend=f"etcd:{self.etcd.address}/lengths")
        self.assertIn("kept for 60 s: raise the owner's TTL", error["detail"])
        self.coord("run", "create", "9", "--lease-ms", "60000", prefix="/lengths")
        self.coord("run", "create", "10", "--lease-ms", "60001", "--etcd-owner-ttl", "61", prefix="/lengths")

    def test_commands_share_what_etcd_keeps(self):
        self.coord("run", "create", "1", "--lease-ms", "30000")
        with tempfile.NamedTemporaryFile("w", suffix=".jsonl") as plan:
            plan.write('{"id":1,"start":"a","end":"m"}\n{"id":2,"start":"m","end":"z"}\n')
            plan.flush()
            self.assertEqual(self.coord("run", "register", "1", plan.name)["outcome"], "executed")
        claimed = self.coord("shard", "claim", "1", "--worker", "7")
        lease = json.dumps(claimed["lease"])
        self.assertEqual(claimed["capacity"]["available"], 1)
        key = claimed["spec"]["start"] + "1"
        words = ("shard", "checkpoint", "--lease", lease, "--last-key", key, "--op-id", "9")
        self.assertEqual(self.coord(*words)["outcome"], "executed")
        self.assertEqual(self.coord(*words)["outcome"], "replayed")
        self.assertEqual(self.coord("run", "show", "1")["counts"]["leased"], 1)
        # Another prefix is another registry.
        done = run("coord", "run", "show", "1", "--backend", f"etcd:{self.etcd.address}/elsewhere", "--json")
        self.assertEqual(json.loads(done.stderr)["error"]["code"], "run_not_found")

    def test_without_etcd_a_command_says_so_soon(self):
        begin = time.monotonic()
        (port,) = free_ports(1)
        error = self.refused("run", "list", backend=f"etcd:127.0.0.1:{port}")
        self.assertEqual((error["code"], error["retry"]), ("transient", "later"))
        self.assertLess(time.monotonic() - begin, 10)

    def test_a_place_that_is_none_is_refused(self):
        for place in ("etcd:", "etcd:nowhere", "etcd:127.0.0.1:1/x/", "etcd:user:secret@127.0.0.1:1"):
            error = self.refused("run", "list", backend=place)
            self.assertEqual(error["code"], "unknown_backend", place)
            self.assertNotIn("secret", error["detail"])
        with tempfile.NamedTemporaryFile("w") as user:
            user.write("no password here\n")
            user.flush()
            error = self.refused("run", "list", "--etcd-user-file", user.name, backend="etcd:127.0.0.1:1")
            self.assertEqual(error["code"], "cannot_open")
            self.assertNotIn("no password here", error["detail"])


if __name__ == "__main__":
    BINARY = str(pathlib.Path(sys.argv.pop(1)).resolve())
    unittest.main(argv=[sys.argv[0], *(f"EtcdProcess.{name}" for name in sys.argv[1:])])
