"""Machines for tests: network namespaces, each with one address, joined by a router that drops what it is told to.

The program that uses them runs in namespaces of its own (network, mounts, processes): `enter()` starts it anew inside.
It is the router. Whatever ends it, a kill too, ends every process, mount and interface with it, and two of them at once
have nothing to do with each other. Root may do this, and users where the kernel lets them have user namespaces.

Processes are started without code of ours between fork and exec: gRPC's threads would not survive it.

    enter()
    network = Network(3)
    process = subprocess.Popen(network.command(1, ["cadastre", "serve", ...]))
    network.cut(1, 2)        # what 1 sends never reaches 2; what 2 sends reaches 1
    network.heal()
"""

import errno
import fcntl
import os
import pathlib
import signal
import subprocess
import sys
import threading
import time

INSIDE = "CADASTRE_MACHINES"
TOOL_SECONDS_MAX = 30


def enter():
    """Returns inside; outside it becomes a process that ends with the one inside, with its exit status."""
    if os.environ.get(INSIDE) == "entered":  # The first process there: nobody else would end it.
        signal.signal(signal.SIGTERM, lambda *_: os._exit(128 + signal.SIGTERM))
        tool("ip", "link", "set", "lo", "up")
        return
    os.environ[INSIDE] = "entered"
    user = [] if os.geteuid() == 0 else ["--user", "--map-root-user"]
    os.execvp("unshare", ["unshare", *user, "--net", "--mount", "--pid", "--fork", "--kill-child=KILL", "--mount-proc",
                          sys.executable, *sys.argv])


def tool(*words):
    done = subprocess.run(words, capture_output=True, text=True, check=False, timeout=TOOL_SECONDS_MAX)
    if done.returncode != 0:
        raise AssertionError(f"{' '.join(words)}: {done.stderr.strip()}")


class Network:
    """Machines 1 to `count`, each behind a link of its own. The router, which is this process, reaches them all."""

    def __init__(self, count):
        pathlib.Path("/proc/sys/net/ipv4/ip_forward").write_text("1")
        self.holders, self.cuts = {}, set()
        for machine in range(1, count + 1):
            self._add(machine)

    def _add(self, machine):
        holder = subprocess.Popen(["unshare", "--net", "sleep", "infinity"], start_new_session=True)
        self.holders[machine] = holder
        deadline = time.monotonic() + TOOL_SECONDS_MAX
        while os.readlink(f"/proc/{holder.pid}/ns/net") == os.readlink("/proc/self/ns/net"):
            if holder.poll() is not None or time.monotonic() > deadline:
                raise AssertionError("no network namespace")
            time.sleep(0.01)
        router = f"10.77.{machine}.254"
        tool("ip", "link", "add", f"m{machine}", "type", "veth", "peer", "name", "eth0", "netns", str(holder.pid))
        tool("ip", "address", "add", f"{router}/24", "dev", f"m{machine}")
        tool("ip", "link", "set", f"m{machine}", "up")
        for words in (["link", "set", "lo", "up"], ["address", "add", f"{self.address(machine)}/24", "dev", "eth0"],
                      ["link", "set", "eth0", "up"], ["route", "add", "default", "via", router]):
            tool(*self.command(machine, ["ip", *words]))

    @staticmethod
    def address(machine):
        return f"10.77.{machine}.1"

    def command(self, machine, words):
        """The command, on that machine: the process is the command's own."""
        return ["nsenter", "--target", str(self.holders[machine].pid), "--net", "--", *map(str, words)]

    # ---- Faults ------------------------------------------------------------------------------------------------------

    def _rule(self, verb, source, target):
        tool("ip", "rule", verb, "from", self.address(source), "to", self.address(target), "blackhole")

    def cut(self, source, target):
        """From now on nothing that `source` sends reaches `target`; nobody is told."""
        if (source, target) not in self.cuts:
            self._rule("add", source, target)
            self.cuts.add((source, target))

    def mend(self, source, target):
        if (source, target) in self.cuts:
            self._rule("del", source, target)
            self.cuts.remove((source, target))

    def heal(self):
        for source, target in list(self.cuts):
            self.mend(source, target)

    def end(self):
        for holder in self.holders.values():
            holder.kill()
            holder.wait(TOOL_SECONDS_MAX)


class Disk:
    """A small file system in memory, which can be full."""

    def __init__(self, directory, mebibytes):
        self.directory = pathlib.Path(directory)
        self.directory.mkdir()
        tool("mount", "-t", "tmpfs", "-o", f"size={mebibytes}m", "none", str(self.directory))
        self.filler = self.directory / "filler"

    def fill(self, room=0):
        """But for so many bytes."""
        with open(self.filler, "ab", buffering=0) as out:
            for size in (1 << 20, 1 << 12):
                while self._free() - room >= size:
                    try:
                        out.write(b"x" * size)
                    except OSError as error:
                        if error.errno != errno.ENOSPC:
                            raise
                        break  # A node was faster.

    def _free(self):
        found = os.statvfs(self.directory)
        return found.f_bavail * found.f_bsize

    def free(self):
        self.filler.unlink(missing_ok=True)

    def end(self):
        tool("umount", "--lazy", str(self.directory))


class StallingDisk:
    """The disk of one process, whose syncs stall when they are told to: by a library that is loaded before it
    (tests/server/stuck_sync.cc), and a file in its working directory."""

    STALLS_S, BETWEEN_S = 0.4, 0.02

    def __init__(self, home, library):
        self.home = pathlib.Path(home)
        self.home.mkdir()
        self.file = open(self.home / "stuck", "w", encoding="utf-8")
        self.library = str(library)
        self.ended, self.thread = threading.Event(), None

    def surroundings(self):
        """Popen's."""
        return {"cwd": self.home, "env": dict(os.environ, LD_PRELOAD=self.library)}

    def begin_stalls(self):
        self.ended.clear()
        self.thread = threading.Thread(target=self._stall, daemon=True)
        self.thread.start()

    def _stall(self):
        while not self.ended.is_set():
            fcntl.flock(self.file, fcntl.LOCK_EX)
            self.ended.wait(self.STALLS_S)
            fcntl.flock(self.file, fcntl.LOCK_UN)
            self.ended.wait(self.BETWEEN_S)

    def end_stalls(self):
        self.ended.set()
        if self.thread is not None:
            self.thread.join()
            self.thread = None

    def end(self):
        self.end_stalls()
        self.file.close()
