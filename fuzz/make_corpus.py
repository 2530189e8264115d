#!/usr/bin/env python3
"""Writes the seeds of the fuzz targets to fuzz/corpus, from the golden vectors, transcripts and a few scenes.

  fuzz/make_corpus.py

A seed is named after its vector (bm_47) or after what happens in it. Each target's input is described at its
run_one; numbers and strings have the forms of fuzz/input.h.

Writes the seeds that it makes and touches no other. Kept by hand: the seeds of coord_record that are named by a digest,
which a fuzzer found, and whatever else somebody puts into fuzz/corpus. A seed that is made no more is removed by hand, too.
"""

import argparse
import json
import pathlib
import random
import re
import sys

HERE = pathlib.Path(__file__).resolve().parent
VECTORS = HERE.parent / "src" / "shard" / "testdata" / "shard-algebra-vectors.json"
COORDINATION = HERE.parent / "src" / "coord" / "testdata" / "coordination_vectors.json"
BITMAPS = HERE.parent / "src" / "bitmap" / "testdata" / "bitmap_vectors.json"
TRANSCRIPTS = HERE.parent / "tests" / "cli"
LITERAL_MAX = 63
SEED_BYTES_MAX = 20480


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


def coverage(vectors):
    """Keys, the parent's bounds, one child that is the parent; then edits that replace it by the vector's."""
    seeds = {}
    heads = {"id": "SC-equal-heads", "parent_start": "61", "parent_end": "7a",
             "children": [["61(00*9)", "7a"], ["61", "61(00*8)"], ["61(00*8)", "61(00*9)"]]}
    for vector in [*chosen(vectors["split_coverage"], [3, 4, 8, 11, 12, 15, 17]), heads]:
        bounds = [vector["parent_start"], vector["parent_end"], *(b for child in vector["children"] for b in child)]
        keys = ["", *sorted(set(bounds) - {""})]
        at = {key: bytes([i]) for i, key in enumerate(keys)}
        seed = bytes([len(keys) - 1]) + b"".join(string(key) for key in keys[1:])
        seed += at[vector["parent_start"]] + at[vector["parent_end"]] + b"\1\0\0" + b"\0\3"
        for i, (start, end) in enumerate(vector["children"]):
            seed += (b"\0\4" if i > 0 else b"") + at[start] + at[end]
        seeds[name_of(vector)] = seed
    seeds["full_fan_out"] = bytes([2]) + string("61") + string("7a") + bytes([1, 2, 1, 0, 255])
    return seeds


def manifest_row(shard, start, end, odd=15):
    return b"\0" + number(shard) + bytes([start, end, odd])


def manifest():
    """Keys "", a, b, c, d, then rows; from the second row on a zero byte: no swap."""
    keys = bytes([4]) + b"".join(string(key) for key in ("61", "62", "63", "64"))
    row = manifest_row
    return {
        "three_rows": keys + row(0, 1, 2) + row(1, 2, 3) + b"\0" + row(2, 3, 4) + b"\0",
        "overlap_with_equal_starts": keys + row(2, 1, 3) + row(1, 1, 2) + b"\0",
        "duplicate_ids": keys + row(5, 1, 2) + row(5, 2, 3) + b"\0",
        "derived_id": keys + row(1 << 63, 1, 2),
        "open_end": keys + row(0, 1, 0),
        "cursor_at_the_end": keys + row(0, 1, 2, odd=6),
        "ladder": keys + b"\7" + bytes([20]),
    }


def byte_slab():
    """Rounding, capacity, live strings; operations."""
    def take(size):
        return bytes([4, 0, size, 0xab])

    def give(index):
        return bytes([1, index])
    return {
        "merge_both_sides": bytes([0, 4, 0, 8]) + take(16) * 4 + give(0) + give(1) + give(0),
        "best_fit_of_two_holes": bytes([1, 4, 0, 12]) + take(40) + take(16) + take(20) + take(16) + give(0) + give(1)
                                 + take(17),
        "full": bytes([1, 0, 40, 3]) + take(16) * 4,
        "copies_its_own": bytes([0, 4, 0, 8]) + take(30) + bytes([3, 0, 3, 1]),
    }


def ring_buffer():
    """Capacity; operations, each followed by what to look for."""
    pop, copy, move, rebuild = bytes([3, 9]), bytes([4, 0, 9]), bytes([5, 1, 9]), bytes([6, 9])
    fill = b"".join(bytes([1, i, i]) for i in range(6))
    return {
        "wraps": bytes([1]) + fill + pop + copy + move + rebuild,
        "one_slot": bytes([0]) + fill + pop + pop,
        "refuses_when_full": bytes([1]) + b"".join(bytes([0, i, i]) for i in range(6)),
    }


def inline_vec():
    """Which vector; operations."""
    push = b"".join(bytes([0, i]) for i in range(7))
    return {
        "fails_when_full": bytes([0]) + push + bytes([3, 6, 0, 7, 1]),
        "spills": bytes([1]) + push + bytes([5, 0, 6, 0, 7, 0, 4, 2, 8, 2, 0, 1]),
        "spills_on_its_own_element": bytes([1]) + push[:12] + bytes([5, 3, 3, 3]),
        "trivial": bytes([2]) + bytes([2, 4, 1, 2, 3, 4, 5, 1, 8, 2, 9, 9]),
    }


def tuple_key(vectors):
    """Encoded tuples; the same bytes are also read as choices."""
    picked = chosen(vectors["typed_keys"], [16, 24, 27, 31, 34, 35])
    seeds = {name_of(v): unhex(v["bytes"]) for v in picked}
    seeds["not_minimal"] = unhex("160001")
    seeds["too_deep"] = unhex("05" * 9 + "00" * 9)
    seeds["escape_at_the_end"] = unhex("016100ff")
    seeds["two_lists"] = (bytes([3, 0, 1]) + string("6100") + bytes([5, 1]) + number(256) + bytes([0, 2, 2])
                          + string("62") + bytes([6, 8]))
    return seeds


def arena_scene(first, operations):
    """The first arena as given, the second with two slots and 512 bytes."""
    return first + bytes([2, 0, 32, 0]) + b"".join(operations)


def arena():
    def take(which=0, start="61", end="62", metadata=""):
        return bytes([which, 0]) + string(start) + string(end) + string(metadata)

    def free(index, which=0):
        return bytes([which, 3, 0, index])
    clear, order = bytes([0, 7, 3]), bytes([0, 6])
    plain = bytes([3, 0, 20, 0])
    return {
        "stale_after_reuse": arena_scene(plain, [take(), free(0), take(), free(0), free(1)]),
        "stale_after_clear": arena_scene(plain, [take(), take(), clear, free(0), take(), free(1)]),
        "foreign": arena_scene(plain, [take(), take(which=1), free(0, which=1), free(1)]),
        "slot_retires": arena_scene(bytes([1, 0, 20, 2, 3]), [take(), free(0), take(), free(1), take(), order]),
        "bytes_run_out": arena_scene(bytes([3, 0, 4, 0]), [take(metadata="(ab*40)"), take(), order]),
    }


def builder():
    """Slots, bytes / 16, entry limit, end; keys a, b, c, d; operations."""
    def scene(slots, blocks, limit, operations, end=0):
        keys = bytes([4]) + b"".join(string(key) for key in ("61", "62", "63", "64"))
        return bytes([slots, 0, blocks, limit, end]) + keys + b"".join(operations)
    plain = bytes([0, 0, 0])  # A short extra of no bytes; no cursor.

    def add(start, end):
        return bytes([0, start, end]) + plain
    prefix, reset = bytes([2, 1]) + plain, bytes([11, 3])
    rows = bytes([3]) + number(0) + number(9) + number(7) + b"\0" + plain

    def split_range(count):  # From a to c, at `count` ascending points below b.
        return bytes([6, 1, 3, 0, 0, 0, 0, count])

    def split_rows(step):
        return bytes([8]) + number(0) + number(40) + number(7) + b"\0\0" + number(step) + b"\0\0"
    return {
        "every_add": scene(8, 100, 8, [add(1, 2), prefix, rows, bytes([4, 2, 3]) + plain, reset, add(3, 4)]),
        "split_range_fits": scene(12, 100, 12, [split_range(5)]),
        "split_range_out_of_slots": scene(4, 100, 12, [add(1, 2), split_range(5), add(2, 3)]),
        "split_range_out_of_bytes": scene(12, 9, 12, [split_range(5), add(1, 2)]),
        "split_rows": scene(16, 127, 16, [split_rows(9), split_rows(1)]),
        "adopts": scene(6, 60, 6, [bytes([9, 1, 2, 0, 0]), bytes([5, 0, 0, 0, 0]), bytes([5, 0, 0, 0, 0]),
                                   bytes([10, 0, 0, 0])], end=1),
    }


def coord_record(sections):
    """Encoded records; the same bytes are also read as choices."""
    rows = next(section["rows"] for section in sections if section["section"] == "5a")
    seeds = {row["name"].lower(): bytes.fromhex(row["bytes_hex"]) for row in rows}
    numbers = b"".join(number(value) for value in range(1, 40))
    seeds["a_shard_and_edits"] = bytes([0]) + numbers + string("6162") + numbers
    seeds["a_run_and_edits"] = bytes([1]) + numbers * 2
    return seeds


def coord_batch():
    """The form of keys, then the requests of every batch in the transcripts of coordination."""
    seeds = {}
    for path in sorted(TRANSCRIPTS.glob("coord_*.txt")):
        for at, block in enumerate(path.read_text().split("\n\n")):
            lines = [line.removeprefix("< ") for line in block.split("\n") if line.startswith("< ")]
            form = b"\1" if "--hex" in block else b"\0"
            if "--batch" in block and lines:
                seeds[f"{path.stem.removeprefix('coord_')}_{at}"] = form + "\n".join(lines).encode()
    return {name: seed for name, seed in seeds.items() if len(seed) <= SEED_BYTES_MAX}


def le(value, size=8):
    return value.to_bytes(size, "little")


def counted_le(text):
    return le(len(text), 4) + text


def coord_command():
    """Stories for the replicated backend: each command behind its length."""
    tenant = b"\1" * 32

    def command(operation, now, *arguments):
        text = bytes([1, operation]) + le(now) + (tenant if operation != 1 else bytes(32)) + b"".join(arguments)
        return le(len(text), 2) + text

    def spec(start, end):
        return counted_le(start) + counted_le(end) + counted_le(b"meta")

    def cursor(key=b"", token=b""):
        return b"".join(b"\1" + counted_le(text) if text else b"\0" for text in (key, token))

    def lease(shard, fence=2):
        return tenant + le(1) + le(shard) + le(7) + le(fence) + le(105)

    configure = command(1, 0, le(100), le(1000), le(3), le(1 << 20), le(256))
    create = command(2, 1, le(1), b"\0", le(100), b"\1" + le(5, 4))
    register = command(3, 2, le(1), le(9), le(2, 4), le(1), spec(b"a", b"m"), cursor(), le(2), spec(b"m", b"z"),
                       cursor(b"n", b"t"))
    acquire = command(4, 5, le(1), le(1), le(7))
    claim = command(5, 5, le(1), le(7))
    begin = configure + create + register + acquire + claim
    return {
        "begin": begin,
        "too_many_shards": create + command(3, 2, le(1), le(9), le(10_001, 4)),
        "renewals": begin + command(6, 6, lease(1)) + command(7, 6, le(2, 4), lease(1), lease(2)),
        "cursors": begin + b"".join(command(operation, 7, lease(1), cursor(b"b", b"t"), le(operation))
                                    for operation in (8, 11, 9)),
        "parked": begin + command(10, 7, lease(1), b"\2", le(3)) + command(17, 8, le(1), le(1), le(4)),
        "replaced": begin + command(12, 7, lease(1), le(5), le(2, 4), spec(b"a", b"f"), cursor(), spec(b"f", b"m"),
                                    cursor(b"g")),
        "residual": begin + command(13, 7, lease(1), le(5), spec(b"a", b"f"), spec(b"f", b"m")) * 2,
        "ends": begin + b"".join(command(operation, 9, le(1), le(operation)) for operation in (14, 15, 16))
        + command(18, 0, le(10)),
    }


def coord_answer():
    """Answers by their number: done, and some errors with their fields."""
    return {
        "executed": b"\0\0", "replayed": b"\0\1", "ids": b"\0\0" + le(2, 4) + le(1) + le(2),
        "renewed": b"\0" + le(9) + le(1, 4) + b"\1" + le(8), "stale_fence": b"\3" + le(1) + le(2),
        "many": b"\0" + le(2, 4) + b"\0" + le(9) + le(1, 4) + b"\0" + b"\1" + le(1) + le(2),
        "split_invalid": b"\x0c\3\0" + le(1) * 4, "infra": b"\x11\1\0" + counted_le(b"why"),
        "none_available": b"\x1b\1" + le(7), "manifest": b"\x16\5" + le(1) * 4 + b"\2\2" + le(1) * 2,
    }


def coord_snapshot(sections):
    """Files without their sum: a head, then the vectors' records."""
    rows = next(section["rows"] for section in sections if section["section"] == "5a")
    records = [bytes.fromhex(row["bytes_hex"]) for row in rows]
    settings = le(100_000) + le(1_000_000) + le(3) + le(1 << 30) + le(256)
    head = b"CDCS" + le(1, 2) + b"\1\0" + le(4) + le(99) + settings
    tenant = b"\1" * 32
    cooldowns = b"v1\4" + le(1, 4) + tenant + le(7) + le(5)
    times = b"v1\5" + le(1, 4) + tenant + le(9)

    def file(*blobs):
        return head + le(len(blobs)) + b"".join(map(counted_le, blobs))
    return {"empty": file(), "lists": file(cooldowns, times), "records": file(*records),
            **{f"record_{at}": file(record) for at, record in enumerate(records)}}


def portable_scenes():
    """Payloads of the portable format that were trouble somewhere, and a full and a dense chunk."""
    one = unhex("000000003a300000010000000000000010000000" "2a00")
    empty = unhex("050000003a30000000000000")

    def payload(count, *maps):
        return count.to_bytes(8, "little") + b"".join(maps)
    bitset = unhex("000000003a300000010000000000a0aa10000000") + b"\x55\xaa\xff" * 2730 + b"\x00\x01"
    return {
        "nothing": b"", "no_maps": payload(0), "one": payload(1, one), "all_maps": payload(2**64 - 1, one),
        "twice": payload(2, one, one), "empty_inner": payload(1, empty), "one_and_empty": payload(2, one, empty),
        "trailing": payload(1, one) + b"\0", "bitset": payload(1, bitset),
        "full_chunk": payload(1, unhex("000000003b30000001" "0000ffff" "010000" "00ffff")),
        "five_with_runs": payload(1, unhex("01000000" "3b300400" "15" + "".join(
            f"{key:02x}000{3 if key % 2 == 0 else 0}00" for key in range(5)) + "".join(
            (41 + 4 + at).to_bytes(4, "little").hex() for at in (0, 6, 8, 14, 16)) + "010005000300" "0700" "010005000300"
            "0700" "010005000300")),
    }


def bitmap_values(bitmaps):
    seeds = {name_of(row): bytes.fromhex(row["bytes"]) for row in bitmaps["values"]}
    for name, payload in portable_scenes().items():
        seeds[f"form_1_{name}"] = b"\x01" + payload
        seeds[f"form_81_{name}"] = b"\x81" + payload + b"\0\0\0\0"
    return seeds


def bitmap_edits(bitmaps):
    """A value behind its size, then edits: ones, ids, ranges."""
    edits = bytes(range(256)) + b"\x01\x04\x02" * 20
    return {name: len(value).to_bytes(2, "big") + value + edits for name, value in bitmap_values(bitmaps).items()}


def bitmap_portables(bitmaps):
    seeds = {name_of(row): bytes.fromhex(row["bytes"])[1:] for row in bitmaps["values"] if row["form"] == 1}
    return seeds | portable_scenes()


def bitmap_keys(bitmaps):
    seeds = {name_of(row): bytes.fromhex(row["bytes"]) for row in bitmaps["keys"]}
    seeds["two_keys"] = string("6100") + bytes([0, 7]) + number(65536) + string("61ff") + bytes([0, 7]) + number(0)
    return seeds


def bitmap_records(bitmaps):
    return {name_of(row): bytes.fromhex(row["bytes"]) for row in bitmaps["descriptors"] + bitmaps["stats"]}


def bitmap_batch():
    """The form of keys, shards and segment size, then the requests of every batch in the transcripts of bitmap tables."""
    seeds = {}
    blocks = (TRANSCRIPTS / "bitmap_batch.txt").read_text().split("\n\n")
    for at, block in enumerate(blocks):
        lines = [line.removeprefix("< ") for line in block.split("\n") if line.startswith("< ")]
        if lines:
            form = bytes([1 if "--hex" in block else 0, at % 3, at % 2])
            seeds[f"transcript_{at}"] = form + "\n".join(lines).encode()
    cuts = [json.dumps({"op": op, "key": "k", "ids": [i * 7919 % 2**20 for i in range(at, at + 200)]})
            for op in ("add", "remove") for at in range(0, 1000, 200)]
    seeds["cuts_and_merges"] = bytes([0, 2, 0]) + "\n".join([*cuts, '{"op":"compact","key":"k"}']).encode()
    return seeds


def bitmap_table_ops():
    """Shards, grain, segment size, statistics; then steps: a key, what to do, and what that step chooses."""
    def step(what, *choices, key=1):
        return bytes([key, what]) + b"".join(choices)

    def small(value):  # an id below 200
        return bytes([0, value])

    def block(chunk, slot):  # an id of one of thirty chunks
        return bytes([2, chunk]) + slot.to_bytes(2, "big")
    wide = number(65_535)  # a stride that puts every id into a chunk of its own
    ascend = b"".join(step(8, block(i, 0), b"\1", wide, bytes([39])) for i in (1, 7, 9))
    batch = b"".join(step(4, bytes([199]), number(seed)) for seed in (3, 5, 8))
    add_range = step(6, b"\1", small(10), b"\1", (500).to_bytes(2, "big"))
    drop_range = step(6, b"\0", small(0), b"\1", (599).to_bytes(2, "big"))
    add_across = b"".join(step(6, b"\1", block(i, 0), b"\2", bytes([29])) for i in range(4))
    drop_across = step(6, b"\0", block(2, 0), b"\2", bytes([20, 7]))
    drop_most = step(7, b"\0", (77).to_bytes(2, "big"))
    drop_one = step(3, b"\1", small(40))
    pack, look = step(9), step(11, b"\1", small(3), b"\1", block(4, 9))
    copy, empty = step(10, b"\1\1", key=2), step(10, b"\0")
    scenes = {
        "cuts_and_merges": ascend + look + drop_most * 3 + look,
        "batches_then_packing": batch + pack + look + drop_most + pack + look,
        "ranges_across_chunks": ascend + add_across + look + drop_across + look,
        "ranges_come_and_go": add_range + look + drop_range + add_range + drop_one + look,
        "the_first_segment_empties": ascend + step(0, small(1)) + drop_range + look,
        "one_key_becomes_another": batch + copy + empty + look + drop_most,
    }
    settings = {"": bytes(4), "_in_three_shards_": bytes([1, 0, 0, 0]), "_by_id_without_statistics_": bytes([2, 1, 0, 1]),
                "_in_large_segments_": bytes([0, 0, 1, 0])}
    scenes["everything"] = random.Random(4).randbytes(1500)  # Any bytes are a program.
    return {f"{scene}{setting}".rstrip("_"): head + body
            for setting, head in settings.items() for scene, body in scenes.items()}


def log_body():
    """A byte, then a body; behind an odd byte its sums are put right by the target."""
    def body(*commands, version=1, flags=0, count=None):
        table = b"".join(len(c).to_bytes(4, "little") + bytes(4) for c in commands)
        counted = len(commands) if count is None else count
        return (bytes([1, version, flags]) + counted.to_bytes(2, "little") + bytes(4)
                + (1700000000000).to_bytes(8, "little") + table + b"".join(commands))
    return {
        "one_command": body(b"put"),
        "some_commands": body(b"a", b"", b"bcd", b"x" * 300),
        "a_full_batch": body(*[b"z"] * 1024),
        "one_too_many": body(*[b""] * 1025),
        "a_newer_version": body(b"put", version=2),
        "compressed": body(b"put", flags=1),
        "a_count_too_low": body(b"a", b"b", count=1),
        "no_sum": b"\0" + body(b"put")[1:],
    }


def log_records():
    """A byte that chooses (see the target), then bytes, or records: group, incarnation, term, index, kind, value."""
    def record(group, kind, term=0, index=0, more=b""):
        return bytes([group, 0]) + number(term) + number(index) + bytes([kind]) + more
    made = lambda group: record(group, 0)
    state = lambda group, term, index: record(group, 1, term, index, number(term) + number(0))
    entry = lambda group, term, index, body=b"": record(group, 3, term, index, string(body.hex()))
    number_of_set = record(0, 4, more=number(9))
    log = made(1) + entry(1, 1, 1) + entry(1, 1, 2, b"body") + entry(1, 2, 3, b"x" * 40) + state(1, 2, 3)
    key = bytes([1]) + (7).to_bytes(8, "big") + (1).to_bytes(4, "big")
    return {
        "empty_log": bytes([2]),
        "one_log": bytes([2]) + log + number_of_set,
        "two_logs": bytes([2]) + log + made(2) + record(2, 2, 4, 9) + state(2, 4, 9) + number_of_set,
        "an_overwritten_suffix": bytes([2]) + log + record(1, 6, 0, 3, number(9)) + state(1, 1, 2) + number_of_set,
        "a_gap": bytes([2]) + made(1) + entry(1, 1, 1) + entry(1, 1, 3) + state(1, 1, 3) + number_of_set,
        "at_the_end_of_numbers": (bytes([2]) + made(1) + bytes([1, 0, 4, 2, 2]) + bytes([1, 0, 4, 0, 3, 0])
                                  + bytes([1, 0, 4, 0, 1, 4, 0]) + number_of_set),
        "any_record": bytes([2]) + record(0, 5, more=string("00") + string("0102")),
        "key_of_a_state": bytes([0]) + key + b"\x01",
        "key_of_an_entry": bytes([0]) + key + b"\x10" + (5).to_bytes(8, "big"),
        "value_of_a_state": bytes([0]) + b"".join(n.to_bytes(8, "little") for n in (5, 6, 7, 8, 4)),
        "value_of_a_node": bytes([0]) + (1).to_bytes(8, "little") + bytes(24),
        "value_of_an_entry": bytes([0]) + bytes(4) + (4).to_bytes(8, "little") + b"body",
        "a_torn_disk": bytes([1]) + (200).to_bytes(4, "little") + bytes(20),
    }


def log_conf_context():
    """A context as it stands in a configuration's record."""
    counted = lambda content: len(content).to_bytes(2, "little") + content
    head = lambda flags, addresses, removed: b"".join(n.to_bytes(2, "little") for n in (1, flags, addresses, removed))
    node = lambda n: n.to_bytes(8, "little")
    address = lambda n: node(n) + counted(counted(b"host:2") + counted(b"host:1"))
    return {
        "nothing": head(0, 0, 0),
        "recovered": head(1, 0, 1) + node(3),
        "addresses": head(0, 2, 0) + address(1) + address(4),
        "all": head(1, 1, 2) + address(4) + node(2) + node(3),
        "out_of_order": head(0, 2, 0) + address(4) + address(1),
        "too_many": head(0, 0, 65535) + node(1),
    }


def log_checkpoint():
    """A byte, then a manifest or a file list; behind an odd byte its sum is put right by the target."""
    counted = lambda content: len(content).to_bytes(2, "little") + content
    head = lambda magic, second: b"\1" + magic + (1).to_bytes(2, "little") + second.to_bytes(2, "little")
    words = b"".join(n.to_bytes(8, "little") for n in range(1, 9))
    manifest = lambda summary: head(b"CDSM", 1) + words + (9).to_bytes(4, "little") + bytes(32) + counted(summary) + bytes(4)
    file = lambda name: counted(name) + (100).to_bytes(8, "little") + bytes(32) + b"\6" + counted(b"a") + counted(b"zz")
    files = lambda *names: head(b"CDSL", 0) + len(names).to_bytes(4, "little") + b"".join(map(file, names)) + bytes(4)
    return {
        "manifest": manifest(b"sum"),
        "a_long_summary": manifest(bytes(4097)),
        "no_files": files(),
        "some_files": files(b"000007.sst", b"CURRENT"),
        "a_path": files(b"../etc/passwd"),
        "a_name_twice": files(b"a", b"a"),
        "no_sum": b"\0" + files(b"a")[1:],
    }


def log_preamble():
    """A byte, then a preamble; behind an odd byte its sum is put right by the target."""
    head = lambda version, lane: b"\1CDRP" + version.to_bytes(2, "little") + lane.to_bytes(2, "little")
    words = b"".join(n.to_bytes(8, "little") for n in (7, 1, 2, 9))
    return {
        "control": head(1, 1) + words + bytes(4),
        "bulk": head(1, 2) + words + bytes(4),
        "no_lane": head(1, 3) + words + bytes(4),
        "a_newer_version": head(2, 1) + words + bytes(4),
        "too_long": head(1, 1) + words + bytes(5),
        "no_sum": b"\0" + (head(1, 1) + words + bytes(4))[1:],
    }


def raft_message():
    """A byte, odd if the node campaigns first, then an eraftpb.Message from node 1 to node 2."""
    def varint(value):
        out = b""
        while value > 127:
            out += bytes([value & 127 | 128])
            value >>= 7
        return out + bytes([value])

    def number(field, value):
        return varint(field << 3) + varint(value)

    def text(field, value):
        return varint(field << 3 | 2) + varint(len(value)) + value

    def message(kind, term, *rest, first=b"\0"):
        return first + number(1, kind) + number(2, 2) + number(3, 1) + number(4, term) + b"".join(rest)

    entry = number(2, 5) + number(3, 2) + text(4, b"x")
    metadata = text(1, number(1, 1) + number(1, 2) + number(1, 3)) + number(2, 9) + number(3, 5)
    return {
        "heartbeat": message(8, 5, number(8, 1)),
        "append": message(3, 5, number(5, 1), number(6, 1), text(7, entry), number(8, 2)),
        "vote": message(5, 5, number(5, 1), number(6, 1), first=b"\1"),
        "snapshot": message(7, 5, text(9, text(1, b"d") + text(2, metadata))),
        "read": message(15, 0, text(7, text(4, b"c" * 24))),
    }


def fetch_request():
    """A byte, then a request for a range of a checkpoint; behind an odd byte its sum is put right by the target."""
    def request(name, version=1, offset=4096, size=512):
        words = b"".join(n.to_bytes(8, "little") for n in (7, 1, 2, 3, 9, offset))
        return (b"\1CDFR" + version.to_bytes(2, "little") + len(name).to_bytes(2, "little") + words
                + size.to_bytes(4, "little") + name + bytes(4))
    return {
        "a_table": request(b"000007.sst"),
        "the_list": request(b"FILES", offset=0),
        "a_path": request(b"../../etc/passwd"),
        "no_name": request(b""),
        "the_longest_name": request(b"n" * 255),
        "nothing": request(b"CURRENT", size=0),
        "too_much": request(b"CURRENT", size=1 << 31),
        "a_newer_version": request(b"CURRENT", version=2),
        "no_sum": b"\0" + request(b"CURRENT")[1:],
    }


def log_frame():
    """A byte, then frames; behind an odd byte the sum of the first is put right by the target."""
    def frame(kind, body, place=0, size=None):
        words = b"".join(n.to_bytes(8, "little") for n in (5, 1, 2))
        size = len(body) if size is None else size
        return (b"CDRF" + (1).to_bytes(2, "little") + kind.to_bytes(2, "little") + words + size.to_bytes(4, "little")
                + place.to_bytes(4, "little") + bytes(8) + body)
    return {
        "message": b"\1" + frame(1, b"raft"),
        "two": b"\1" + frame(1, b"raft") + frame(1, b"more"),
        "installed": b"\1" + frame(2, (7).to_bytes(8, "little") + b"\1"),
        "a_last_fragment": b"\1" + frame(3, b"end", 1 << 16 | 2),
        "a_fragment_of_one": b"\1" + frame(3, b"end", 1),
        "address": b"\1" + frame(4, b"\3\0b:1\1\0c"),
        "not_here": b"\1" + frame(5, (7).to_bytes(8, "little")),
        "too_long": b"\1" + frame(1, b"", size=(1 << 20) + 1),
        "cut_short": b"\1" + frame(1, b"raft", size=5),
        "no_sum": b"\0" + frame(1, b"raft"),
    }


def field(number, value):
    """One field of a protobuf message: a number as a varint, bytes with their length."""
    def varint(n):
        return bytes([n]) if n < 128 else bytes([n & 127 | 128]) + varint(n >> 7)
    if isinstance(value, int):
        return varint(number << 3) + varint(value)
    return varint(number << 3 | 2) + varint(len(value)) + value


def wire_request():
    """The request's number, then its message: a good one of each shape and a few that are refused."""
    tenant, now, run = field(1, bytes(32)), field(2, 5), field(3, 7)
    lease = b"".join(field(n, n + 1) for n in range(1, 6))
    spec = lambda start, end: field(1, start) + field(2, end) + field(3, b"meta")
    cursor = field(1, b"k") + field(2, b"t")
    row = lambda number, at: field(1, number) + field(2, spec(*at)) + field(3, cursor)
    child = lambda at: field(1, spec(*at)) + field(2, cursor)
    halves = ((b"a", b"m"), (b"m", b"z"))
    head = tenant + now + run
    leased = tenant + now + field(3, lease)
    return {
        "create": b"\x00" + head + field(4, field(1, 1) + field(2, 100) + field(3, 5)),
        "create_without_semantics": b"\x00" + head + field(4, field(2, 100)),
        "register": b"\x01" + head + b"".join(field(4, row(i, at)) for i, at in enumerate(halves)) + field(5, 9),
        "progress": b"\x03" + head,
        "runs": b"\x05" + tenant + field(2, 3) + field(3, 10),
        "shards": b"\x07" + head + field(4, 1) + field(5, 1) + field(6, 1) + field(7, 2) + field(8, 3),
        "shards_of_no_status": b"\x07" + head + field(4, 9),
        "end": b"\x08" + head + field(4, 9),
        "acquire": b"\x0b" + head + field(4, 8) + field(5, 3),
        "stream": b"\x0d" + tenant + field(2, 7) + field(3, 3) + field(4, 1025),
        "renew": b"\x0e" + leased,
        "renew_many": b"\x0f" + tenant + now + field(3, lease) + field(3, lease + field(6, bytes(32))),
        "checkpoint": b"\x10" + leased + field(4, cursor) + field(5, 9),
        "checkpoint_of_an_empty_key": b"\x10" + leased + field(4, field(1, b"")) + field(5, 9),
        "checkpoint_of_a_token": b"\x10" + leased + field(4, field(2, b"t")) + field(5, 9),
        "park": b"\x11" + leased + field(4, 3) + field(5, 9),
        "replace": b"\x12" + leased + b"".join(field(4, child(at)) for at in halves) + field(5, 9),
        "residual": b"\x13" + leased + field(4, spec(*halves[0])) + field(5, spec(*halves[1])) + field(6, 9),
        "a_short_tenant": b"\x02" + field(1, bytes(31)) + field(2, 7),
    }


def etcd_answer():
    """Messages of etcd as the wire has them: a tag, a length, the bytes."""
    part = lambda field, content: bytes([field << 3 | 2, len(content)]) + content
    count = lambda field, value: bytes([field << 3, value])
    pair = lambda key: part(2, part(1, key) + count(3, 5) + count(4, 1) + part(5, b"v"))
    header = part(1, count(3, 9))
    keys = lambda *names: header + b"".join(map(pair, names)) + count(4, len(names))
    answered = lambda message: part(3, part(1, message))
    put = part(3, part(2, b""))
    return {
        "a_range": b"\1" + keys(b"a", b"b"),
        "out_of_order": b"\1" + keys(b"b", b"a"),
        "beyond_the_limit": b"\3" + keys(b"a", b"b"),
        "one_key": b"\5" + keys(b"a"),
        "a_transaction_that_wrote": b"\0" + header + count(2, 1) + put + answered(keys(b"a")),
        "a_transaction_that_lost": b"\0" + header + answered(keys(b"a")) + answered(keys()),
        "an_answer_of_another_kind": b"\0" + header + put + put,
    }


def targets(vectors, coordination, bitmaps):
    return {
        "hint_decode": frames(vectors["hint_decode"], [3, 7, 12, 13, 16, 18]),
        "metadata_decode": frames(vectors["metadata_decode"], [5, 8, 11, 14, 15, 16, 19]),
        "midpoint": midpoint(vectors),
        "split_coverage": coverage(vectors),
        "manifest": manifest(),
        "builder": builder(),
        "arena": arena(),
        "byte_slab": byte_slab(),
        "ring_buffer": ring_buffer(),
        "inline_vec": inline_vec(),
        "tuple_key": tuple_key(vectors),
        "coord_record": coord_record(coordination["sections"]),
        "coord_batch": coord_batch(),
        "coord_command": coord_command(),
        "coord_answer": coord_answer(),
        "coord_snapshot": coord_snapshot(coordination["sections"]),
        "bitmap_segment_view": bitmap_values(bitmaps),
        "bitmap_segment_edit": bitmap_edits(bitmaps),
        "bitmap_portable": bitmap_portables(bitmaps),
        "bitmap_key_decode": bitmap_keys(bitmaps),
        "bitmap_descriptor": bitmap_records(bitmaps),
        "bitmap_batch": bitmap_batch(),
        "bitmap_table_ops": bitmap_table_ops(),
        "log_body": log_body(),
        "log_records": log_records(),
        "log_checkpoint": log_checkpoint(),
        "log_conf_context": log_conf_context(),
        "log_frame": log_frame(),
        "log_preamble": log_preamble(),
        "raft_message": raft_message(),
        "fetch_request": fetch_request(),
        "wire_request": wire_request(),
        "etcd_answer": etcd_answer(),
    }


def main():
    argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter).parse_args()
    vectors = json.loads(VECTORS.read_text())
    coordination = json.loads(COORDINATION.read_text())
    bitmaps = json.loads(BITMAPS.read_text())
    for target, seeds in targets(vectors, coordination, bitmaps).items():
        folder = HERE / "corpus" / target
        folder.mkdir(parents=True, exist_ok=True)
        for name, content in seeds.items():
            (folder / name).write_bytes(content)
        print(f"{target}: {len(seeds)} seeds, {sum(map(len, seeds.values()))} bytes")
        by_hand = sum(path.name not in seeds for path in folder.iterdir())
        if by_hand:
            print(f"{target}: {by_hand} more are kept by hand")


if __name__ == "__main__":
    sys.exit(main())
