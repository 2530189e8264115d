#!/usr/bin/env python3
"""The command line as a process: a million lines in constant memory, answers before it waits, hostile lines, closed
pipes, and the texts that name a build.

  tests/cli_process_test.py CADASTRE [TEST...]
"""

import json
import os
import pathlib
import select
import subprocess
import sys
import tempfile
import threading
import unittest

BINARY = None
SECONDS_MAX = 280
LINES_MANY = 1_000_000
LINES_FEW = 10_000
GROWTH_BYTES_MAX = 4 << 20
# Freed memory that a sanitizer holds back, to notice its use, would look like growth.
ENVIRONMENT = os.environ | {"ASAN_OPTIONS": "quarantine_size_mb=1", "TSAN_OPTIONS": "history_size=0"}


def start(*arguments, **options):
    return subprocess.Popen([BINARY, *arguments], env=ENVIRONMENT, **options)


def write_requests(path, count):
    with open(path, "w", encoding="ascii") as file:
        for at in range(0, count, 1000):
            file.writelines('{"op":"balanced","a":"%016x","b":"%016x"}\n' % (i, i + 7)
                            for i in range(at, min(at + 1000, count)))


def peak_bytes(requests, answers):
    """Runs the batch over a file, and returns the largest resident size it ever had."""
    with open(requests, "rb") as given, open(answers, "wb") as taken:
        process = start("key", "--batch", "--hex", stdin=given, stdout=taken)
        _, status, usage = os.wait4(process.pid, 0)
        process.returncode = os.waitstatus_to_exitcode(status)
    assert process.returncode == 0, process.returncode
    return usage.ru_maxrss * 1024


class CliProcess(unittest.TestCase):
    def test_memory_does_not_grow_with_the_number_of_lines(self):
        with tempfile.TemporaryDirectory() as folder:
            requests, answers = pathlib.Path(folder, "requests"), pathlib.Path(folder, "answers")
            write_requests(requests, LINES_FEW)
            few = peak_bytes(requests, answers)
            write_requests(requests, LINES_MANY)
            many = peak_bytes(requests, answers)
            self.assertLess(many, few + GROWTH_BYTES_MAX)
            with open(answers, "rb") as lines:
                self.assertEqual(sum(line.startswith(b'{"key":"0000') for line in lines), LINES_MANY)
            with open(answers, "rb") as lines:
                self.assertEqual(sum(1 for _ in lines), LINES_MANY)

    def test_each_answer_comes_before_the_next_request(self):
        process = start("key", "--batch", "--hex", stdin=subprocess.PIPE, stdout=subprocess.PIPE)
        key = "61"
        for _ in range(100):
            process.stdin.write(json.dumps({"op": "successor", "key": key}).encode() + b"\n")
            process.stdin.flush()
            ready, _, _ = select.select([process.stdout], [], [], SECONDS_MAX)
            self.assertTrue(ready, "the batch keeps its answer")
            key = json.loads(process.stdout.readline())["key"]
        process.stdin.close()
        self.assertEqual(key, "61" + "00" * 100)
        self.assertEqual(process.stdout.read(), b"")
        process.stdout.close()
        self.assertEqual(process.wait(SECONDS_MAX), 0)

    def test_hostile_lines_get_an_error_and_the_batch_goes_on(self):
        fine = '{"op":"successor","key":"61"}'
        depth = 140_000
        hostile = [
            ("[" * depth + "]" * depth, "bad_request"),
            ('{"op":' * depth + "1" + "}" * depth, "bad_request"),
            ('{"op":"successor","key":"' + "61" * 600_000 + '"}', "line_too_long"),
            ('{"op":"encode_row","manifest":' + "9" * 900_000 + ',"row":1}', "bad_request"),
            ("1e" + "9" * 1000, "bad_request"),
        ]
        given = "".join(f"{line}\n{fine}\n" for line, _ in hostile)
        done = subprocess.run([BINARY, "key", "--batch", "--hex"], input=given.encode(), capture_output=True,
                              env=ENVIRONMENT, timeout=SECONDS_MAX, check=False)
        answers = [json.loads(line) for line in done.stdout.splitlines()]
        self.assertEqual([answer["error"]["code"] for answer in answers[::2]], [code for _, code in hostile])
        self.assertEqual(answers[1::2], [{"key": "6100"}] * len(hostile))
        self.assertEqual((done.returncode, done.stderr), (0, b""))

    def test_an_oversized_key_has_no_successor(self):
        given = json.dumps({"op": "successor", "key": "x" * 1_000_000})
        done = subprocess.run([BINARY, "key", "--batch"], input=given.encode(), capture_output=True,
                              env=ENVIRONMENT, timeout=SECONDS_MAX, check=True)
        self.assertEqual(done.stdout, b'{"key":null}\n')

    def test_a_depth_that_never_closes_is_no_json(self):
        done = subprocess.run([BINARY, "key", "--batch"], input=b"[" * 1_000_000, capture_output=True,
                              env=ENVIRONMENT, timeout=SECONDS_MAX, check=False)
        self.assertEqual((done.returncode, done.stdout), (1, b""))
        self.assertEqual(json.loads(done.stderr)["error"]["code"], "not_json")

    def test_a_reader_that_goes_ends_the_program_quietly(self):
        process = start("shard", "plan", "--count", str(2**60), "--json", "--hex", stdout=subprocess.PIPE,
                        stderr=subprocess.PIPE)
        first = json.loads(process.stdout.readline())
        process.stdout.close()
        self.assertEqual(first["id"], 0)
        self.assertEqual(process.stderr.read(), b"")
        process.stderr.close()
        self.assertEqual(process.wait(SECONDS_MAX), 1)

    def test_a_full_device_is_an_error(self):
        with open("/dev/full", "wb") as full:
            done = subprocess.run([BINARY, "key", "successor", "a", "--json"], stdout=full, stderr=subprocess.PIPE,
                                  env=ENVIRONMENT, timeout=SECONDS_MAX, check=False)
        self.assertEqual(done.returncode, 1)
        self.assertEqual(json.loads(done.stderr)["error"]["code"], "cannot_write")

    def test_a_million_planned_shards_tile_the_range_and_a_manifest_refuses_them(self):
        plan = start("shard", "plan", "--start", "10", "--end", "f0", "--count", str(LINES_MANY), "--json", "--hex",
                     stdout=subprocess.PIPE)
        check = start("shard", "check", "-", "--json", "--hex", stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                      stderr=subprocess.PIPE)
        errors = []
        reader = threading.Thread(target=lambda: errors.append(check.stderr.read()))
        reader.start()
        count, end = 0, "10"
        for line in plan.stdout:
            shard = json.loads(line)
            self.assertEqual((shard["id"], shard["start"]), (count, end))
            self.assertLess(bytes.fromhex(shard["start"]), bytes.fromhex(shard["end"]))
            count, end = count + 1, shard["end"]
            check.stdin.write(line)
        check.stdin.close()
        reader.join()
        self.assertEqual((count, end, plan.wait(SECONDS_MAX)), (LINES_MANY, "f0", 0))
        self.assertEqual((check.wait(SECONDS_MAX), check.stdout.read()), (1, b""))
        self.assertEqual(json.loads(errors[0])["error"]["code"], "too_many_shards")
        for stream in (plan.stdout, check.stdout, check.stderr):
            stream.close()

    def test_every_command_has_help_with_an_example(self):
        commands = ["key", "key successor", "key prefix-end", "key midpoint", "key balanced", "key encode-row",
                    "key decode-row", "hint", "hint encode", "hint encode range", "hint encode prefix",
                    "hint encode manifest", "hint decode", "hint propagate", "shard", "shard plan", "shard check",
                    "coord", "coord run", "coord run create", "coord run register", "coord run show",
                    "coord run list", "coord run complete", "coord run fail", "coord run cancel", "coord run gc",
                    "coord shard", "coord shard list", "coord shard claim", "coord shard acquire",
                    "coord shard renew", "coord shard checkpoint", "coord shard complete", "coord shard release",
                    "coord shard park", "coord shard unpark", "coord shard split-replace",
                    "coord shard split-residual",
                    "bitmap", "bitmap add", "bitmap remove", "bitmap contains", "bitmap count", "bitmap get",
                    "bitmap and", "bitmap or", "bitmap andnot", "bitmap xor", "bitmap compact", "bitmap erase",
                    "bitmap keys", "bitmap stats", "bitmap verify", "bitmap export", "bitmap import",
                    "bitmap backup"]
        for command in commands:
            done = subprocess.run([BINARY, *command.split(), "--help"], capture_output=True, text=True,
                                  env=ENVIRONMENT, timeout=SECONDS_MAX, check=True)
            self.assertRegex(done.stdout, rf"Examples?: cadastre {command.split()[0]}")
            self.assertIn(f"Usage: cadastre {command}", done.stdout)
            self.assertEqual(done.stderr, "")

    def test_version_says_what_was_built_in(self):
        done = subprocess.run([BINARY, "--version", "--json"], capture_output=True, env=ENVIRONMENT,
                              timeout=SECONDS_MAX, check=True)
        version = json.loads(done.stdout)
        self.assertRegex(version["version"], r"^\d+\.\d+\.\d+$")
        self.assertTrue(version["commit"] and version["compiler"])
        self.assertEqual((version["engines"], version["backends"]), (["local"], ["memory", "lmdb", "etcd"]))
        self.assertRegex(version["raft"], r"^(raft-rs \d+\.\d+\.\d+|not built \([^()]+\))$")
        done = subprocess.run([BINARY, "--version"], capture_output=True, text=True, env=ENVIRONMENT,
                              timeout=SECONDS_MAX, check=True)
        self.assertIn(f"cadastre {version['version']} (commit {version['commit']}, {version['compiler']})",
                      done.stdout)
        self.assertIn(f"engines: local, backends: memory, lmdb, etcd\nraft: {version['raft']}\n", done.stdout)


if __name__ == "__main__":
    BINARY = str(pathlib.Path(sys.argv.pop(1)).resolve())
    unittest.main(argv=[sys.argv[0], *(f"CliProcess.{name}" for name in sys.argv[1:])])
