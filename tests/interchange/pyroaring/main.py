"""Sets of sets.txt written and read with BitMap64. See ../README.md.

main.py make SETS FOLDER
main.py read FILE...
"""

import pathlib
import sys

from pyroaring import BitMap64

WORD = 2**64 - 1


def splitmix64(state, count):
    for _ in range(count):
        state = (state + 0x9E3779B97F4A7C15) & WORD
        z = state
        z = ((z ^ (z >> 30)) * 0xBF58476D1CE4E5B9) & WORD
        z = ((z ^ (z >> 27)) * 0x94D049BB133111EB) & WORD
        yield z ^ (z >> 31)


def apply(members, rule, arguments):
    if rule in ("add", "remove"):
        first, step, count = map(int, arguments)
        change = members.add if rule == "add" else members.discard
        for i in range(count):
            change(first + i * step)
    elif rule == "random":
        for member in splitmix64(*map(int, arguments)):
            members.add(member)
    elif rule == "optimise":
        members.run_optimize()
    else:
        raise ValueError(f"no such rule: {rule}")


def make(sets, folder):
    made = {}
    for line in pathlib.Path(sets).read_text().splitlines():
        words = line.split()
        if not words or words[0] == "#":
            continue
        if words[0] == "set":
            members = made[words[1]] = BitMap64()
        else:
            apply(members, words[0], words[1:])
    for name, members in made.items():
        (pathlib.Path(folder) / f"{name}.bin").write_bytes(members.serialize())


def describe(members):
    """Cardinality, and FNV-1a over the members as little-endian bytes, ascending."""
    state, count = 0xCBF29CE484222325, 0
    for member in members:
        count += 1
        for byte in member.to_bytes(8, "little"):
            state = ((state ^ byte) * 0x100000001B3) & WORD
    if count != len(members):
        return f"inconsistent: {count} members, cardinality {len(members)}"
    return f"{count} {state:016x}"


def read(path):
    try:
        members = BitMap64.deserialize(pathlib.Path(path).read_bytes())
    except Exception as error:  # Whatever it raises is its refusal.
        return f"refused: {error}"
    return describe(members)


if sys.argv[1] == "make":
    make(*sys.argv[2:])
else:
    for path in sys.argv[2:]:
        print(f"{path}\t{read(path)}")
