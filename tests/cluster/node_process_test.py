#!/usr/bin/env python3
"""Members of a real cluster come and go: `cadastre node`, every command and every refusal.

  tests/cluster/node_process_test.py CADASTRE [TEST...]
"""

import json
import pathlib
import shutil
import subprocess
import sys
import tempfile
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))
from cluster import PEER_PORT, SECONDS_MAX, Cluster  # noqa: E402
from server_process import Server  # noqa: E402

BINARY = None


def run(*arguments):
    return subprocess.run([BINARY, "--json", *map(str, arguments)], capture_output=True, text=True, check=False,
                          timeout=2 * SECONDS_MAX)


def error_of(done):
    return json.loads(done.stderr.splitlines()[-1])["error"]


class Nodes(Cluster):
    """A cluster to which nodes are added that its file does not name."""

    def servers_text(self):
        return ",".join(self.address(node) for node in self.running())

    def node(self, *words):
        done = run("node", words[0], "--server", self.servers_text(), *words[1:])
        if done.returncode != 0:
            raise AssertionError(f"{words}: {done.stderr}")
        return json.loads(done.stdout)

    def refused(self, *words):
        done = run("node", words[0], "--server", self.servers_text(), *words[1:])
        if done.returncode != 1:
            raise AssertionError(f"{words} was not refused: {done.stdout} {done.stderr}")
        return error_of(done)

    def where(self, node):
        return ["--peer", f"{self.net}.{node}:{PEER_PORT}", "--service", self.address(node)]

    def start_joiner(self, node):
        """By a file that has the node as well; the others keep theirs."""
        own = self.scratch / f"topology{node}"
        ids, self.ids = self.ids, [*self.ids, node]
        text = self.text()
        self.ids = ids
        own.write_text(text.replace(f"voters: {[*ids, node]}", f"voters: {ids}"))
        server = Server(self.binary, self.data(node), "--topology", str(own), "--node", str(node), "--join")
        server.start()
        self.servers[node] = server
        return server

    def kinds(self, status=None):
        status = status or self.node("status")
        return {member["node"]: member["kind"] for member in status["members"]}


class NodeTest(unittest.TestCase):
    def setUp(self):
        scratch = tempfile.TemporaryDirectory()
        self.addCleanup(scratch.cleanup)
        self.scratch = pathlib.Path(scratch.name)

    def cluster(self, nodes=3):
        cluster = Nodes(BINARY, self.scratch, nodes)
        self.addCleanup(cluster.end)
        return cluster

    def coord(self, cluster, *words):
        done = run("coord", "--backend", cluster.servers_text(), "--tenant", "t", *words)
        self.assertEqual(done.returncode, 0, done.stderr)
        return [json.loads(line) for line in done.stdout.splitlines()]

    def make_runs(self, cluster, first, last):
        for number in range(first, last + 1):
            self.coord(cluster, "run", "create", number, "--lease-ms", 1000)

    def runs(self, cluster):
        return [each["run"] for each in self.coord(cluster, "run", "list")]

    # ---- Looking -----------------------------------------------------------------------------------------------------

    def test_status_is_the_leaders_whoever_is_asked(self):
        cluster = self.cluster().found()
        leader = cluster.wait_for_leader()
        for node in cluster.ids:
            done = run("node", "status", "--server", cluster.address(node))
            self.assertEqual(done.returncode, 0, done.stderr)
            status = json.loads(done.stdout)
            self.assertEqual((status["node"], status["leader"], status["role"]), (leader, leader, "leader"))
            self.assertEqual(cluster.kinds(status), {1: "voter", 2: "voter", 3: "voter"})
            self.assertFalse(status["recovered"] or status["joint"] or status["pending_change"])
        here = run("node", "status", "--here", "--server", cluster.address(cluster.follower()))
        self.assertEqual(json.loads(here.stdout)["role"], "follower")
        table = subprocess.run([BINARY, "node", "status", "--server", cluster.address(1)], capture_output=True,
                               text=True, check=True).stdout
        self.assertIn(f"node {leader} leads", table)
        self.assertIn(f"{leader} *", table)

    def test_nobody_answers(self):
        done = run("node", "status", "--server", "127.0.0.1:1")
        self.assertEqual(done.returncode, 1)
        self.assertEqual((error_of(done)["code"], error_of(done)["retry"]), ("unreachable", "later"))

    def test_a_server_on_its_own_has_no_members(self):
        server = Server(BINARY, self.scratch / "own")
        server.start()
        self.addCleanup(server.end)
        done = run("node", "status", "--server", server.ready["grpc"])
        self.assertEqual(error_of(done)["code"], "not_replicated")

    def test_with_tokens_an_operator_needs_one(self):
        tokens = self.scratch / "tokens"
        tokens.write_text("token-of-the-workers t\ntoken-of-the-operators operator\n")
        tokens.chmod(0o600)
        cluster = self.cluster()
        for node in cluster.ids:
            cluster.start_node(node, "--bootstrap", "--token-file", str(tokens))
        cluster.wait_for_leader()
        self.assertEqual(cluster.refused("status")["code"], "permission_denied")
        for name, token in (("worker", "token-of-the-workers"), ("operator", "token-of-the-operators")):
            (self.scratch / name).write_text(token + "\n")
        self.assertEqual(cluster.refused("status", "--token-file", self.scratch / "worker")["code"], "permission_denied")
        self.assertEqual(len(cluster.node("status", "--token-file", self.scratch / "operator")["members"]), 3)

    # ---- Leading -----------------------------------------------------------------------------------------------------

    def test_transfer(self):
        cluster = self.cluster().found()
        follower = cluster.follower()
        self.assertEqual(cluster.node("transfer", follower)["leader"], follower)
        self.assertEqual(cluster.wait_for_leader(), follower)
        self.assertEqual(cluster.node("transfer", follower)["leader"], follower)  # It does already.
        self.assertIn("not another voter", cluster.refused("transfer", 9)["detail"])

    # ---- Leaving -----------------------------------------------------------------------------------------------------

    def test_remove_a_follower_for_ever(self):
        cluster = self.cluster().found()
        follower = cluster.follower()
        status = cluster.node("remove", follower)
        self.assertNotIn(follower, cluster.kinds(status))
        self.assertEqual(status["removed"], [follower])
        cluster.wait_until("it stops", lambda: "removed" in (cluster.status(follower) or {}).get("halted", ""))
        cluster.servers[follower].kill()
        cluster.node("remove", follower)  # Again: it is gone already.
        again = cluster.refused("add", follower, *cluster.where(follower))
        self.assertEqual((again["code"], again["retry"]), ("invalid_change", "never"))
        self.assertIn("never used again", again["detail"])
        done = run("serve", "--data", cluster.data(follower), "--http", "127.0.0.1:0", *cluster.options(follower))
        self.assertEqual((done.returncode, error_of(done)["code"]), (1, "foreign_directory"))
        self.assertIn("new raft_id", error_of(done)["detail"])
        self.make_runs(cluster, 1, 2)

    def test_remove_the_leader_moves_leadership_first(self):
        cluster = self.cluster().found()
        leader = cluster.wait_for_leader()
        status = cluster.node("remove", leader)
        self.assertNotEqual(status["leader"], leader)
        self.assertNotIn(leader, cluster.kinds(status))

    def test_a_node_that_missed_its_removal_hears_of_it(self):
        cluster = self.cluster().found()
        follower = cluster.follower()
        cluster.servers[follower].kill()
        cluster.node("remove", follower)
        cluster.start_node(follower)
        cluster.wait_until("it stops", lambda: "removed" in (cluster.status(follower) or {}).get("halted", ""))

    def test_what_remains_needs_a_quorum(self):
        cluster = self.cluster().found()
        leader = cluster.wait_for_leader()
        dead, alive = [node for node in cluster.ids if node != leader]
        cluster.servers[dead].kill()
        cluster.wait_until("it is missed", lambda: any(
            member["node"] == dead and (member["silent_ms"] or 0) > 2500 for member in cluster.node("status")["members"]))
        refused = cluster.refused("remove", alive)
        self.assertEqual((refused["code"], refused["retry"]), ("busy", "later"))
        self.assertIn(f"node {dead} was not heard", refused["detail"])
        self.assertNotIn(dead, cluster.kinds(cluster.node("remove", dead)))

    # ---- Joining -----------------------------------------------------------------------------------------------------

    def test_add_refuses_what_makes_no_sense(self):
        cluster = self.cluster().found()
        self.assertIn("--peer", cluster.refused("add", 4)["detail"])
        self.assertEqual(cluster.refused("add", 4, "--peer", "no address")["code"], "invalid_change")
        self.assertEqual(cluster.refused("remove", 9)["code"], "invalid_change")
        done = run("node", "add")
        self.assertEqual(done.returncode, 2)

    def test_a_learner_that_is_not_there_is_not_promoted(self):
        cluster = self.cluster().found()
        self.assertEqual(cluster.kinds(cluster.node("add", 4, *cluster.where(4)))[4], "learner")
        refused = cluster.refused("add", 4, "--promote", "--timeout", 2)
        self.assertEqual(refused["code"], "timed_out")
        self.assertIn("learner 4 has entry 0", refused["detail"])
        self.make_runs(cluster, 1, 1)  # The group is as it was.

    def test_add_a_fourth_and_promote_it(self):
        cluster = self.cluster().found()
        self.make_runs(cluster, 1, 5)
        cluster.start_joiner(4)
        status = cluster.node("add", 4, *cluster.where(4), "--promote")
        self.assertEqual(cluster.kinds(status), {1: "voter", 2: "voter", 3: "voter", 4: "voter"})
        self.assertEqual(cluster.node("transfer", 4)["leader"], 4)  # It leads, and is found by who does not know its file.
        for node in cluster.running():
            done = run("coord", "--backend", cluster.address(node), "--tenant", "t", "run", "list")
            self.assertEqual(done.returncode, 0, done.stderr)
            self.assertEqual(len(done.stdout.splitlines()), 5)

    def test_replace_a_lost_machine(self):
        cluster = self.cluster().found()
        self.make_runs(cluster, 1, 5)
        lost = cluster.follower()
        cluster.servers[lost].kill()
        shutil.rmtree(cluster.data(lost))
        cluster.start_joiner(4)
        status = cluster.node("replace", lost, 4, *cluster.where(4))
        self.assertEqual(cluster.kinds(status), {node: "voter" for node in [*cluster.ids, 4] if node != lost})
        self.assertEqual(cluster.node("replace", lost, 4)["conf_index"], status["conf_index"])  # Again: it is done.
        self.assertEqual(self.runs(cluster), [1, 2, 3, 4, 5])

    # ---- Closed directories ------------------------------------------------------------------------------------------

    def test_recover_after_the_loss_of_a_quorum(self):
        cluster = self.cluster().found()
        self.make_runs(cluster, 1, 5)
        survivor = cluster.wait_for_leader()
        for node in cluster.ids:
            cluster.servers[node].kill()
        copy = self.scratch / "copy"
        shutil.copytree(cluster.data(survivor), copy)
        survey = json.loads(run("node", "recover", copy).stdout)
        self.assertEqual(survey["highest"], survivor)
        self.assertEqual(len(survey["digest"]), 64)
        self.assertEqual(survey["survivors"][0]["voters"], [1, 2, 3])
        other = next(node for node in cluster.ids if node != survivor)
        refused = run("node", "recover", "--keep", survivor, "--highest", other, copy)
        self.assertIn(f"node {survivor}", error_of(refused)["detail"])
        self.assertEqual(run("node", "recover", "--keep", survivor, copy).returncode, 2)
        missing = run("node", "recover", "--keep", f"{survivor},{other}", "--highest", survivor, copy)
        self.assertIn("directory is not named", error_of(missing)["detail"])
        done = run("node", "recover", "--keep", survivor, "--highest", survivor, copy)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertTrue(json.loads(done.stdout)["recovered"])
        shutil.rmtree(cluster.data(survivor))
        shutil.copytree(copy, cluster.data(survivor))
        cluster.start_node(survivor)
        cluster.wait_for_leader()
        status = cluster.node("status")
        self.assertTrue(status["recovered"])
        self.assertEqual(cluster.kinds(status), {survivor: "voter"})
        self.assertEqual(status["removed"], [node for node in cluster.ids if node != survivor])
        self.assertEqual(self.runs(cluster), [1, 2, 3, 4, 5])
        text = subprocess.run([BINARY, "node", "status", "--server", cluster.address(survivor)], capture_output=True,
                              text=True, check=True).stdout
        self.assertIn("acknowledged writes may be lost", text)

    def test_recover_two_of_five(self):
        cluster = self.cluster(5).found()
        self.make_runs(cluster, 1, 3)
        kept = [1, 2]
        for node in cluster.ids:
            cluster.servers[node].kill()
        copies = [self.scratch / f"copy{node}" for node in kept]
        for node, copy in zip(kept, copies):
            shutil.copytree(cluster.data(node), copy)
        highest = json.loads(run("node", "recover", *copies).stdout)["highest"]
        done = run("node", "recover", "--keep", 1, "--keep", 2, "--highest", highest, *copies)
        self.assertEqual(done.returncode, 0, done.stderr)
        again = run("node", "recover", "--keep", 1, "--keep", 2, "--highest", highest, *copies)
        self.assertEqual(json.loads(again.stdout), json.loads(done.stdout))
        for node, copy in zip(kept, copies):
            shutil.rmtree(cluster.data(node))
            shutil.copytree(copy, cluster.data(node))
            cluster.start_node(node)
        cluster.wait_for_leader()
        self.assertEqual(cluster.kinds(), {1: "voter", 2: "voter"})
        self.assertEqual(self.runs(cluster), [1, 2, 3])

    def test_recover_refuses_while_there_is_a_quorum(self):
        cluster = self.cluster().found()
        for node in cluster.ids:
            cluster.servers[node].kill()
        highest = json.loads(run("node", "recover", cluster.data(1), cluster.data(2)).stdout)["highest"]
        done = run("node", "recover", "--keep", "1,2", "--highest", highest, cluster.data(1), cluster.data(2))
        self.assertIn("a quorum: start them", error_of(done)["detail"])

    def test_a_directory_that_is_open_is_left_alone(self):
        cluster = self.cluster().found()
        for done in (run("node", "recover", cluster.data(1)), run("node", "convert", cluster.data(1), "--to", "local")):
            self.assertEqual((done.returncode, error_of(done)["code"]), (1, "locked"))

    def make_local(self, cluster):
        server = Server(BINARY, cluster.data(1))
        server.start()
        self.addCleanup(server.end)
        for number in (1, 2, 3):
            done = run("coord", "--backend", server.ready["grpc"], "--tenant", "t", "run", "create", number, "--lease-ms",
                       1000)
            self.assertEqual(done.returncode, 0, done.stderr)
        self.assertEqual(server.terminate()[0], 0)

    def test_convert_there_and_back(self):
        cluster = self.cluster(1)
        self.make_local(cluster)
        refused = run("node", "convert", cluster.data(1), "--to", "raft")
        self.assertEqual(refused.returncode, 2)
        done = run("node", "convert", cluster.data(1), "--to", "raft", "--topology", cluster.topology, "--node", 1)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertEqual(json.loads(done.stdout)["engine"], "raft")
        cluster.start_node(1)
        cluster.wait_for_leader()
        self.assertEqual(self.runs(cluster), [1, 2, 3])
        self.make_runs(cluster, 4, 4)
        self.assertEqual(cluster.servers[1].terminate()[0], 0)
        again = run("node", "convert", cluster.data(1), "--to", "raft", "--topology", cluster.topology, "--node", 1)
        self.assertIn("already", error_of(again)["detail"])
        back = run("node", "convert", cluster.data(1), "--to", "local")
        self.assertEqual(back.returncode, 0, back.stderr)
        server = Server(BINARY, cluster.data(1))
        server.start()
        self.addCleanup(server.end)
        listed = run("coord", "--backend", server.ready["grpc"], "--tenant", "t", "run", "list")
        self.assertEqual([json.loads(line)["run"] for line in listed.stdout.splitlines()], [1, 2, 3, 4])

    def test_convert_refuses_a_topology_of_several(self):
        cluster = self.cluster(3)
        self.make_local(cluster)
        done = run("node", "convert", cluster.data(1), "--to", "raft", "--topology", cluster.topology, "--node", 1)
        self.assertIn("with voter 1 alone", error_of(done)["detail"])

    def test_convert_and_grow_to_three(self):
        cluster = self.cluster(1)
        self.make_local(cluster)
        done = run("node", "convert", cluster.data(1), "--to", "raft", "--topology", cluster.topology, "--node", 1)
        self.assertEqual(done.returncode, 0, done.stderr)
        cluster.start_node(1)
        cluster.wait_for_leader()
        for node in (2, 3):
            cluster.start_joiner(node)
            cluster.node("add", node, *cluster.where(node), "--promote")
        self.assertEqual(cluster.kinds(), {1: "voter", 2: "voter", 3: "voter"})
        cluster.servers[1].kill()
        cluster.wait_until("another leader", lambda: any(
            (cluster.status(node) or {}).get("role") == "leader" for node in (2, 3)))
        self.assertEqual(self.runs(cluster), [1, 2, 3])

    def test_a_node_of_a_cluster_is_not_backed_up(self):  # L-48
        cluster = self.cluster(1).found()
        self.assertEqual(cluster.servers[1].terminate()[0], 0)
        refused = error_of(run("backup", cluster.data(1), self.scratch / "copy"))
        self.assertEqual((refused["code"], refused["retry"]), ("of_cluster", "never"))
        self.assertFalse((self.scratch / "copy").exists())

    # ---- Who may start -----------------------------------------------------------------------------------------------

    def test_a_foreign_directory_says_what_to_do(self):
        cluster = self.cluster().found()
        cluster.servers[1].kill()
        text = cluster.topology.read_text()
        cluster.topology.write_text(text.replace("cluster_id: 7", "cluster_id: 8"))
        done = run("serve", "--data", cluster.data(1), "--http", "127.0.0.1:0", *cluster.options(1))
        self.assertEqual(error_of(done)["code"], "foreign_directory")
        self.assertIn("give the other --data or the other --topology", error_of(done)["detail"])
        cluster.topology.write_text(text)
        done = run("serve", "--data", cluster.data(1), "--http", "127.0.0.1:0", *cluster.options(2))
        self.assertIn("the directory is that of node 1", error_of(done)["detail"])


if __name__ == "__main__":
    BINARY = str(pathlib.Path(sys.argv.pop(1)).resolve())
    names = [f"NodeTest.{name}" for name in sys.argv[1:]]
    unittest.main(argv=[sys.argv[0], *names])
