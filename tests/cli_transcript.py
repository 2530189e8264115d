#!/usr/bin/env python3
"""Runs transcripts of the command line against the real binary.

  tests/cli_transcript.py [--rewrite] CADASTRE FILE...

A transcript is a row of blocks, each ended by an empty line. Lines with # are comments. A block is a command line,
its standard input, and behind ---- everything that came back:

  $ cadastre key --batch --hex         quoted as in a shell; in a word \\xNN is a byte and {a*9} nine letters
  < {"op":"successor","key":"61"}      one line of standard input, where {a*9} is nine letters too
  ----
  {"key":"6100"}                       one line of standard output
  ! {"error":{...}}                    one line of standard error
  exit 1                               the exit status, where it is not 0

{tmp} in a word, in an input or in an output is a directory of the transcript's own, which is empty when it begins and
gone when it ends. Commands run in the folder of the file. --rewrite puts what came back into the file, for review. Exits 1 if
anything differs, and if a file has no command at all.
"""

import argparse
import os
import pathlib
import re
import shlex
import subprocess
import sys
import tempfile

SECONDS_MAX = 60


def repeat(text, scratch):
    text = text.replace(b"{tmp}", scratch)
    return re.sub(rb"\{(.)\*(\d+)\}", lambda match: match.group(1) * int(match.group(2)), text)


def expand(word, scratch):
    return re.sub(rb"\\x([0-9a-f]{2})", lambda match: bytes([int(match.group(1), 16)]), repeat(word, scratch))


def words(line, scratch):
    """The arguments of a command line as bytes."""
    parts = shlex.split(line.removeprefix("$ "), posix=True)
    if parts[:1] != ["cadastre"]:
        sys.exit(f"cli_transcript: a command starts with cadastre: {line}")
    return [expand(os.fsencode(part), scratch) for part in parts[1:]]


def shown(prefix, output):
    """Lines of output as the transcript has them; a missing line end is told."""
    if not output:
        return []
    text = output.decode("utf-8", "backslashreplace")
    lines = text.removesuffix("\n").split("\n")
    if not text.endswith("\n"):
        lines[-1] += "(no line end)"
    return [prefix + line for line in lines]


def run(binary, folder, scratch, command, given):
    done = subprocess.run([os.fsencode(binary), *words(command, scratch)], input=repeat(given.encode(), scratch),
                          capture_output=True, cwd=folder, timeout=SECONDS_MAX, check=False)
    result = [line for prefix, output in (("", done.stdout), ("! ", done.stderr))
              for line in shown(prefix, output.replace(scratch, b"{tmp}"))]
    if done.returncode != 0:
        result.append(f"exit {done.returncode}")
    return result


def replay(binary, path, scratch):
    """The file's lines with what really came back, and how many commands it has."""
    lines, commands = [], 0
    blocks = re.split(r"\n\n+", path.read_text().strip("\n"))
    for block in blocks:
        head, separator, _ = block.partition("\n----")
        head_lines = head.split("\n")
        lines += head_lines
        command = [line for line in head_lines if line.startswith("$ ")]
        if command:
            given = "".join(line[2:] + "\n" for line in head_lines if line.startswith("< "))
            lines += ["----", *run(binary, path.parent, scratch, command[0], given)]
            commands += len(command)
        elif separator:
            sys.exit(f"cli_transcript: {path}: a block has an answer and no command")
        lines.append("")
    return "\n".join(lines[:-1]) + "\n", commands


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--rewrite", action="store_true")
    parser.add_argument("binary", type=pathlib.Path)
    parser.add_argument("files", type=pathlib.Path, nargs="+")
    options = parser.parse_args()
    failed = False
    for path in options.files:
        with tempfile.TemporaryDirectory(prefix="cadastre_cli_") as scratch:
            really, commands = replay(options.binary.resolve(), path, os.fsencode(scratch))
        if commands == 0:
            sys.exit(f"cli_transcript: {path} has no command")
        if options.rewrite:
            path.write_text(really)
        elif really != path.read_text():
            failed = True
            subprocess.run(["diff", "-u", "--label", f"{path} (expected)", "--label", "what came back", path, "-"],
                           input=really.encode(), check=False)
        print(f"{path.name}: {commands} commands")
    sys.exit(1 if failed else 0)


if __name__ == "__main__":
    main()
