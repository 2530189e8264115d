"""What is done to a cluster, and when: a plan that follows from its seed alone, and who carries it out.

A plan names targets such as "the leader", which are looked up when it is their turn. Faults come one after the other,
each with a time to last and a pause behind it; two at once are a fault of their own.
"""

import dataclasses
import random
import threading
import time

PAUSE_SECONDS = (0.1, 10.0)  # log.md 14.4
FULL_SECONDS_MAX = 5  # For a node to notice.
TRANSFERS, BETWEEN_TRANSFERS_S = 6, 0.1


@dataclasses.dataclass(frozen=True)
class Fault:
    kind: str
    target: str  # leader, follower, other: one who is neither, starved; resolved when it is its turn
    lasts_s: float
    rest_s: float
    second: "Fault" = None  # at the same time

    def __str__(self):
        text = f"{self.kind} {self.target} {self.lasts_s:.2f} s"
        return f"{text} with {self.second}" if self.second else text


# How often each is chosen.
KINDS = {
    "kill": 5,             # SIGKILL; started again at the end
    "pause": 4,            # SIGSTOP, SIGCONT
    "isolate": 3,          # neither hears nor is heard
    "deaf": 2,             # is heard and hears nobody
    "mute": 2,             # hears and is not heard
    "one_way": 2,          # does not reach one other
    "slow": 2,             # no sync of its disk returns for most of the time
    "transfer": 2,         # it hands its leadership over, and gets it back, in turn
    "full": 1,             # no room on its disk
    "kill_all": 1,         # all of them at once
    "both": 3,             # two of the others
}
SIMPLE = [kind for kind in KINDS if kind not in ("full", "kill_all", "both")]


def _fault(dice, kind, longest_s):
    target = dice.choice(["leader", "leader", "leader", "follower", "other"])
    lasts = dice.uniform(0.2, min(4.0, longest_s))
    if kind == "pause":
        low, high = PAUSE_SECONDS
        lasts = min(longest_s, low * (high / low) ** dice.random())
    if kind == "full":
        target = "starved"
    return Fault(kind, target, lasts, dice.uniform(0.3, 2.5))


def plan(seed, count, longest_s=PAUSE_SECONDS[1]):
    """The first `count` faults of a seed. Every kind is among the first len(KINDS)."""
    dice = random.Random(seed)
    first = list(KINDS)
    dice.shuffle(first)
    faults = []
    for number in range(count):
        kind = first[number] if number < len(first) else dice.choices(list(KINDS), list(KINDS.values()))[0]
        if kind == "both":
            one, two = (_fault(dice, each, longest_s) for each in dice.sample(SIMPLE, 2))
            faults.append(dataclasses.replace(one, second=dataclasses.replace(two, rest_s=0)))
        else:
            faults.append(_fault(dice, kind, longest_s))
    return faults


class Nemesis(threading.Thread):
    """Carries out faults until there are no more or it is told to stop; ends each of them before the next."""

    def __init__(self, cluster, faults):
        super().__init__(daemon=True)
        self.cluster, self.faults = cluster, faults
        self.stopped = threading.Event()
        self.done, self.trace, self.wrong = {}, [], None
        self.began = time.monotonic()

    def run(self):
        try:
            for fault in self.faults:
                if self.stopped.is_set():
                    break
                self._carry_out(fault)
                self.cluster.check_running()
                self.stopped.wait(fault.rest_s)
        except Exception as error:  # pylint: disable=broad-except  # The test says it.
            self.wrong = error

    def stop(self):
        self.stopped.set()
        self.join()
        self.cluster.restore()

    def _note(self, text):
        self.trace.append(f"{time.monotonic() - self.began:8.2f} s  {text}")

    def _carry_out(self, fault):
        ends = []
        taken = set()
        if fault.second is not None:
            self.done["both"] = self.done.get("both", 0) + 1
        for each in filter(None, (fault, fault.second)):
            target = self._resolve(each.target, taken)
            taken.add(target)
            self._note(f"{each.kind} node {target} ({each.target}) for {each.lasts_s:.2f} s")
            ends.append((time.monotonic() + each.lasts_s, each.kind, target))
            getattr(self, f"_begin_{each.kind}")(target)
            self.done[each.kind] = self.done.get(each.kind, 0) + 1
        for when, kind, target in sorted(ends):
            self.stopped.wait(max(0, when - time.monotonic()))
            getattr(self, f"_end_{kind}")(target)
            self._note(f"over: {kind} node {target}")

    def _resolve(self, target, taken):
        if target == "starved":
            return self.cluster.starved
        leader = self.cluster.leader() or 1
        others = [each for each in self.cluster.ids if each != leader]
        order = {"leader": [leader, *others], "follower": [*others, leader], "other": [*reversed(others), leader]}[target]
        return next(each for each in order if each not in taken)

    # ---- Each kind ---------------------------------------------------------------------------------------------------

    def _others(self, target):
        return [each for each in self.cluster.ids if each != target]

    def _begin_kill(self, target):
        self.cluster.nodes[target].kill()

    def _end_kill(self, target):
        self.cluster.start(target)

    def _begin_kill_all(self, _):
        for node in self.cluster.nodes.values():
            node.kill()

    def _end_kill_all(self, _):
        for each in self.cluster.ids:
            self.cluster.start(each)

    def _begin_pause(self, target):
        self.cluster.nodes[target].pause()

    def _end_pause(self, target):
        self.cluster.nodes[target].resume()

    def _begin_mute(self, target):
        for each in self._others(target):
            self.cluster.network.cut(target, each)

    def _end_mute(self, target):
        for each in self._others(target):
            self.cluster.network.mend(target, each)

    def _begin_deaf(self, target):
        for each in self._others(target):
            self.cluster.network.cut(each, target)

    def _end_deaf(self, target):
        for each in self._others(target):
            self.cluster.network.mend(each, target)

    def _begin_isolate(self, target):
        self._begin_mute(target)
        self._begin_deaf(target)

    def _end_isolate(self, target):
        self._end_mute(target)
        self._end_deaf(target)

    def _begin_one_way(self, target):
        self.cluster.network.cut(target, self._others(target)[0])

    def _end_one_way(self, target):
        self.cluster.network.mend(target, self._others(target)[0])

    def _begin_slow(self, target):
        self.cluster.nodes[target].disk.begin_stalls()

    def _end_slow(self, target):
        self.cluster.nodes[target].disk.end_stalls()

    def _begin_transfer(self, target):
        for number in range(TRANSFERS):
            if self.stopped.is_set():
                break
            self.cluster.transfer(target if number % 2 else self._others(target)[0])
            self.stopped.wait(BETWEEN_TRANSFERS_S)

    def _end_transfer(self, _):
        pass

    def _begin_full(self, target):
        self.cluster.starve()
        node = self.cluster.nodes[target]
        deadline = time.monotonic() + FULL_SECONDS_MAX
        while node.is_running() and time.monotonic() < deadline and not self.stopped.is_set():
            time.sleep(0.05)
        if not node.is_running():
            self.done["stopped_when_full"] = self.done.get("stopped_when_full", 0) + 1

    def _end_full(self, _):
        self.cluster.feed()
