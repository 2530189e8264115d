#!/usr/bin/env python3
"""Coordination on three nodes, as processes: any node takes a request, a killed leader costs a retry and nothing else.

  tests/cluster/cluster_process_test.py CADASTRE [TEST...]
"""

import json
import pathlib
import shutil
import signal
import subprocess
import sys
import tempfile
import threading
import time
import unittest
import urllib.error

import grpc

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))
from cluster import GRPC_PORT, PEER_PORT, SECONDS_MAX, Cluster  # noqa: E402
from server_process import Caller, Server, detail, messages  # noqa: E402

BINARY = None
Code = grpc.StatusCode
RETRIED = (Code.UNAVAILABLE, Code.DEADLINE_EXCEEDED)


def run(*arguments):
    return subprocess.run([BINARY, "--json", *map(str, arguments)], capture_output=True, text=True, check=False,
                          timeout=SECONDS_MAX)


def error_of(done):
    return json.loads(done.stderr.splitlines()[-1])["error"]


class Roaming:
    """A caller that goes on to the next node when one is unavailable, and repeats."""

    def __init__(self, cluster):
        self.callers = [Caller(cluster.address(node)) for node in cluster.ids]
        self.retries = 0

    def call(self, method, **fields):
        deadline = time.monotonic() + SECONDS_MAX
        while True:
            caller = self.callers[0]
            try:
                return caller.stub(method)(caller.request(method, **fields), timeout=5)
            except grpc.RpcError as error:
                if error.code() not in RETRIED or time.monotonic() > deadline:
                    raise
                self.retries += 1
                self.callers.append(self.callers.pop(0))
                time.sleep(0.02)

    def close(self):
        for caller in self.callers:
            caller.close()


class ClusterTest(unittest.TestCase):
    def setUp(self):
        scratch = tempfile.TemporaryDirectory()
        self.addCleanup(scratch.cleanup)
        self.scratch = pathlib.Path(scratch.name)
        self.v1 = messages()

    def cluster(self):
        cluster = Cluster(BINARY, self.scratch)
        self.addCleanup(cluster.end)
        return cluster

    def caller(self, cluster, node):
        caller = Caller(cluster.address(node))
        self.addCleanup(caller.close)
        return caller

    def roaming(self, cluster):
        roaming = Roaming(cluster)
        self.addCleanup(roaming.close)
        return roaming

    # ---- Requests ----------------------------------------------------------------------------------------------------

    def test_any_node_takes_a_request(self):
        cluster = self.cluster().found()
        leader = cluster.wait_for_leader()
        for node in cluster.ids:
            caller = self.caller(cluster, node)
            caller.make_run(node, 2)
            lease = caller.call("Claim", run=node, worker=9).lease
            self.assertEqual(caller.call("GetShard", run=node, shard=lease.shard).fence, lease.fence)
        for node in cluster.ids:  # Reads see everything that was answered before, wherever they are asked.
            caller = self.caller(cluster, node)
            self.assertEqual(list(caller.call("ListRuns").runs), cluster.ids)
            refused = caller.refusal("CreateRun", run=1, config=self.v1.RunConfig(cursor_semantics=1, lease_duration=5))
            self.assertEqual(detail(refused).code, "run_already_exists")
        self.assertEqual(cluster.wait_for_leader(), leader)

    def test_a_claim_stream_through_a_follower_gets_what_becomes_free(self):
        cluster = self.cluster().found()
        caller = self.caller(cluster, cluster.follower())
        caller.make_run(1, 1)
        lease = caller.call("Claim", run=1, worker=1).lease
        stream = caller.stream(run=1, worker=2, grants_max=1)
        caller.call("Release", lease=lease, op_id=3)
        granted = list(stream)
        self.assertEqual([(grant.lease.shard, grant.lease.worker) for grant in granted], [(1, 2)])
        self.assertGreater(granted[0].lease.fence, lease.fence)

    def test_a_leader_shows_its_peers(self):
        cluster = self.cluster().found()
        leader, follower = cluster.wait_for_leader(), cluster.follower()
        others = [node for node in cluster.ids if node != leader]
        rows = [f'log_peer_{what}{{group="1",peer="{node}"}} ' for what in ("match_lag", "state") for node in others]
        cluster.wait_until("peers on the page of the leader",
                           lambda: all(row in cluster.page(leader, "/metrics") for row in rows))
        self.assertNotIn("log_peer_state", cluster.page(follower, "/metrics"))
        self.assertIn("log_votes_dropped_total ", cluster.page(follower, "/metrics"))
        group = json.loads(cluster.page(leader, "/debug/log/1"))
        self.assertEqual([peer["node"] for peer in group["peers"]], cluster.ids)
        self.assertEqual([each["voters"] for each in group["memberships"]], [cluster.ids])
        self.assertEqual(json.loads(cluster.page(follower, "/debug/log/1"))["peers"], [])

    def test_a_call_is_forwarded_once(self):
        cluster = self.cluster().found()
        caller = self.caller(cluster, cluster.follower())
        caller.metadata = [("cadastre-forwarded", "1")]
        refused = caller.refusal("ListRuns")
        self.assertEqual(refused.code(), Code.UNAVAILABLE)
        self.assertEqual(detail(refused).code, "no_leader")

    def test_a_node_that_moves_is_found_by_the_others(self):
        """It starts at other ports, by a file of its own: theirs still says where it was (L-69)."""
        cluster = self.cluster().found()
        self.caller(cluster, 1).make_run(1, 2)
        moved = cluster.follower()
        cluster.servers[moved].terminate()
        own = self.scratch / "moved"
        text = cluster.topology.read_text()
        for port in (GRPC_PORT, PEER_PORT):
            text = text.replace(f'"{cluster.net}.{moved}:{port}"', f'"{cluster.net}.{moved}:{port + 100}"')
        own.write_text(text)
        server = Server(BINARY, cluster.data(moved), "--topology", str(own), "--node", str(moved))
        server.start()
        cluster.servers[moved] = server
        leader = cluster.wait_for_leader()
        self.assertNotEqual(leader, moved)
        third = next(node for node in cluster.ids if node not in (leader, moved))
        cluster.servers[third].kill()  # From now on nothing is done without the one that moved.
        caller = self.caller(cluster, leader)
        lease = caller.call("Claim", run=1, worker=9).lease

        done = run("node", "transfer", "--server", cluster.address(leader), moved)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertEqual(cluster.wait_for_leader(), moved)
        # A call at a node whose file is old goes to where the leader is now.
        self.assertEqual(caller.call("GetShard", run=1, shard=lease.shard).fence, lease.fence)

    def test_without_a_majority_calls_are_unavailable_and_later_answered(self):
        cluster = self.cluster().found()
        leader = cluster.wait_for_leader()
        caller = self.caller(cluster, leader)
        caller.make_run(1, 1)
        others = [node for node in cluster.ids if node != leader]
        for node in others:
            cluster.servers[node].kill()
        stub = caller.stub("GetRun")
        with self.assertRaises(grpc.RpcError) as refused:
            stub(caller.request("GetRun", run=1), timeout=20)
        self.assertEqual(refused.exception.code(), Code.UNAVAILABLE)
        cluster.wait_until("both pages say so", lambda: self.readiness(cluster, leader, caller) == {(503, "no leader\n"), "no"})
        cluster.start_node(others[0])
        cluster.wait_for_leader()
        cluster.wait_until("both pages say so", lambda: self.readiness(cluster, leader, caller) == {(200, "ready\n"), "yes"})
        self.assertEqual(self.roaming(cluster).call("GetRun", run=1).run, 1)

    def readiness(self, cluster, node, caller):
        """What /readyz and the standard health service of the node say."""
        health = caller.channel.unary_unary("/grpc.health.v1.Health/Check", bytes, bytes)(b"", timeout=SECONDS_MAX)
        try:
            page = (200, cluster.page(node, "/readyz"))
        except urllib.error.HTTPError as error:
            page = (error.code, error.read().decode())
        return {page, {b"\x08\x01": "yes", b"\x08\x02": "no"}[health]}

    # ---- Kills -------------------------------------------------------------------------------------------------------

    def test_a_killed_leader_costs_a_retry_and_nothing_else(self):
        cluster = self.cluster().found()
        setup = self.roaming(cluster)
        setup.callers[0].make_run(1, 6)
        stop, acknowledged, wrong = threading.Event(), {}, []

        def work(worker):
            caller = Roaming(cluster)
            lease = caller.call("Acquire", run=1, shard=worker, worker=worker).lease
            step = 0
            try:
                while not stop.is_set():
                    step += 1
                    key = b"%04d%08d" % (worker - 1, step)
                    caller.call("Checkpoint", lease=lease, cursor=self.v1.Cursor(last_key=key), op_id=step)
                    acknowledged[worker] = step
            except grpc.RpcError as error:
                wrong.append((worker, step, error.code(), error.details()))
            caller.close()

        threads = [threading.Thread(target=work, args=(worker,)) for worker in range(1, 7)]
        for thread in threads:
            thread.start()
        try:
            cluster.wait_until("work", lambda: len(acknowledged) == 6)
            for _ in range(2):
                leader = cluster.wait_for_leader()
                before = dict(acknowledged)
                cluster.servers[leader].kill()
                cluster.wait_until("work after the kill",
                                   lambda: all(acknowledged[w] > before[w] + 5 for w in before) or wrong)
                cluster.start_node(leader)
        finally:
            stop.set()
            for thread in threads:
                thread.join(SECONDS_MAX)
        self.assertEqual(wrong, [])
        for worker, step in acknowledged.items():
            shard = setup.call("GetShard", run=1, shard=worker)
            self.assertGreaterEqual(shard.cursor.last_key, b"%04d%08d" % (worker - 1, step))
            self.assertEqual(shard.worker, worker)

    def test_a_killed_leader_costs_claims_and_new_runs_a_wait(self):
        """What certainly was not executed is asked again, though it has no op id: by whichever node it went first."""
        cluster = self.cluster().found()
        setup = self.roaming(cluster)
        setup.callers[0].make_run(1, 2)
        setup.callers[0].make_run(2, 2)
        tenant = setup.callers[0].tenant.hex()
        for step, asks in enumerate((("run", "create", 11, "--lease-ms", 1000), ("shard", "claim", 1, "--worker", 7),
                                     ("run", "create", 12, "--lease-ms", 1000), ("shard", "claim", 2, "--worker", 7))):
            leader = cluster.wait_for_leader()
            others = [node for node in cluster.ids if node != leader]
            order = [leader, *others] if step < 2 else [*others, leader]
            addresses = ",".join(cluster.address(node) for node in order)
            cluster.servers[leader].kill()
            done = run("coord", "--backend", addresses, "--tenant-id", tenant, *asks)
            self.assertEqual(done.returncode, 0, f"{asks}: {done.stderr}")
            cluster.start_node(leader)
        self.assertEqual(list(setup.call("ListRuns").runs), [1, 2, 11, 12])
        for claimed in (1, 2):
            self.assertEqual(setup.call("GetRunProgress", run=claimed).leased, 1)

    def test_a_stale_fence_stays_refused_after_the_leader_is_killed(self):
        cluster = self.cluster().found()
        caller = self.roaming(cluster)
        caller.callers[0].make_run(1, 1)
        old = caller.call("Acquire", run=1, shard=1, worker=1).lease
        caller.call("Release", lease=old, op_id=2)
        new = caller.call("Acquire", run=1, shard=1, worker=2).lease
        self.assertGreater(new.fence, old.fence)
        cluster.servers[cluster.wait_for_leader()].kill()
        with self.assertRaises(grpc.RpcError) as refused:
            caller.call("Checkpoint", lease=old, cursor=self.v1.Cursor(last_key=b"0000x"), op_id=3)
        self.assertEqual(detail(refused.exception).code, "stale_fence")
        caller.call("Checkpoint", lease=new, cursor=self.v1.Cursor(last_key=b"0000x"), op_id=4)

    def test_a_leader_that_was_paused_sends_waiting_streams_away(self):
        cluster = self.cluster().found()
        leader = cluster.wait_for_leader()
        caller = self.caller(cluster, leader)
        caller.make_run(1, 1)
        caller.call("Claim", run=1, worker=1)
        before = cluster.status(leader)["last"]
        stream = caller.stream(run=1, worker=2, grants_max=1)
        cluster.wait_until("the stream's claim", lambda: cluster.status(leader)["last"] > before)
        caller.call("GetRun", run=1)  # Behind the stream's own look at the run: it sleeps now.
        server = cluster.servers[leader]
        server.process.send_signal(signal.SIGSTOP)
        try:
            others = [node for node in cluster.ids if node != leader]
            cluster.wait_until("another leader", lambda: any(
                (cluster.status(node) or {}).get("role") == "leader" for node in others))
        finally:
            server.process.send_signal(signal.SIGCONT)
        with self.assertRaises(grpc.RpcError) as ended:
            next(stream)
        self.assertEqual(ended.exception.code(), Code.UNAVAILABLE)
        # Told of its lost leadership, or by the claim that it tried when it woke: whichever comes first.
        self.assertIn(detail(ended.exception).code, ("no_leader", "transient"))

    def test_a_rolling_restart_loses_nothing(self):
        cluster = self.cluster().found()
        caller = self.roaming(cluster)
        caller.callers[0].make_run(1, 1)
        lease = caller.call("Acquire", run=1, shard=1, worker=1).lease
        for step, node in enumerate(cluster.ids, 1):
            status, took = cluster.servers[node].terminate()
            self.assertEqual(status, 0)
            self.assertLess(took, 10)
            key = b"0000%d" % step
            caller.call("Checkpoint", lease=lease, cursor=self.v1.Cursor(last_key=key), op_id=step)
            cluster.start_node(node)
            cluster.wait_for_leader()
            self.assertEqual(caller.call("GetShard", run=1, shard=1).cursor.last_key, key)

    def test_the_clients_own_list_of_nodes_outlives_one_of_them(self):
        cluster = self.cluster().found()
        addresses = ",".join(cluster.address(node) for node in cluster.ids)
        made = run("coord", "--backend", addresses, "--tenant", "t", "run", "create", 1, "--lease-ms", 1000)
        self.assertEqual(made.returncode, 0, made.stderr)
        cluster.servers[1].kill()
        cluster.wait_for_leader()
        shown = run("coord", "--backend", addresses, "--tenant", "t", "run", "show", 1)
        self.assertEqual(shown.returncode, 0, shown.stderr)
        self.assertEqual(json.loads(shown.stdout)["run"], 1)

    # ---- Who may start -----------------------------------------------------------------------------------------------

    def refused(self, cluster, node, *options, data=None):
        done = run("serve", "--data", data or cluster.data(node), "--http", "127.0.0.1:0",
                   *cluster.options(node, *options))
        self.assertEqual(done.returncode, 1, done.stdout)
        return error_of(done)

    def test_a_node_starts_only_as_what_it_is(self):  # S-8, S-10, S-11
        cluster = self.cluster()
        self.assertIn("--bootstrap", self.refused(cluster, 1)["detail"])
        self.assertFalse((cluster.data(1) / "NODE").exists())
        self.assertIn("one of them", self.refused(cluster, 1, "--bootstrap", "--join")["detail"])
        self.assertIn("no node 9", self.refused(cluster, 9, "--bootstrap")["detail"])
        self.assertIn("leave --listen out", self.refused(cluster, 1, "--listen", "127.0.0.1:0")["detail"])
        cluster.found()
        self.assertEqual(self.refused(cluster, 1)["code"], "locked")
        cluster.servers[1].kill()
        self.assertIn("without --bootstrap", self.refused(cluster, 1, "--bootstrap")["detail"])
        self.assertEqual(self.refused(cluster, 2, data=cluster.data(1))["code"], "foreign_directory")
        text = cluster.topology.read_text()
        cluster.topology.write_text(text.replace('name: "n2"', 'name: "other"'))
        self.assertIn("not the one that this node began with", self.refused(cluster, 1)["detail"])
        cluster.topology.write_text(text.replace("cluster_id: 7", "cluster_id: 8"))
        self.assertEqual(self.refused(cluster, 1)["code"], "foreign_directory")
        cluster.topology.write_text(text)
        cluster.start_node(1)
        cluster.wait_for_leader()
        cluster.servers[1].kill()
        shutil.rmtree(cluster.data(1) / "log")
        self.assertEqual(self.refused(cluster, 1)["code"], "damaged")


if __name__ == "__main__":
    BINARY = str(pathlib.Path(sys.argv.pop(1)).resolve())
    names = [f"ClusterTest.{name}" for name in sys.argv[1:]]
    unittest.main(argv=[sys.argv[0], *names])
