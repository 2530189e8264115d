#!/usr/bin/env python3
"""Nodes go from an older binary of the same format to this one, and back, one by one and under load (log.md 14.4).

  tests/cluster/cluster_upgrade_test.py CADASTRE REGISTER_NODE HISTORY_JUDGE STUCK_SYNC --older=BINARY [--seconds=S] [--seed=N]

The older binary comes from tools/build_older. Each change is a stop and a start on the same directory, as an operator
does it; now and then the node is killed instead.
"""

import pathlib
import random
import sys
import time

FOLDER = pathlib.Path(__file__).resolve().parent
sys.path[:0] = [str(FOLDER), str(FOLDER.parent / "server")]
from machines import enter  # noqa: E402

if __name__ == "__main__":
    enter()

from chaos_case import CONFIG, ChaosCase, main  # noqa: E402
from namespace_cluster import CoordinationNodes  # noqa: E402

OPERATIONS_MIN = 200
KILLED = 0.3  # So many of the nodes are not asked to stop.
BETWEEN_S = 1.0


class UpgradeTest(ChaosCase):
    def change(self, cluster, dice, number, binary):
        node = cluster.nodes[number]
        if dice.random() < KILLED:
            node.kill()
        else:
            self.assertEqual(node.terminate(), 0, node.last_words())
        cluster.binaries[number] = binary
        cluster.start(number)
        cluster.wait_for_leader()
        time.sleep(BETWEEN_S)

    def test_nodes_go_to_this_binary_and_back_one_by_one(self):
        older, newer = CONFIG["older"], CONFIG["cadastre"]
        cluster = CoordinationNodes(older, self.scratch, CONFIG["stuck_sync"])
        self.addCleanup(cluster.end)
        cluster.found()
        dice = random.Random(self.seed)
        changes = []

        def during():
            deadline = time.monotonic() + self.seconds
            while len(changes) < 4 * len(cluster.ids) or time.monotonic() < deadline:
                to = newer if len(changes) // len(cluster.ids) % 2 == 0 else older
                order = dice.sample(cluster.ids, len(cluster.ids))
                for number in order:
                    self.change(cluster, dice, number, to)
                    changes.append((number, to))
        shards, lists = self.load_coordination(cluster, during)
        cluster.wait_until_equal()
        print(f"{len(changes)} changes, operations {shards.outcomes}", flush=True)
        self.assertGreaterEqual(shards.outcomes["ok"] + lists.outcomes["ok"], OPERATIONS_MIN)
        self.expect(0, shards=[shards.write(self.scratch / "shards")], lists=[lists.write(self.scratch / "lists")])


if __name__ == "__main__":
    main(UpgradeTest)
