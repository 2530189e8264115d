"""Three nodes on three machines (machines.py), as processes that can be killed, paused, cut off and starved of disk.

A node is `cadastre serve` (CoordinationNodes) or register_node (RegisterNodes): the same log and transport, another
state machine. What a node says goes to scratch/nodeN.log. The last machine's disk is a small one.
"""

import json
import os
import pathlib
import select
import signal
import socket
import subprocess
import time
import urllib.error
import urllib.request

from machines import Disk, Network, StallingDisk

READY_SECONDS_MAX = 90
GRPC_PORT, PEER_PORT, HTTP_PORT, DOOR_PORT = 7400, 7402, 7404, 7406
SMALL_DISK_MIB = 192
ROOM_TO_START = 6 << 20  # For a node, but not for what its log would take in advance.


class Node:
    """One process after the other, on one machine and one directory."""

    def __init__(self, number, network, log, disk):
        self.number, self.network, self.log, self.disk = number, network, log, disk
        self.process, self.paused = None, False

    def start(self, words):
        with open(self.log, "a", encoding="utf-8") as log:
            self.process = subprocess.Popen(self.network.command(self.number, words), stdout=subprocess.PIPE, stderr=log,
                                            text=True, start_new_session=True, **self.disk.surroundings())
        self.paused = False

    def wait_until_ready(self):
        """What the node says of itself once it serves."""
        readable, _, _ = select.select([self.process.stdout], [], [], READY_SECONDS_MAX)
        line = self.process.stdout.readline() if readable else ""
        if not line:
            raise AssertionError(f"node {self.number} does not start: {self.last_words()}")
        return line

    def last_words(self):
        return self.log.read_text(encoding="utf-8", errors="replace")[-2000:]

    def is_running(self):
        return self.process is not None and self.process.poll() is None

    def signal(self, number):
        if self.is_running():
            self.process.send_signal(number)

    def pause(self):
        self.signal(signal.SIGSTOP)
        self.paused = True

    def resume(self):
        self.signal(signal.SIGCONT)
        self.paused = False

    def kill(self):
        """SIGKILL, also of one that is paused or gone already."""
        if self.process is None:
            return
        self.signal(signal.SIGKILL)
        self.process.wait(READY_SECONDS_MAX)
        self.process.stdout.close()
        self.process, self.paused = None, False

    def terminate(self):
        """SIGTERM; the exit status."""
        self.signal(signal.SIGTERM)
        status = self.process.wait(READY_SECONDS_MAX)
        self.process.stdout.close()
        self.process = None
        return status


class NamespaceCluster:
    COUNT = 3

    def __init__(self, scratch, stuck_sync):
        self.scratch = pathlib.Path(scratch)
        self.network = Network(self.COUNT)
        self.ids = list(range(1, self.COUNT + 1))
        self.nodes = {each: Node(each, self.network, self.scratch / f"node{each}.log",
                                 StallingDisk(self.scratch / f"home{each}", stuck_sync)) for each in self.ids}
        self.starved, self.starving = self.ids[-1], False  # Whose disk can be full, and is.
        self.disk = Disk(self.scratch / f"data{self.starved}", SMALL_DISK_MIB)

    def words(self, number, first):
        """The command of a node; `first`: of a new directory."""
        raise NotImplementedError

    def status(self, number):
        """role, leader, term and applied of a node, or nothing if it does not answer."""
        raise NotImplementedError

    def transfer(self, to):
        """Asks for another leader, as often as not in vain."""
        raise NotImplementedError

    def data(self, number):
        return self.scratch / f"data{number}" / "node"

    def found(self):
        for number in self.ids:
            self.start(number, first=True)
        self.wait_for_leader()
        return self

    def start(self, number, first=False):
        self.start_unready(number, first)
        self.nodes[number].wait_until_ready()

    def start_unready(self, number, first=False):
        self.nodes[number].start(self.words(number, first))

    def leader(self):
        """Who says so in the highest term; nobody: None."""
        told = [(status["term"], number) for number in self.ids
                if (status := self.status(number)) is not None and status["role"] == "leader"]
        return max(told)[1] if told else None

    def wait_until(self, what, condition, seconds=READY_SECONDS_MAX):
        deadline = time.monotonic() + seconds
        while time.monotonic() < deadline:
            found = condition()
            if found:
                return found
            time.sleep(0.05)
        raise AssertionError(f"not within {seconds} s: {what}: {[self.status(number) for number in self.ids]}")

    def wait_for_leader(self):
        return self.wait_until("a leader", self.leader)

    def wait_until_equal(self):
        """Everybody has applied the same, with nothing under way."""
        def equal():
            told = [self.status(number) for number in self.ids]
            return None not in told and len({(each["leader"], each["applied"]) for each in told}) == 1
        self.wait_until("the same everywhere", equal)

    def starve(self):
        """Leaves the starved node no room at its next write. From now on it may stop, until feed(): as it starts, too, if
        there is more to replay than it has room for."""
        node = self.nodes[self.starved]
        node.kill()
        self.starving = True
        self.disk.fill(ROOM_TO_START)
        self.start_unready(self.starved)
        try:
            node.wait_until_ready()
        except AssertionError:
            node.process.wait(READY_SECONDS_MAX)
        self.disk.fill()

    def feed(self):
        self.disk.free()
        self.nodes[self.starved].kill()
        self.starving = False
        self.start(self.starved)

    def check_running(self):
        """A node ends when it is killed, or for want of room on its disk, and never else."""
        for number, node in self.nodes.items():
            if node.process is not None and not node.is_running() and not (self.starving and number == self.starved):
                raise AssertionError(f"node {number} ended with {node.process.returncode}: {node.last_words()}")

    def restore(self):
        """Ends every fault."""
        self.network.heal()
        for node in self.nodes.values():
            node.disk.end_stalls()
        if self.starving:
            self.feed()
        for number, node in self.nodes.items():
            if node.paused:
                node.resume()
            if node.process is None:
                self.start(number)
        self.check_running()

    def end(self):
        for node in self.nodes.values():
            node.kill()
            node.disk.end()
        self.network.end()
        self.disk.end()


class CoordinationNodes(NamespaceCluster):
    """`cadastre serve`. `binaries` says which one a node runs; it may change from start to start. With an authority of
    certificates nodes show each other theirs, and callers show them one, too."""

    def __init__(self, binary, scratch, stuck_sync, lease_reads=False, authority=None):
        super().__init__(scratch, stuck_sync)
        self.authority, self.credentials, self.https = authority, None, None
        if authority is not None:
            for number in self.ids:
                authority.make_node(f"n{number}", self.network.address(number), f"cadastre://cluster/7/node/{number}")
            authority.make("caller", "DNS:caller")
            self.credentials, self.https = authority.credentials("caller"), authority.https("caller")
        self.binaries = dict.fromkeys(self.ids, binary)
        self.config = []
        if lease_reads:
            file = self.scratch / "config.toml"
            file.write_text("[raft]\nlease_reads = true\n")
            self.config = ["--config", file]
        self.topology = self.scratch / "topology"
        lines = ["cluster_id: 7"]
        for number in self.ids:
            lines.append(f'nodes {{ raft_id: {number} name: "n{number}" peer_addr: "{self._at(number, PEER_PORT)}"'
                         f' grpc_addr: "{self.address(number)}" }}')
        lines.append(f"groups {{ group_id: 1 voters: {self.ids} }}")
        self.topology.write_text("\n".join(lines) + "\n")

    def _at(self, number, port):
        return f"{self.network.address(number)}:{port}"

    def address(self, number):
        return self._at(number, GRPC_PORT)

    def words(self, number, first):
        safety = ["--insecure"] if self.authority is None else self.authority.server_options(f"n{number}")
        return [self.binaries[number], "serve", "--data", self.data(number), "--topology", self.topology, "--node", number,
                "--http", self._at(number, HTTP_PORT), *safety, *self.config, *(["--bootstrap"] if first else [])]

    def transfer(self, to):
        words = [] if self.authority is None else self.authority.client_options("caller")
        subprocess.run([self.binaries[to], "node", "transfer", str(to), "--json", "--server",
                        ",".join(self.address(each) for each in self.ids), *words],
                       capture_output=True, check=False, timeout=READY_SECONDS_MAX)

    def status(self, number):
        page = f"{'http' if self.https is None else 'https'}://{self._at(number, HTTP_PORT)}/debug/log"
        try:
            with urllib.request.urlopen(page, timeout=1, context=self.https) as answer:
                return json.loads(answer.read())
        except (urllib.error.URLError, OSError, ValueError):
            return None


class RegisterNodes(NamespaceCluster):
    """register_node. Digests go to scratch/digestsN, which is on no disk that fills."""

    def __init__(self, binary, scratch, stuck_sync, lease_reads=False):
        super().__init__(scratch, stuck_sync)
        self.binary, self.starts, self.lease_reads = binary, 0, lease_reads

    def digests(self, number):
        return self.scratch / f"digests{number}"

    def door(self, number):
        return self.network.address(number), DOOR_PORT

    def words(self, number, first):
        del first
        peers = ",".join(f"{each}={self.network.address(each)}:{PEER_PORT}" for each in self.ids)
        os.makedirs(self.data(number), exist_ok=True)
        self.starts += 1
        return [self.binary, "--data", self.data(number), "--node", number, "--peers", peers, "--digests",
                self.digests(number), "--door", f"{self.network.address(number)}:{DOOR_PORT}", "--run", self.starts,
                *(["--lease-reads"] if self.lease_reads else [])]

    def ask(self, number, line):
        """The answer, or nothing."""
        try:
            with socket.create_connection(self.door(number), timeout=1) as door:
                door.settimeout(1)
                door.sendall(f"{line}\n".encode())
                return door.makefile().readline()
        except OSError:
            return ""

    def transfer(self, to):
        self.ask(self.leader() or to, f"transfer {to}")

    def status(self, number):
        try:
            return json.loads(self.ask(number, "status"))
        except ValueError:
            return None
