#!/usr/bin/env python3
"""Nodes as processes and who talks to them: certificates that name their node, and peers that lie or send garbage are
disconnected and counted, and nothing else happens (L-68).

  tests/cluster/peer_process_test.py CADASTRE [TEST...]
"""

import pathlib
import re
import struct
import subprocess
import sys
import tempfile
import threading
import unittest

import grpc

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))
from certificates import Authority  # noqa: E402
from cluster import PEER_PORT, SECONDS_MAX, Cluster  # noqa: E402
from server_process import Caller  # noqa: E402

BINARY = None
FRAMES = "/cadastre.Internal/Frames"
FETCH = "/cadastre.Internal/FetchCheckpoint"
CASTAGNOLI = 0x82F63B78
FRAME_BODY_MAX = 1 << 20


def crc32c(content):
    crc = 0xFFFFFFFF
    for byte in content:
        crc ^= byte
        for _ in range(8):
            crc = crc >> 1 ^ (CASTAGNOLI if crc & 1 else 0)
    return crc ^ 0xFFFFFFFF


def preamble(to, cluster=7, sender=9, incarnation=1):
    head = b"CDRP" + struct.pack("<HHQQQQ", 1, 1, cluster, sender, to, incarnation)
    return head + struct.pack("<I", crc32c(head))


def frame(to, group, body, sender=9, size=None):
    head = b"CDRF" + struct.pack("<HHQQQII", 1, 1, group, sender, to, len(body) if size is None else size, 0)
    return head + struct.pack("<II", crc32c(head + body), 0) + body


class PeerTest(unittest.TestCase):
    def setUp(self):
        scratch = tempfile.TemporaryDirectory()
        self.addCleanup(scratch.cleanup)
        self.scratch = pathlib.Path(scratch.name)
        self.cluster = Cluster(BINARY, self.scratch)
        self.addCleanup(self.cluster.end)

    def refused(self, node, reason):
        """How many peers the node has refused for that reason."""
        page = self.cluster.page(node, "/metrics")
        return int(re.search(rf'^log_peers_refused_total{{reason="{reason}"}} (\d+)$', page, re.M).group(1))

    # ---- Certificates --------------------------------------------------------------------------------------------------

    def node_certificate(self, name, node, uri):
        self.authority.make_node(name, f"{self.cluster.net}.{node}", uri)

    def options(self, name):
        return self.authority.server_options(name)

    def found_with_certificates(self):
        self.authority = Authority(self.scratch)
        for node in self.cluster.ids:
            self.node_certificate(f"n{node}", node, f"cadastre://cluster/7/node/{node}")
        self.authority.make("worker", "DNS:worker")
        for node in self.cluster.ids:
            self.cluster.start_node(node, "--bootstrap", *self.options(f"n{node}"))
        self.cluster.wait_for_leader()

    def caller(self, node):
        caller = Caller(self.cluster.address(node), credentials=self.authority.credentials("worker"))
        self.addCleanup(caller.close)
        return caller

    def test_nodes_with_certificates_serve_together(self):
        self.found_with_certificates()
        self.caller(self.cluster.follower()).make_run(1, 2)
        for node in self.cluster.ids:
            self.assertEqual(list(self.caller(node).call("ListRuns").runs), [1])
            for reason in ("identity", "cluster", "node", "damaged"):
                self.assertEqual(self.refused(node, reason), 0)

    def test_a_node_with_a_wrong_certificate_is_left_out(self):
        self.found_with_certificates()
        self.node_certificate("other_node", 3, "cadastre://cluster/7/node/2")
        self.node_certificate("other_cluster", 3, "cadastre://cluster/8/node/3")
        self.authority.make("nameless", f"IP:{self.cluster.net}.3")
        self.cluster.servers[3].kill()
        leader = self.cluster.wait_for_leader()
        for wrong in ("other_node", "other_cluster", "nameless"):
            before = self.refused(leader, "identity")
            self.cluster.start_node(3, *self.options(wrong))
            self.cluster.wait_until("a refusal", lambda before=before: self.refused(leader, "identity") >= before + 2)
            self.assertEqual(self.cluster.status(3)["leader"], 0, wrong)
            self.cluster.servers[3].kill()
        self.assertEqual(self.cluster.wait_for_leader(), leader)
        self.cluster.start_node(3, *self.options("n3"))
        self.cluster.wait_until("the right one is let in", lambda: self.cluster.status(3)["leader"] == leader)

    def test_a_node_with_certificates_takes_no_plain_peer(self):
        self.found_with_certificates()
        node = self.cluster.follower()
        self.assertEqual(self.ask(node, FRAMES, preamble(node)).code(), grpc.StatusCode.UNAVAILABLE)

    # ---- Garbage -------------------------------------------------------------------------------------------------------

    def ask(self, node, method, *sent, leaves=True):
        """How a call of a peer that sends these messages ends; one that does not leave waits to be sent away."""
        over = threading.Event()

        def messages():
            yield from sent
            if not leaves:
                over.wait(SECONDS_MAX)

        with grpc.insecure_channel(f"{self.cluster.net}.{node}:{PEER_PORT}") as channel:
            call = channel.stream_stream(method, bytes, bytes)(messages(), timeout=SECONDS_MAX)
            try:
                for _ in call:
                    pass
            except grpc.RpcError as error:
                return error
            finally:
                over.set()
        return call

    def test_what_a_hostile_peer_sends_ends_its_stream_and_nothing_else(self):
        cluster = self.cluster.found()
        leader = cluster.wait_for_leader()
        term = cluster.status(leader)["term"]
        for node in cluster.ids:
            hello = preamble(node)
            for reason, *sent in (("damaged", b"garbage"),
                                  ("damaged", bytes(100_000)),
                                  ("cluster", preamble(node, cluster=8)),
                                  ("node", preamble(node % 3 + 1)),
                                  ("node", preamble(node, sender=node)),
                                  ("damaged", hello, b"garbage" * 100),
                                  ("damaged", hello, frame(node, 1, b"body")[:-1] + b"x"),
                                  ("identity", hello, frame(node, 1, b"body", sender=8)),
                                  ("group", hello, frame(node, 99, b"x")),
                                  ("too_long", hello, frame(node, 1, b"", size=FRAME_BODY_MAX + 1)),
                                  ("too_long", hello, bytes(2 * FRAME_BODY_MAX))):
                before = self.refused(node, reason)
                ended = self.ask(node, FRAMES, *sent)
                self.assertEqual((ended.code(), ended.details()), (grpc.StatusCode.FAILED_PRECONDITION, reason), sent[-1][:40])
                self.assertEqual(self.refused(node, reason), before + 1, reason)
            ended = self.ask(node, FETCH, b"garbage")
            self.assertEqual((ended.code(), ended.details()), (grpc.StatusCode.INVALID_ARGUMENT, "damaged"))
            # A sound frame with garbage in it: only the engine can tell.
            before = self.refused(node, "damaged")
            self.assertEqual(self.ask(node, FRAMES, hello, frame(node, 1, b"x"), leaves=False).code(), grpc.StatusCode.CANCELLED)
            self.assertEqual(self.refused(node, "damaged"), before + 1)
            self.assertIn("log_frames_malformed_total 1", cluster.page(node, "/metrics"))
        self.assertEqual(cluster.wait_for_leader(), leader)
        self.assertEqual(cluster.status(leader)["term"], term)
        caller = Caller(cluster.address(leader))
        self.addCleanup(caller.close)
        caller.make_run(1, 1)
        self.assertEqual(list(caller.call("ListRuns").runs), [1])


if __name__ == "__main__":
    BINARY = sys.argv[1]
    unittest.main(argv=[sys.argv[0], *(f"PeerTest.{name}" for name in sys.argv[2:])])
