"""A real cluster for tests: three `cadastre serve` on loopback addresses of their own, ended with their test.

Every cluster has a /24 of 127/8 for itself, so that its topology can name ports before anybody listens on them: a lock
on a socket of that net keeps other tests, of other clones too, away from it.
"""

import json
import pathlib
import random
import socket
import sys
import time
import urllib.error
import urllib.request

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / "server"))
from server_process import SECONDS_MAX, Server  # noqa: E402

GRPC_PORT, PEER_PORT, GUARD_PORT = 7400, 7402, 7999


def take_net():
    """A net 127.a.b that no other cluster has, and the socket that says so."""
    for _ in range(1000):
        net = f"127.{random.randrange(1, 255)}.{random.randrange(0, 255)}"
        guard = socket.socket()
        try:
            guard.bind((f"{net}.254", GUARD_PORT))
            return net, guard
        except OSError:
            guard.close()
    raise AssertionError("no net is free")


class Cluster:
    def __init__(self, binary, scratch, nodes=3, cluster_id=7):
        self.binary, self.scratch, self.cluster_id = binary, pathlib.Path(scratch), cluster_id
        self.net, self.guard = take_net()
        self.ids = list(range(1, nodes + 1))
        self.topology = self.scratch / "topology"
        self.topology.write_text(self.text())
        self.servers = {}

    def text(self):
        lines = [f"cluster_id: {self.cluster_id}"]
        for node in self.ids:
            lines.append(f'nodes {{ raft_id: {node} name: "n{node}" peer_addr: "{self.net}.{node}:{PEER_PORT}"'
                         f' grpc_addr: "{self.address(node)}" }}')
        lines.append(f"groups {{ group_id: 1 voters: {self.ids} }}")
        return "\n".join(lines) + "\n"

    def address(self, node):
        return f"{self.net}.{node}:{GRPC_PORT}"

    def data(self, node):
        return self.scratch / f"data{node}"

    def options(self, node, *more):
        return ["--topology", str(self.topology), "--node", str(node), *more]

    def start_node(self, node, *more):
        server = Server(self.binary, self.data(node), *self.options(node, *more))
        server.start()
        self.servers[node] = server
        return server

    def found(self):
        for node in self.ids:
            self.start_node(node, "--bootstrap")
        self.wait_for_leader()
        return self

    def page(self, node, path):
        with urllib.request.urlopen(f"http://{self.servers[node].ready['http']}{path}", timeout=5) as answer:
            return answer.read().decode()

    def status(self, node):
        """What the node says of the group, or nothing if it does not answer."""
        try:
            return json.loads(self.page(node, "/debug/log"))
        except (urllib.error.URLError, OSError, ValueError):
            return None

    def running(self):
        return [node for node, server in self.servers.items() if server.process.poll() is None]

    def wait_until(self, what, condition):
        deadline = time.monotonic() + SECONDS_MAX
        while time.monotonic() < deadline:
            found = condition()
            if found:
                return found
            time.sleep(0.02)
        raise AssertionError(f"not within {SECONDS_MAX} s: {what}: {[self.status(node) for node in self.running()]}")

    def wait_for_leader(self):
        """The node that leads, once all that run agree on it."""
        def agreed():
            told = [self.status(node) for node in self.running()]
            if not told or None in told:
                return None
            leaders = {each["leader"] for each in told}
            roles = [each["node"] for each in told if each["role"] == "leader"]
            return roles[0] if len(roles) == 1 and leaders == {roles[0]} else None
        return self.wait_until("a leader", agreed)

    def follower(self):
        leader = self.wait_for_leader()
        return next(node for node in self.running() if node != leader)

    def end(self):
        for server in self.servers.values():
            server.end()
        self.guard.close()
