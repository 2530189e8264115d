#!/usr/bin/env python3
"""The session of docs/operations.md, run as it stands: every command in a ```console block, and what it prints.

  tests/operations_session_test.py CADASTRE

`$ ` begins a command and `> ` goes on with it; the lines behind are what it prints, where `…` is anything. The page's net
127.7.0 is replaced by one that no other test has. Where the page shows an error, the command may fail; else it must not.
"""

import os
import pathlib
import re
import select
import signal
import subprocess
import sys
import tempfile
import time

ROOT = pathlib.Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT / "tests" / "cluster"))
from cluster import take_net  # noqa: E402

PAGE = ROOT / "docs" / "operations.md"
PAGE_NET = "127.7.0"
SECONDS_MAX = 120  # Of a command.
SESSION_SECONDS_MAX = 280  # CTest ends it after 300.
END = "cadastre-session-end"
NOTICE = re.compile(r"^bash: line \d+: +\d+ Killed ")  # bash itself tells of a child that was killed.


def commands(text):
    """(command, the lines it prints), in the order of the page."""
    found = []
    for block in re.findall(r"^```console\n(.*?)^```$", text, re.MULTILINE | re.DOTALL):
        for line in block.splitlines():
            if line.startswith("$ "):
                found.append(([line[2:]], []))
            elif line.startswith("> ") or line == ">":
                found[-1][0].append(line[2:])
            else:
                found[-1][1].append(line)
    return [("\n".join(command), printed) for command, printed in found]


def matches(shown, printed):
    pattern = re.escape(re.sub(r" +", " ", shown).strip()).replace("…", ".*")
    return re.fullmatch(pattern, re.sub(r" +", " ", printed).strip()) is not None


class Shell:
    """One bash for the whole session, so that its variables and its children stay."""

    def __init__(self, folder, binary):
        environment = dict(os.environ, PATH=f"{binary.parent}:{os.environ['PATH']}")
        self.process = subprocess.Popen(["setpriv", "--pdeathsig", "KILL", "bash", "--norc"], stdin=subprocess.PIPE,
                                        stdout=subprocess.PIPE, stderr=subprocess.STDOUT, cwd=folder, env=environment,
                                        start_new_session=True)
        self.rest = b""

    def run(self, command):
        self.process.stdin.write(f"{command}\necho {END} $?\n".encode())
        self.process.stdin.flush()
        lines, deadline = [], time.monotonic() + SECONDS_MAX
        while (line := self._line(deadline)) is not None:
            if line.startswith(END):
                return lines, int(line.split()[1])
            if not NOTICE.match(line):
                lines.append(line)
        raise AssertionError(f"no end of: {command}\n" + "\n".join(lines))

    def _line(self, deadline):
        """The next one; nothing: none came in time, or none comes any more."""
        while b"\n" not in self.rest:
            wait = max(0.0, deadline - time.monotonic())
            if not select.select([self.process.stdout], [], [], wait)[0]:
                return None
            piece = os.read(self.process.stdout.fileno(), 1 << 16)
            if not piece:
                return None
            self.rest += piece
        line, self.rest = self.rest.split(b"\n", 1)
        return line.decode()

    def end(self):
        os.killpg(self.process.pid, signal.SIGKILL)
        self.process.wait()


def fail(folder):
    for log in sorted(pathlib.Path(folder).glob("log?")):
        print(f"--- {log.name}\n{log.read_text()[-2000:]}")
    return 1


def too_long(*_):
    raise AssertionError("the session takes too long")


def main():
    binary = pathlib.Path(sys.argv[1]).resolve()
    net, guard = take_net()
    session = commands(PAGE.read_text().replace(PAGE_NET, net))
    if not session:
        raise AssertionError(f"{PAGE} has no session")
    with tempfile.TemporaryDirectory() as folder:
        shell = Shell(folder, binary)
        alarm = time.monotonic()
        try:
            for command, shown in session:
                printed, status = shell.run(command)
                is_error = bool(shown) and re.match(r"^cadastre: [a-z_]+: ", shown[0]) is not None
                agree = len(shown) == len(printed) and all(map(matches, shown, printed))
                if not agree or (status != 0) != is_error:
                    print(f"$ {command}\n--- the page shows\n" + "\n".join(shown) + f"\n--- it printed (exit {status})\n" +
                          "\n".join(printed))
                    return fail(folder)
        except AssertionError as error:
            print(error)
            return fail(folder)
        finally:
            shell.end()
            guard.close()
    print(f"{len(session)} commands of {PAGE.name} in {time.monotonic() - alarm:.0f} s")
    return 0


if __name__ == "__main__":
    signal.signal(signal.SIGALRM, too_long)
    signal.alarm(SESSION_SECONDS_MAX)
    sys.exit(main())
