"""What tests on three machines share: a scratch folder that outlives a failure, load, and the judge.

A test's program runs in namespaces of its own before it imports this (machines.py). Its words are CADASTRE REGISTER_NODE
HISTORY_JUDGE STUCK_SYNC [--seconds=S] [--seed=N] [--leases=on|off] [--kills=N] [--older=BINARY] [TEST...].
"""

import os
import pathlib
import shutil
import sys
import tempfile
import threading
import unittest

from coordination_load import Runs, Worker, add_lost_claims, read_everything
from recorded import History, Judge
from register_load import RegisterClient

KEPT = pathlib.Path(__file__).resolve().parent.parent.parent / "build" / "chaos"
SECONDS = 25.0
CLIENTS = 6
CONFIG = {}


class ChaosCase(unittest.TestCase):
    def setUp(self):
        self.scratch = pathlib.Path(tempfile.mkdtemp(prefix="cadastre-chaos-"))
        self.addCleanup(shutil.rmtree, self.scratch)
        self.addCleanup(self.keep)
        self.seed = CONFIG.get("seed") or int.from_bytes(os.urandom(4), "little")
        self.seconds = CONFIG.get("seconds", SECONDS)
        self.judge = Judge(CONFIG["judge"])
        print(f"{self._testMethodName}: --seed={self.seed} --seconds={self.seconds:g}", flush=True)

    def keep(self):
        """The files of a test that failed, but not the nodes' data."""
        result = self._outcome.result
        if not any(getattr(test, "test_case", test) is self for test, _ in result.failures + result.errors):
            return
        kept = KEPT / f"{self._testMethodName}-{self.seed}"
        shutil.rmtree(kept, ignore_errors=True)
        kept.mkdir(parents=True)
        for file in self.scratch.iterdir():
            if file.is_file():
                shutil.copy(file, kept)
        print(f"kept in {kept}", flush=True)

    def with_cluster(self, cluster):
        self.addCleanup(cluster.end)
        return cluster.found()

    # ---- Load --------------------------------------------------------------------------------------------------------

    def run_clients(self, make, during):
        """Clients 1 to CLIENTS, for as long as `during` takes."""
        stop = threading.Event()
        clients = [make(number, stop) for number in range(1, CLIENTS + 1)]
        for client in clients:
            client.start()
        try:
            during()
        finally:
            stop.set()
            for client in clients:
                client.join()
        for client in clients:
            if client.wrong is not None:
                raise client.wrong

    def expect(self, status, **files):
        judged, text = self.judge.judge(**files)
        print(text, end="", flush=True)
        self.assertEqual(judged, status, text)

    def load_registers(self, cluster, during):
        history = History()
        self.run_clients(lambda number, stop: RegisterClient(cluster, history, number, self.seed, stop), during)
        cluster.wait_until_equal()
        return history

    def load_coordination(self, cluster, during):
        shards, lists, runs = History(), History(), Runs()

        def make(number, stop):
            return Worker(cluster, runs, (shards, lists), number, self.seed, stop)
        self.run_clients(make, during)
        last = make(CLIENTS + 1, threading.Event())
        self.addCleanup(last.nodes.close)
        read_everything(last)
        add_lost_claims(runs, shards)
        return shards, lists


def main(case):
    """Reads the words, and runs the tests of the case."""
    words = sys.argv[1:]
    files = ("cadastre", "register_node", "judge", "stuck_sync")
    CONFIG.update(zip(files, (str(pathlib.Path(word).resolve()) for word in words[:len(files)])))
    names = []
    for word in words[len(files):]:
        option, _, value = word.partition("=")
        if option == "--seconds":
            CONFIG["seconds"] = float(value)
        elif option == "--seed":
            CONFIG["seed"] = int(value)
        elif option == "--leases":
            CONFIG["leases"] = {"on": True, "off": False}[value]
        elif option == "--kills":
            CONFIG["kills"] = int(value)
        elif option == "--older":
            CONFIG["older"] = str(pathlib.Path(value).resolve())
        else:
            names.append(f"{case.__name__}.{word}")
    unittest.main(argv=[sys.argv[0], *names])
