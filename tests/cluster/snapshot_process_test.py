#!/usr/bin/env python3
"""A node that was away too long is fed by a snapshot while the group serves, whoever is killed meanwhile (log.md section 7).

  tests/cluster/snapshot_process_test.py CADASTRE [TEST...]
"""

import pathlib
import re
import subprocess
import sys
import tempfile
import threading
import time
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))
from cluster import SECONDS_MAX, Cluster  # noqa: E402
from cluster_process_test import Roaming  # noqa: E402
from server_process import Caller, messages  # noqa: E402

BINARY = None
# Logs that forget soon; files that travel slowly enough to be caught on their way.
CONFIG = """
[cluster]
checkpoint_bytes_per_second = 1048576
[log]
truncate_every_ms = 100
truncate_bytes = 4096
truncate_entries = 10
flush_after_ms = 200
leader_trail_bytes = 8192
leader_trail_entries = 10
follower_trail_bytes = 4096
peer_silent_ms = 500
"""
METADATA = bytes(12_000)
SHARDS = 40
BULKY_RUNS = 12  # Six seconds on the way at that pace.


class SnapshotTest(unittest.TestCase):
    def setUp(self):
        scratch = tempfile.TemporaryDirectory()
        self.addCleanup(scratch.cleanup)
        self.scratch = pathlib.Path(scratch.name)
        self.config = self.scratch / "server.toml"
        self.config.write_text(CONFIG)
        self.v1 = messages()
        self.cluster = Cluster(BINARY, self.scratch)
        self.addCleanup(self.cluster.end)
        for node in self.cluster.ids:
            self.start(node, "--bootstrap")
        self.cluster.wait_for_leader()
        self.caller = Roaming(self.cluster)
        self.addCleanup(self.caller.close)
        self.runs = 0

    def start(self, node, *more):
        return self.cluster.start_node(node, "--config", str(self.config), *more)

    def count(self, node, name):
        found = re.search(rf"^{name} (\d+)$", self.cluster.page(node, "/metrics"), re.M)
        return int(found.group(1))

    def make_run(self, shards, metadata):
        self.runs += 1
        run = self.runs
        config = self.v1.RunConfig(cursor_semantics=1, lease_duration=30_000)
        self.caller.call("CreateRun", run=run, config=config)
        parts = [self.v1.InitialShard(shard=i + 1, spec=self.v1.Spec(start=b"%04d" % i, end=b"%04d" % (i + 1),
                                                                     metadata=metadata)) for i in range(shards)]
        self.caller.call("RegisterShards", run=run, shards=parts, op_id=1)

    def everything(self, caller):
        """All records, as bytes."""
        runs = list(caller.call("ListRuns").runs)
        return {run: [caller.call("GetRun", run=run).SerializeToString(),
                      *(shard.SerializeToString() for shard in caller.call("ListShards", run=run).shards)] for run in runs}

    def leave_behind(self, node):
        """Kills the node and writes until the leader no longer has what it lacks."""
        last = self.cluster.status(node)["last"]
        self.cluster.servers[node].kill()
        leader = self.cluster.wait_for_leader()
        for _ in range(BULKY_RUNS):
            self.make_run(SHARDS, METADATA)
        deadline = time.monotonic() + SECONDS_MAX
        while self.cluster.status(leader)["truncated"] <= last:
            self.make_run(1, b"")
            self.assertLess(time.monotonic(), deadline, self.cluster.status(leader))
        return leader

    def wait_until_it_caught_up(self, node):
        """With what the leader has now; it goes on meanwhile."""
        goal = self.cluster.status(self.cluster.wait_for_leader())["applied"]
        self.cluster.wait_until("it catches up", lambda: (self.cluster.status(node) or {}).get("applied", 0) >= goal)

    def expect_equal(self, node):
        """The node leads, and has what the others had."""
        before = self.everything(self.caller)
        given = subprocess.run([BINARY, "node", "transfer", str(node), "--server", self.cluster.address(node)],
                               capture_output=True, text=True, timeout=SECONDS_MAX, check=False)
        self.assertEqual(given.returncode, 0, given.stderr)
        self.assertEqual(self.cluster.wait_for_leader(), node)
        caller = Caller(self.cluster.address(node))
        self.addCleanup(caller.close)
        self.assertEqual(self.everything(caller), before)

    def staging(self, node):
        """Whether a checkpoint is on its way to the node and not complete."""
        for directory in (self.cluster.data(node) / "checkpoints" / "staged").glob("*"):
            if (directory / "FILES").exists() and not (directory / "CHECKPOINT").exists():
                return True
        return False

    def test_a_node_that_was_away_is_fed_while_the_group_serves(self):
        leader = self.leave_behind(3)
        self.start(3)
        ending = threading.Event()
        answered = []

        def work():
            while not ending.is_set():
                began = time.monotonic()
                self.make_run(1, b"")
                answered.append(time.monotonic() - began)
        worker = threading.Thread(target=work)
        worker.start()
        try:
            self.cluster.wait_until("an install", lambda: self.count(3, "log_snapshot_installed_total") >= 1)
            self.wait_until_it_caught_up(3)
        finally:
            ending.set()
            worker.join(SECONDS_MAX)
        self.assertGreater(len(answered), 10)
        self.assertEqual(self.cluster.wait_for_leader(), leader)
        self.assertGreaterEqual(self.count(leader, "log_snapshot_sent_total"), 1)
        self.expect_equal(3)
        self.cluster.wait_until("what was staged is gone", lambda: not any(
            (self.cluster.data(3) / "checkpoints" / "staged").iterdir()))

    def test_a_receiver_killed_while_it_fetches_goes_on(self):
        self.leave_behind(3)
        for _ in range(2):
            self.start(3)
            self.cluster.wait_until("a checkpoint on its way", lambda: self.staging(3))
            self.cluster.servers[3].kill()
        self.start(3)
        self.wait_until_it_caught_up(3)
        self.expect_equal(3)

    def test_a_sender_killed_while_it_is_read_from_is_replaced(self):
        leader = self.leave_behind(3)
        self.start(3)
        self.cluster.wait_until("a checkpoint on its way", lambda: self.staging(3))
        self.cluster.servers[leader].kill()
        self.start(leader)
        self.wait_until_it_caught_up(3)
        self.expect_equal(3)


if __name__ == "__main__":
    BINARY = str(pathlib.Path(sys.argv.pop(1)).resolve())
    names = [f"SnapshotTest.{name}" for name in sys.argv[1:]]
    unittest.main(argv=[sys.argv[0], *names])
