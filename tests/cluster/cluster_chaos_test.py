#!/usr/bin/env python3
"""Faults on three machines under load: what clients were told stays linearizable, and replicas agree (log.md 14.4).

  tests/cluster/cluster_chaos_test.py CADASTRE REGISTER_NODE HISTORY_JUDGE STUCK_SYNC [--seconds=S] [--seed=N] [--leases=on|off] [--kills=N]
      [TEST...]

A seed decides what is done to whom, and when; it is printed first. What a failed test recorded stays in build/chaos/.
README.md says how to read it.
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

import lies  # noqa: E402
from certificates import Authority  # noqa: E402
from chaos_case import CONFIG, SECONDS, ChaosCase, main  # noqa: E402
from fault_plan import KINDS, PAUSE_SECONDS, Nemesis, plan  # noqa: E402
from namespace_cluster import CoordinationNodes, RegisterNodes  # noqa: E402

# In a run of SECONDS so many at least:
FAULTS_MIN, OPERATIONS_MIN = 5, 200
LONGEST_SHORT_S = 3.0  # Of one fault, in such a run.
QUIET_S = 4.0
KILLS, BETWEEN_KILLS_S = 5, 0.5


class ChaosTest(ChaosCase):
    def lease_reads(self):
        """Every other seed has them, unless it is said."""
        return CONFIG.get("leases", self.seed % 2 == 1)

    def registers(self, lease_reads=False):
        return self.with_cluster(RegisterNodes(CONFIG["register_node"], self.scratch, CONFIG["stuck_sync"], lease_reads))

    def coordination(self, lease_reads=False, authority=None):
        return self.with_cluster(CoordinationNodes(CONFIG["cadastre"], self.scratch, CONFIG["stuck_sync"], lease_reads,
                                                   authority))

    def under_faults(self, cluster):
        """For run_clients: a plan's faults, one after the other, and then none."""
        scale = max(1.0, self.seconds / SECONDS)
        longest = PAUSE_SECONDS[1] if scale > 1 else LONGEST_SHORT_S
        nemesis = Nemesis(cluster, plan(self.seed, int(self.seconds) * 4, longest))

        def during():
            nemesis.start()
            nemesis.join(self.seconds)
            nemesis.stop()
            (self.scratch / "faults").write_text("\n".join(nemesis.trace) + "\n")
            print("\n".join(nemesis.trace), flush=True)
            if nemesis.wrong is not None:
                raise nemesis.wrong
            cluster.wait_for_leader()
        return during, nemesis

    def check_counts(self, nemesis, *histories):
        scale = max(1.0, self.seconds / SECONDS)
        faults = sum(count for kind, count in nemesis.done.items() if kind in KINDS and kind != "both")
        told = {name: sum(history.outcomes[name] for history in histories) for name in ("ok", "failed", "unknown")}
        print(f"{faults} faults {nemesis.done}, operations {told}", flush=True)
        self.assertGreaterEqual(faults, FAULTS_MIN * scale / 2)
        if scale >= 10:  # Shorter runs have some of them.
            self.assertEqual(set(KINDS) - set(nemesis.done), set())
            self.assertIn("stopped_when_full", nemesis.done)
        self.assertGreaterEqual(told["ok"], OPERATIONS_MIN * scale)

    # ---- Registers ---------------------------------------------------------------------------------------------------

    def test_registers_stay_linearizable_under_faults(self):
        cluster = self.registers(self.lease_reads())
        during, nemesis = self.under_faults(cluster)
        history = self.load_registers(cluster, during)
        self.check_counts(nemesis, history)
        file = history.write(self.scratch / "registers")
        self.expect(0, registers=[file], digests=[cluster.digests(node) for node in cluster.ids])

    def test_lies_about_registers_are_found(self):
        cluster = self.registers()
        history = self.load_registers(cluster, lambda: time.sleep(QUIET_S))
        file = history.write(self.scratch / "registers")
        digests = [cluster.digests(node) for node in cluster.ids]
        self.expect(0, registers=[file], digests=digests)
        truth = [line for line in history.lines if "unknown" not in line and "failed" not in line]
        for lie in (lies.lost_write, lies.stale_read, lies.executed_though_failed):
            with self.subTest(lie.__name__):
                told = self.scratch / lie.__name__
                told.write_text("\n".join(lie(truth)) + "\n")
                self.expect(1, registers=[told])
        for lie in (lies.changed_digest, lies.skipped_index):
            with self.subTest(lie.__name__):
                told = self.scratch / lie.__name__
                told.write_text("\n".join(lie(digests[1].read_text().splitlines())) + "\n")
                self.expect(1, digests=[digests[0], told, digests[2]])
        self.expect(2, digests=[digests[0]])  # Nobody to compare it with.

    # ---- Coordination ------------------------------------------------------------------------------------------------

    def test_coordination_stays_linearizable_under_faults(self):
        with_tls = self.seed // 2 % 2 == 1
        cluster = self.coordination(self.lease_reads(), Authority(self.scratch) if with_tls else None)
        during, nemesis = self.under_faults(cluster)
        shards, lists = self.load_coordination(cluster, during)
        cluster.wait_until_equal()
        self.check_counts(nemesis, shards, lists)
        self.expect(0, shards=[shards.write(self.scratch / "shards")], lists=[lists.write(self.scratch / "lists")])

    def test_lies_about_coordination_are_found(self):
        cluster = self.coordination()
        shards, lists = self.load_coordination(cluster, lambda: time.sleep(QUIET_S))
        files = {"shards": shards.write(self.scratch / "shards"), "lists": lists.write(self.scratch / "lists")}
        self.expect(0, shards=[files["shards"]], lists=[files["lists"]])
        for kind, history, lie in (("shards", shards, lies.lost_checkpoint), ("shards", shards, lies.fence_twice),
                                   ("shards", shards, lies.stale_holder), ("shards", shards, lies.executed_again),
                                   ("lists", lists, lies.lost_shard)):
            with self.subTest(lie.__name__):
                told = self.scratch / lie.__name__
                told.write_text("\n".join(lie(history.lines)) + "\n")
                self.expect(1, **{kind: [told]})

    # ---- Kills --------------------------------------------------------------------------------------------------------

    def test_nodes_that_are_killed_again_and_again_lose_nothing(self):
        cluster, dice = self.registers(), random.Random(self.seed)

        def during():
            for _ in range(CONFIG.get("kills", KILLS)):
                time.sleep(dice.uniform(0, BETWEEN_KILLS_S))
                target = dice.choice([cluster.leader() or 1, *cluster.ids])
                cluster.nodes[target].kill()
                cluster.check_running()
                cluster.start(target)
            cluster.wait_for_leader()
        history = self.load_registers(cluster, during)
        print(f"{CONFIG.get('kills', KILLS)} kills, operations {history.outcomes}", flush=True)
        self.expect(0, registers=[history.write(self.scratch / "registers")],
                    digests=[cluster.digests(node) for node in cluster.ids])

    # ---- One fault ---------------------------------------------------------------------------------------------------

    def test_a_full_disk_stops_its_node_and_no_other(self):
        cluster = self.registers()

        def during():
            starved = cluster.nodes[cluster.starved]
            cluster.starve()

            def has_stopped():
                cluster.disk.fill()  # A node that has started deletes what it needs no more.
                return not starved.is_running()
            cluster.wait_until("the node without a disk has stopped", has_stopped)
            self.assertTrue(all(cluster.nodes[each].is_running() for each in cluster.ids if each != cluster.starved))
            cluster.wait_for_leader()
            cluster.restore()
        history = self.load_registers(cluster, during)
        self.assertGreaterEqual(history.outcomes["ok"], OPERATIONS_MIN / 4)
        self.expect(0, registers=[history.write(self.scratch / "registers")],
                    digests=[cluster.digests(node) for node in cluster.ids])


if __name__ == "__main__":
    main(ChaosTest)
