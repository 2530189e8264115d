"""Histories of real clients, in the text of sim/checkers/history_text.h, and their judge.

All clients are threads of one process and take their times from one clock, so that "before" means before.
"""

import subprocess
import threading
import time

JUDGE_SECONDS_MAX = 600


class History:
    """What was asked and answered. Safe from any thread."""

    def __init__(self):
        self.lock = threading.Lock()
        self.lines = []
        self.outcomes = {"ok": 0, "failed": 0, "unknown": 0}

    @staticmethod
    def now():
        return time.monotonic_ns()

    def _add(self, outcome, line):
        with self.lock:
            self.lines.append(line)
            self.outcomes[outcome] += 1

    def ok(self, called, client, key, what, result):
        self._add("ok", f"{called}..{self.now()} c{client} k{key} {what} -> {result}")

    def failed(self, called, client, key, what):
        """It certainly never takes effect."""
        self._add("failed", f"{called}.. c{client} k{key} {what} -> failed")

    def unknown(self, called, client, key, what):
        self._add("unknown", f"{called}.. c{client} k{key} {what} -> unknown")

    def write(self, file):
        with self.lock:
            file.write_text("\n".join(self.lines) + "\n")
        return file


class Judge:
    """history_judge: 0 is as it must be, 1 is not, 2 is not known."""

    def __init__(self, binary):
        self.binary = binary

    def judge(self, **files):
        """The status and what was printed. registers=[FILE, ...], shards=, lists=, digests="""
        words = [word for kind, names in files.items() for name in names for word in (f"--{kind}", str(name))]
        done = subprocess.run([self.binary, *words], capture_output=True, text=True, check=False, timeout=JUDGE_SECONDS_MAX)
        return done.returncode, done.stdout + done.stderr
