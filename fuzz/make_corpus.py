#!/usr/bin/env python3
"""Writes the seeds of the shard room's fuzz targets to fuzz/corpus, from the golden vectors and a few scenes.

  fuzz/make_corpus.py

A seed is named after its vector (bm_47) or after what happens in it. Each target's input is described at its
run_one; numbers and strings have the forms of fuzz/input.h. Seeds that nobody makes any more are removed.
"""

import json
import pathlib
import re
import sys

HERE = pathlib.Path(__file__).resolve().parent
VECTORS = HERE.parent / "src" / "shard" / "testdata" / "shard-algebra-vectors.json"
LITERAL_MAX = 63


def unhex(text):
    """Bytes of a vector: hexadecimal, where (XX*N) is a run."""
    out = bytearray()
    for run_byte, count, digits in re.findall(r"\(([0-9a-f]{2})\*(\d+)\)|([0-9a-f]+)", text):
        out += bytes.fromhex(run_byte) * int(count) if count else bytes.fromhex(digits)
    return bytes(out)


def number(value):
    if value < 64:
        return bytes([value * 4])
    return bytes([1]) + value.to_bytes(8, "big")


def string(text):
    """A vector's byte string, with its runs as runs."""
    out = bytearray()
    for run_byte, count, digits in re.findall(r"\(([0-9a-f]{2})\*(\d+)\)|([0-9a-f]+)", text):
        if count:
            out += bytes([3]) + bytes.fromhex(run_byte) + int(count).to_bytes(2, "big")
            continue
        literal = bytes.fromhex(digits)
        for at in range(0, len(literal), LITERAL_MAX):
            piece = literal[at:at + LITERAL_MAX]
            out += bytes([len(piece) * 4 + 1]) + piece
    return bytes(out) + bytes([0])


def chosen(vectors, ids):
    """The vectors of one table with these numbers."""
    by_number = {int(vector["id"].split("-")[1]): vector for vector in vectors}
    return [by_number[i] for i in ids]


def name_of(vector):
    return vector["id"].lower().replace("-", "_")


def frames(vectors, ids):
    """Seeds that are a vector's input bytes."""
    return {name_of(v): unhex(v["in"]) for v in chosen(vectors, ids)}


def midpoint(vectors):
    """Limit, start, "end is a string", end, cut index, cut count."""
    def seed(vector):
        cut = number(vector.get("i", 1)) + number(vector.get("n", 3))
        return b"\0" + string(vector["a"]) + b"\0" + string(vector["b"]) + cut
    picked = (chosen(vectors["byte_midpoint"], [11, 14, 20, 28, 36, 47, 49])
              + chosen(vectors["balanced_split_point"], [4, 18, 22])
              + chosen(vectors["interpolate_key"], [6, 9]))
    seeds = {name_of(v): seed(v) for v in picked}
    seeds["dense_at_limit_4"] = b"\4" + string("616161") + b"\1\1" + number(2) + number(1) + number(2)
    return seeds


def targets(vectors):
    return {
        "hint_decode": frames(vectors["hint_decode"], [3, 7, 12, 13, 16, 18]),
        "metadata_decode": frames(vectors["metadata_decode"], [5, 8, 11, 14, 15, 16, 19]),
        "midpoint": midpoint(vectors),
    }


def main():
    vectors = json.loads(VECTORS.read_text())
    for target, seeds in targets(vectors).items():
        folder = HERE / "corpus" / target
        folder.mkdir(parents=True, exist_ok=True)
        for old in folder.iterdir():
            if old.name not in seeds:
                old.unlink()
        for name, content in seeds.items():
            (folder / name).write_bytes(content)
        print(f"{target}: {len(seeds)} seeds, {sum(map(len, seeds.values()))} bytes")


if __name__ == "__main__":
    sys.exit(main())
