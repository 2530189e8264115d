"""Clients of register_node that write, swap and read registers through any node, and record what they were told.

Registers are left for new ones every second or two, so that each has a short history with few open questions.
"""

import random
import socket
import threading
import time

ANSWER_SECONDS_MAX = 3
KEYS_AT_A_TIME = 6
KEYS_LAST_S = 1.5


class Door:
    """A connection to one node at a time."""

    def __init__(self, cluster, first):
        self.cluster, self.at = cluster, first
        self.socket = self.lines = None

    def ask(self, line):
        """The answer, or nothing if it did not come: then the next one is asked by another node."""
        try:
            if self.socket is None:
                self.socket = socket.create_connection(self.cluster.door(self.node()), timeout=1)
                self.socket.settimeout(ANSWER_SECONDS_MAX)
                self.lines = self.socket.makefile()
        except OSError:
            self.leave()
            return "refused unreachable"
        try:
            self.socket.sendall(line.encode() + b"\n")
            answer = self.lines.readline()
            if answer.endswith("\n"):
                return answer.strip()
        except OSError:
            pass
        self.leave()
        return None

    def node(self):
        return self.cluster.ids[self.at % len(self.cluster.ids)]

    def leave(self):
        if self.socket is not None:
            self.lines.close()
            self.socket.close()
        self.socket = self.lines = None
        self.at += 1


class RegisterClient(threading.Thread):
    def __init__(self, cluster, history, number, seed, stop):
        super().__init__(daemon=True)
        self.cluster, self.history, self.number, self.stop = cluster, history, number, stop
        self.dice = random.Random(f"{seed} {number}")
        self.door = Door(cluster, number)
        self.seen, self.value = {}, 0
        self.wrong = None

    def run(self):
        try:
            while not self.stop.is_set():
                if not self.one():
                    self.stop.wait(0.02)
        except Exception as error:  # pylint: disable=broad-except  # The test says it.
            self.wrong = error
        self.door.leave()

    def key(self):
        generation = int(time.monotonic() / KEYS_LAST_S)
        return generation * KEYS_AT_A_TIME + self.dice.randrange(KEYS_AT_A_TIME)

    def one(self):
        """One operation, recorded. False: nobody took it."""
        key, chance = self.key(), self.dice.random()
        if chance < 0.4:
            return self.ask(key, f"get {key}", "read")
        self.value += 1
        value = self.value * 100 + self.number
        if chance < 0.75:
            return self.ask(key, f"put {key} {value}", f"write {value}")
        expected = self.seen.get(key, "nil")
        return self.ask(key, f"cas {key} {expected} {value}", f"cas {expected} {value}")

    def ask(self, key, line, what):
        called = self.history.now()
        answer = self.door.ask(line)
        if answer is None or answer.startswith("unknown"):
            self.history.unknown(called, self.number, key, what)
            return True
        if answer.startswith("refused"):
            self.history.failed(called, self.number, key, what)
            self.door.leave()
            return False
        if answer.startswith("error"):
            raise AssertionError(f"{line}: {answer}")
        self.history.ok(called, self.number, key, what, answer)
        if what == "read":
            self.seen[key] = answer
        elif answer != "kept":
            self.seen[key] = what.split()[-1]
        return True
