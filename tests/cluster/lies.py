"""Recorded histories with one line changed: each must be found by the judge, or the judge is worth nothing.

A lie takes the lines of a true history (sim/checkers/history_text.h, digest_text.h) and returns others.
"""

import re

LINE = re.compile(r"(?P<called>\d+)\.\.(?P<returned>\d*) c(?P<client>\d+) k(?P<key>\d+) (?P<what>.+) -> (?P<result>.+)")


def parsed(lines):
    """(place, fields) of each, by the time of its call."""
    found = [(place, LINE.fullmatch(line).groupdict()) for place, line in enumerate(lines)]
    return sorted(found, key=lambda each: int(each[1]["called"]))


def answered(lines):
    return [(place, each) for place, each in parsed(lines) if each["result"] not in ("unknown", "failed")]


def changed(lines, place, old, new):
    line = lines[place]
    if old not in line:
        raise AssertionError(f"{old} is not in {line}")
    head, _, tail = line.rpartition(old)
    return [*lines[:place], head + new + tail, *lines[place + 1:]]


def followed(lines, first, second):
    """An operation that `first` takes, and a later one of the same key that `second` takes, given the first."""
    operations = answered(lines)
    for number, (place, one) in enumerate(operations):
        if not first(one):
            continue
        for later, other in operations[number + 1:]:
            if other["key"] == one["key"] and int(other["called"]) > int(one["returned"]) and second(one, other):
                return place, one, later, other
    raise AssertionError("the history has nothing to lie about")


# ---- Registers -------------------------------------------------------------------------------------------------------

def lost_write(lines):
    """An acknowledged write that nobody made: the readers of its value saw what was never written."""
    place, _, _, _ = followed(lines, lambda one: one["what"].startswith("write"),
                              lambda one, other: other["what"] == "read" and other["result"] == one["what"].split()[1])
    return [*lines[:place], *lines[place + 1:]]


def stale_read(lines):
    """A read that answers what was there before anything was written."""
    _, _, later, other = followed(lines, lambda one: one["what"].startswith("write"),
                                  lambda _, other: other["what"] == "read")
    return changed(lines, later, f"-> {other['result']}", "-> nil")


def executed_though_failed(lines):
    """A write that was refused for certain, and was seen."""
    place, one, _, _ = followed(lines, lambda one: one["what"].startswith("write"),
                                lambda one, other: other["what"] == "read" and other["result"] == one["what"].split()[1])
    return changed(lines, place, f"-> {one['result']}", "-> failed")


# ---- Digests ---------------------------------------------------------------------------------------------------------

def changed_digest(lines):
    """One replica that became something else at one index."""
    place = len(lines) // 2
    words = lines[place].split()
    words[3] = f"#{int(words[3][1:], 16) ^ 1:x}"
    return [*lines[:place], " ".join(words), *lines[place + 1:]]


def skipped_index(lines):
    """One replica that left one entry out."""
    place = next(at for at in range(len(lines) // 2, len(lines) - 1)
                 if "applied" in lines[at] and "applied" in lines[at + 1])
    return [*lines[:place], *lines[place + 1:]]


# ---- Coordination ----------------------------------------------------------------------------------------------------

def is_done(name):
    return lambda one: one["what"].startswith(name) and one["result"] == "ok"


def lost_checkpoint(lines):
    """A reader that sees a cursor of before an acknowledged checkpoint."""
    _, one, later, other = followed(lines, is_done("checkpoint"), lambda _, other: other["what"] == "shard")
    fence, cursor, phase = other["result"].split("/")
    less = int(one["what"].split()[2]) - 1
    if int(cursor) <= less:
        raise AssertionError("a true history lost a checkpoint")
    return changed(lines, later, f"-> {other['result']}", f"-> {fence}/{less}/{phase}")


def fence_twice(lines):
    """Two grants of one fence."""
    _, one, later, other = followed(lines, lambda one: one["what"] == "acquire",
                                    lambda _, other: other["what"] == "acquire")
    return changed(lines, later, f"-> {other['result']}", f"-> {one['result']}")


def stale_holder(lines):
    """Whoever held the shard before checkpoints it still."""
    _, one, later, other = followed(lines, lambda one: one["what"] == "acquire",
                                    lambda one, other: is_done("checkpoint")(other)
                                    and other["what"].split()[1] != one["result"])
    _, fence, cursor = other["what"].split()
    return changed(lines, later, f"checkpoint {fence} {cursor}", f"checkpoint {one['result']} {cursor}")


def executed_again(lines):
    """A repeated request that was executed a second time."""
    for place, one in answered(lines):
        if one["what"] == "repeat":
            return changed(lines, place, f"-> {one['result']}", "-> executed")
    raise AssertionError("the history repeats nothing")


def lost_shard(lines):
    """A run that has one shard less than were made before anybody counted. (Those made meanwhile may be missing.)"""
    _, one, later, other = followed(lines, lambda one: one["what"].startswith("append"),
                                    lambda _, other: other["what"] == "length")
    made = sum(each["key"] == one["key"] and each["what"].startswith("append")
               and int(each["returned"]) < int(other["called"]) for _, each in answered(lines))
    return changed(lines, later, f"-> {other['result']}", f"-> {made - 1}")
