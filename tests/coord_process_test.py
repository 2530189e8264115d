#!/usr/bin/env python3
"""Coordination as a process: whole manifests, every limit that a batch can reach, and constant memory.

  tests/coord_process_test.py CADASTRE [TEST...]
"""

import json
import os
import pathlib
import subprocess
import sys
import tempfile
import unittest

BINARY = None
SECONDS_MAX = 280
# Freed memory that a sanitizer holds back, to notice its use, would look like growth.
ENVIRONMENT = os.environ | {"ASAN_OPTIONS": "quarantine_size_mb=1", "TSAN_OPTIONS": "history_size=0"}
SHARDS_MAX = 10_000
TENANT_SHARDS_MAX = 100_000
GROWTH_BYTES_MAX = 8 << 20


def batch(*options, backend="memory"):
    return subprocess.Popen([BINARY, "coord", "--batch", "--backend", backend, *options], env=ENVIRONMENT,
                            stdin=subprocess.PIPE, stdout=subprocess.PIPE)


def once(directory, *words):
    """One command on a directory: exit status and what it printed, as JSON."""
    done = subprocess.run([BINARY, "coord", "--json", "--backend", f"local:{directory}", *words], env=ENVIRONMENT,
                          capture_output=True, timeout=SECONDS_MAX, check=False)
    lines = (done.stdout + done.stderr).decode().splitlines()
    return done.returncode, [json.loads(line) for line in lines]


class Batch:
    """A live batch: ask() sends one request and waits for its answer."""

    def __init__(self, *options, backend="memory"):
        self.process = batch(*options, backend=backend)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.process.stdin.close()
        self.process.stdout.close()
        self.process.wait(SECONDS_MAX)

    def ask(self, op, **fields):
        request = {"op": op, "tenant": "acme", "now": 1} | fields
        self.process.stdin.write(json.dumps(request).encode() + b"\n")
        self.process.stdin.flush()
        return json.loads(self.process.stdout.readline())

    def start_run(self, run, shards, lease_ms=1000):
        assert self.ask("run_create", run=run, lease_ms=lease_ms) == {"status": "initializing"}
        return self.ask("run_register", run=run, op_id=0, shards=shards)


def key(number):
    return f"{number:08d}"


def shards(count, **more):
    return [{"id": i, "start": key(i), "end": key(i + 1)} | more for i in range(count)]


class CoordProcess(unittest.TestCase):
    def code(self, answer):
        self.assertIn("error", answer)
        return answer["error"]["code"]

    def test_a_manifest_has_at_most_ten_thousand_shards(self):
        with Batch() as live:
            refused = live.start_run(1, shards(SHARDS_MAX + 1))
            self.assertEqual(self.code(refused), "too_many_shards")
            self.assertEqual((refused["error"]["count"], refused["error"]["max"]), (SHARDS_MAX + 1, SHARDS_MAX))
            self.assertEqual(live.ask("run_show", run=1)["counts"]["total"], 0)
            accepted = live.ask("run_register", run=1, op_id=0, shards=shards(SHARDS_MAX))
            self.assertEqual(accepted, {"outcome": "executed", "shards": SHARDS_MAX})
            page = live.ask("shard_list", run=1)["shards"]
            self.assertEqual([shard["id"] for shard in page], list(range(1000)))
            everything = live.ask("shard_list", run=1, limit=2**64 - 1)["shards"]
            self.assertEqual([shard["id"] for shard in everything], list(range(SHARDS_MAX)))
            rest = live.ask("shard_list", run=1, limit=2500, after=8999)["shards"]
            self.assertEqual([shard["id"] for shard in rest], list(range(9000, SHARDS_MAX)))

    def test_a_full_plan_of_a_manifest_is_one_request(self):
        plan = subprocess.run([BINARY, "shard", "plan", "--manifest", str(2**64 - 1), "--rows", f"0..{10**15}",
                               "--per-shard", str(10**11), "--json", "--hex"], capture_output=True, env=ENVIRONMENT,
                              timeout=SECONDS_MAX, check=True)
        lines = [json.loads(line) for line in plan.stdout.splitlines()]
        with Batch("--hex") as live:
            self.assertEqual(live.start_run(1, lines), {"outcome": "executed", "shards": SHARDS_MAX})
            claimed = live.ask("claim", run=1, worker=9999)
            self.assertEqual(claimed["spec"]["metadata"], lines[9999]["metadata"])

    def test_a_tenant_has_at_most_a_hundred_thousand_shards_and_gc_makes_room(self):
        with Batch() as live:
            manifest = shards(SHARDS_MAX)
            for run in range(TENANT_SHARDS_MAX // SHARDS_MAX):
                self.assertEqual(live.start_run(run, manifest)["outcome"], "executed")
            refused = live.start_run(100, shards(1))
            self.assertEqual(self.code(refused), "shard_limit_exceeded")
            self.assertEqual({name: refused["error"][name] for name in ("current", "additional", "max", "scope")},
                             {"current": TENANT_SHARDS_MAX, "additional": 1, "max": TENANT_SHARDS_MAX,
                              "scope": "tenant"})
            lease = live.ask("claim", run=0, worker=0)["lease"]
            for answer in (live.ask("split_replace", lease=lease, op_id=1, at=[key(0) + "5"]),
                           live.ask("split_residual", lease=lease, op_id=1, at=key(0) + "5")):
                self.assertEqual(self.code(answer), "shard_limit_exceeded")
            live.ask("run_create", tenant="other", run=100, lease_ms=1)
            self.assertEqual(live.ask("run_register", tenant="other", run=100, op_id=0, shards=shards(1))["shards"], 1)
            live.ask("run_cancel", run=3, op_id=1)
            self.assertEqual(live.ask("run_gc", before=2), {"removed": 1})
            self.assertEqual(live.ask("run_register", run=100, op_id=0, shards=shards(1))["outcome"], "executed")

    def test_a_shard_spawns_at_most_1024_others(self):
        with Batch() as live:
            live.start_run(1, [{"id": 1, "start": "a", "end": "z"}])
            lease = live.ask("claim", run=1, worker=0)["lease"]
            for i in range(1023):
                answer = live.ask("split_residual", lease=lease, op_id=i, at="m" + key(99999 - i))
                self.assertEqual(answer["outcome"], "executed")
            refused = live.ask("split_replace", lease=lease, op_id=5000, at=["b"])
            self.assertEqual(self.code(refused), "spawn_limit_exceeded")
            self.assertEqual(refused["error"]["current"], 1023)
            self.assertEqual(live.ask("split_residual", lease=lease, op_id=5000, at="c")["outcome"], "executed")
            refused = live.ask("split_residual", lease=lease, op_id=5001, at="b")
            self.assertEqual(self.code(refused), "spawn_limit_exceeded")
            # The first split, long out of the op-log: its shard is still the end of the old range.
            again = live.ask("split_residual", lease=lease, op_id=0, at="m" + key(99999))
            self.assertEqual((again["outcome"], again["spec"]["end"]), ("replayed", "m" + key(99999)))

    def test_a_split_has_at_most_256_children(self):
        with Batch() as live:
            live.start_run(1, [{"id": 1, "start": "a", "end": "z"}])
            lease = live.ask("claim", run=1, worker=0)["lease"]
            cuts = ["m" + key(i) for i in range(256)]
            self.assertEqual(self.code(live.ask("split_replace", lease=lease, op_id=1, at=cuts)), "too_many_children")
            children = live.ask("split_replace", lease=lease, op_id=1, at=cuts[1:])["children"]
            self.assertEqual(len(children), 256)
            self.assertEqual([child["start"] for child in children], ["a", *cuts[1:]])
            self.assertEqual([child["end"] for child in children], [*cuts[1:], "z"])
            self.assertEqual(live.ask("split_replace", lease=lease, op_id=1, at=cuts[1:])["outcome"], "replayed")

    def test_many_leases_are_at_most_1024(self):
        lease = {"run": 1, "shard": 1, "worker": 1, "fence": 2, "deadline": 3}
        with Batch() as live:
            refused = live.ask("renew_many", leases=[lease] * 1025)
            self.assertEqual((self.code(refused), refused["error"]["count"]), ("too_many_leases", 1025))
            self.assertEqual(len(live.ask("renew_many", leases=[lease] * 1024)["results"]), 1024)

    def test_a_full_memory_refuses_and_changes_nothing(self):
        with Batch() as live:
            metadata = "0000000100" + "ab" * (16384 - 5)
            full, run = None, 0
            while full is None and run < 100:
                answer = live.start_run(run, shards(200, metadata=metadata))
                full = answer if "error" in answer else None
                run += 1
            self.assertEqual((self.code(full), full["error"]["retry"]), ("resource_exhausted", "later"))
            self.assertEqual(live.ask("run_show", run=run - 1)["counts"]["total"], 0)
            lease = live.ask("claim", run=0, worker=0)["lease"]
            cuts = [key(0) + key(i) for i in range(200)]
            refused = live.ask("split_replace", lease=lease, op_id=1, at=cuts)
            self.assertEqual(self.code(refused), "resource_exhausted")
            self.assertGreater(refused["error"]["requested"], refused["error"]["available"])
            # The same op id, once there is room.
            live.ask("run_cancel", run=1, op_id=1)
            self.assertEqual(live.ask("run_gc", before=2), {"removed": 1})
            self.assertEqual(live.ask("split_replace", lease=lease, op_id=1, at=cuts)["outcome"], "executed")

    def test_a_line_of_more_than_8_mib_is_skipped(self):
        with Batch() as live:
            refused = live.ask("run_list", padding="x" * (8 << 20))
            self.assertEqual(self.code(refused), "line_too_long")
            self.assertEqual(live.ask("run_list"), {"runs": []})

    def test_memory_does_not_grow_with_the_number_of_requests(self):
        def peak_bytes(rounds):
            process = batch()
            ask = lambda op, **fields: json.dumps({"op": op, "tenant": "acme", "now": 1} | fields) + "\n"
            lease = {"run": 1, "shard": 1, "worker": 1, "fence": 2, "deadline": 1001}
            head = (ask("run_create", run=1, lease_ms=1000)
                    + ask("run_register", run=1, op_id=0, shards=[{"id": 1, "start": "a", "end": "z"}])
                    + ask("claim", run=1, worker=1))
            process.stdin.write(head.encode())
            process.stdin.flush()
            for _ in range(3):
                process.stdout.readline()
            for at in range(0, rounds, 100):
                process.stdin.write("".join(
                    ask("checkpoint", lease=lease, op_id=i + 1, last_key="b" + key(i), token="ab" * (i % 64))
                    + ask("claim", run=1, worker=i) for i in range(at, at + 100)).encode())
                process.stdin.flush()
                for _ in range(100):
                    self.assertEqual(process.stdout.readline(), b'{"outcome":"executed"}\n')
                    self.assertIn(b'"none_available"', process.stdout.readline())
            process.stdin.close()
            process.stdout.close()
            _, status, usage = os.wait4(process.pid, 0)
            process.returncode = os.waitstatus_to_exitcode(status)
            self.assertEqual(process.returncode, 0)
            return usage.ru_maxrss * 1024

        self.assertLess(peak_bytes(40_000), peak_bytes(1_000) + GROWTH_BYTES_MAX)

    def test_a_directory_belongs_to_one_process(self):
        with tempfile.TemporaryDirectory() as home:
            with Batch(backend=f"local:{home}/data") as live:
                live.ask("run_create", run=1, lease_ms=5)
                status, (refused,) = once(f"{home}/data", "run", "list")
                self.assertEqual(status, 1)
                self.assertEqual(self.code(refused), "locked")
                self.assertIn(f"process {live.process.pid}", refused["error"]["detail"])
            self.assertEqual(once(f"{home}/data", "run", "list", "--tenant", "acme")[0], 0)

    def test_a_directory_keeps_what_a_killed_process_had_answered(self):
        with tempfile.TemporaryDirectory() as home:
            live = Batch(backend=f"local:{home}/data")
            live.start_run(1, shards(3))
            live.process.kill()
            live.process.wait(SECONDS_MAX)
            live.process.stdin.close()
            live.process.stdout.close()
            status, (run,) = once(f"{home}/data", "run", "show", "1", "--tenant", "acme", "--now", "2")
            self.assertEqual((status, run["counts"]["total"]), (0, 3))

    def test_a_damaged_snapshot_is_not_opened(self):
        with tempfile.TemporaryDirectory() as home:
            with Batch(backend=f"local:{home}/data") as live:
                live.start_run(1, shards(1))
                for at in range(1_100):  # Enough to be worth a snapshot when it stops.
                    live.ask("claim", run=1, worker=at)
            snapshot = pathlib.Path(home) / "data" / "coord" / "snapshot"
            whole = snapshot.read_bytes()
            snapshot.write_bytes(whole[:100] + bytes([whole[100] ^ 1]) + whole[101:])
            status, (refused,) = once(f"{home}/data", "run", "list")
            self.assertEqual((status, self.code(refused)), (1, "damaged"))
            self.assertIn(str(snapshot), refused["error"]["detail"])
            snapshot.write_bytes(whole)
            self.assertEqual(once(f"{home}/data", "run", "list")[0], 0)


if __name__ == "__main__":
    BINARY = str(pathlib.Path(sys.argv.pop(1)).resolve())
    unittest.main(argv=[sys.argv[0], *(f"CoordProcess.{name}" for name in sys.argv[1:])])
