"""Workers of the coordination service that go through any node, and record what they were told of shards and runs.

One operation of a history is one intent: a request with an op id is repeated, at other nodes too, until it is answered
or patience ends; a claim or an acquisition, which has none, is sent once. Two histories come of it:

  shards   what each shard's holders and readers saw (ShardModel in sim/checkers/shard_model.h)
  lists    how many shards each run has: one append for each that was made (LogModel)

A claim whose answer was lost may have taken any shard of its run: it is recorded as an acquisition of unknown outcome of
every one of them.
"""

import random
import threading
import time

import grpc

from server_process import Caller, detail

ATTEMPT_SECONDS_MAX = 2
PATIENCE_S = 8
SHARDS, SHARDS_MAX = 4, 12  # Of a run.
RUN_SECONDS = 6
LEASE_MS = 800
STEPS = 10**8  # Cursors of a root shard lie below.

# The server says that nothing was executed.
NOT_EXECUTED = {"no_leader", "overloaded", "stopping", "throttled"}
ENDS_A_HOLD = {"stale_fence": "stale", "shard_terminal": "terminal"}
ONLY_BY_TIME = {"lease_expired"}


class Refused(Exception):
    """By the rules: nothing was done."""

    def __init__(self, code):
        super().__init__(code)
        self.code = code


class NotDone(Exception):
    """Nobody took it: nothing was done."""


class Unknown(Exception):
    """It may have been done."""


class Nodes:
    """One caller's connections: one node until it does not answer, then the next."""

    def __init__(self, cluster, first):
        # Without the least one a channel whose first attempt was refused does not try again for 20 s.
        options = [("grpc.initial_reconnect_backoff_ms", 50), ("grpc.min_reconnect_backoff_ms", 300),
                   ("grpc.max_reconnect_backoff_ms", 300)]
        self.callers = [Caller(cluster.address(each), options=options, credentials=cluster.credentials) for each in cluster.ids]
        self.at = first
        self.retries = 0

    def once(self, method, fields):
        caller = self.callers[self.at % len(self.callers)]
        try:
            return caller.stub(method)(caller.request(method, **fields), timeout=ATTEMPT_SECONDS_MAX)
        except grpc.RpcError as error:
            self._tell(error)

    def _tell(self, error):
        if error.code() in (grpc.StatusCode.UNAVAILABLE, grpc.StatusCode.DEADLINE_EXCEEDED,
                            grpc.StatusCode.RESOURCE_EXHAUSTED):
            self.at += 1
        if any(key == "grpc-status-details-bin" for key, _ in error.trailing_metadata() or ()):
            code = detail(error).code
            if code in NOT_EXECUTED:
                raise NotDone(code) from error
            if error.code() not in (grpc.StatusCode.UNAVAILABLE, grpc.StatusCode.DEADLINE_EXCEEDED):
                raise Refused(code) from error
        raise Unknown(error.details()) from error

    def until_answered(self, method, fields):
        """For what may be repeated."""
        deadline = time.monotonic() + PATIENCE_S
        unsure = False
        while True:
            try:
                return self.once(method, fields)
            except Unknown:
                unsure = True
            except NotDone:
                pass
            except Refused:
                if unsure:  # An earlier attempt may have been executed.
                    raise Unknown("refused after a lost answer") from None
                raise
            self.retries += 1
            if time.monotonic() > deadline:
                raise Unknown("no answer") if unsure else NotDone("nobody took it")
            time.sleep(0.05)

    def close(self):
        for caller in self.callers:
            caller.close()


class Runs:
    """The run that is worked on now, and what is known of all of them. Safe from any thread."""

    def __init__(self):
        self.lock = threading.Lock()
        self.current, self.until, self.next = None, 0.0, 1
        self.keys = {}  # (run, shard) to key of the history
        self.lost_claims = []  # (called, client, run)
        self.beginning = False

    def key(self, run, shard):
        with self.lock:
            return self.keys.setdefault((run, shard), len(self.keys) + 1)

    def shards_of(self, run):
        with self.lock:
            return [shard for (of, shard) in self.keys if of == run]


class Worker(threading.Thread):
    def __init__(self, cluster, runs, histories, number, seed, stop):
        super().__init__(daemon=True)
        self.runs, self.number, self.stop = runs, number, stop
        self.shards, self.lists = histories
        self.dice = random.Random(f"{seed} {number}")
        self.nodes = Nodes(cluster, number)
        self.v1 = self.nodes.callers[0].v1
        self.ops = 0
        self.wrong = None

    def run(self):
        try:
            while not self.stop.is_set():
                run = self.find_run()
                if run is not None:
                    self.work(run)
        except Exception as error:  # pylint: disable=broad-except  # The test says it.
            self.wrong = error
        self.nodes.close()

    def op_id(self):
        self.ops += 1
        return self.number * 10**9 + self.ops

    # ---- Runs --------------------------------------------------------------------------------------------------------

    def find_run(self):
        runs = self.runs
        with runs.lock:
            if runs.current is not None and time.monotonic() < runs.until:
                return runs.current
            if runs.beginning:
                return runs.current
            runs.beginning = True
            run, runs.next = runs.next, runs.next + 1
        made = False
        try:
            made = self.make_run(run)
        finally:
            with runs.lock:
                runs.beginning = False
                if made:
                    runs.current, runs.until = run, time.monotonic() + RUN_SECONDS
        return run if made else None

    def make_run(self, run):
        config = self.v1.RunConfig(cursor_semantics=1, lease_duration=LEASE_MS)
        try:
            self.nodes.once("CreateRun", {"run": run, "config": config})
        except (NotDone, Unknown):
            return False  # Another number next time.
        parts = [self.v1.InitialShard(shard=slot + 1, spec=self.v1.Spec(start=b"%04d" % slot, end=b"%04d" % (slot + 1)))
                 for slot in range(SHARDS)]
        called = self.lists.now()
        try:
            self.nodes.until_answered("RegisterShards", {"run": run, "shards": parts, "op_id": self.op_id()})
        except NotDone:
            return False
        except Unknown:
            for _ in parts:
                self.lists.unknown(called, self.number, run, "append 1")
            return False
        for part in parts:
            self.lists.ok(called, self.number, run, "append 1", "ok")
            self.runs.key(run, part.shard)
        return True

    # ---- Shards ------------------------------------------------------------------------------------------------------

    def work(self, run):
        chance = self.dice.random()
        try:
            if chance < 0.15:
                return self.look(run)
            grant = self.acquire(run) if chance < 0.35 else self.claim(run)
        except NotDone:
            self.stop.wait(0.03)
            return None
        except Unknown:
            return None
        if grant is None:
            self.look(run)
            self.stop.wait(0.02)
            return None
        return self.hold(grant)

    def claim(self, run):
        called = self.shards.now()
        try:
            grant = self.nodes.once("Claim", {"run": run, "worker": self.number})
        except Refused as refused:
            if refused.code not in ("none_available", "run_terminal"):
                raise
            return None
        except Unknown:
            with self.runs.lock:
                self.runs.lost_claims.append((called, self.number, run))
            raise
        key = self.runs.key(run, grant.lease.shard)
        self.shards.ok(called, self.number, key, "acquire", grant.lease.fence)
        return grant

    def acquire(self, run):
        shard = self.dice.choice(self.runs.shards_of(run))
        key, called = self.runs.key(run, shard), self.shards.now()
        try:
            grant = self.nodes.once("Acquire", {"run": run, "shard": shard, "worker": self.number})
        except Refused as refused:
            if refused.code not in ("already_leased", "shard_terminal"):
                raise
            self.shards.failed(called, self.number, key, "acquire")
            return None
        except NotDone:
            self.shards.failed(called, self.number, key, "acquire")
            raise
        except Unknown:
            self.shards.unknown(called, self.number, key, "acquire")
            raise
        self.shards.ok(called, self.number, key, "acquire", grant.lease.fence)
        return grant

    def look(self, run):
        """Reads a shard and counts the run's."""
        self.read_shard(run, self.dice.choice(self.runs.shards_of(run)))
        called = self.lists.now()
        try:
            found = self.nodes.until_answered("ListShards", {"run": run}).shards
        except (NotDone, Unknown):
            return
        self.lists.ok(called, self.number, run, "length", len(found))

    def read_shard(self, run, shard):
        called = self.shards.now()
        try:
            found = self.nodes.until_answered("GetShard", {"run": run, "shard": shard})
        except (NotDone, Unknown):
            return False
        phase = {1: "active", 2: "done", 3: "split"}[found.status]
        cursor = int(found.cursor.last_key[4:]) if found.cursor.last_key else 0
        self.shards.ok(called, self.number, self.runs.key(run, shard), "shard", f"{found.fence}/{cursor}/{phase}")
        return True

    # ---- Holding a shard ---------------------------------------------------------------------------------------------

    def hold(self, grant):
        hold = Hold(self, grant)
        for _ in range(self.dice.randrange(2, 14)):
            if self.stop.is_set() or not hold.step():
                return
        hold.finish()


class Hold:
    """One worker's time with one shard. Each step: False if the shard is lost."""

    def __init__(self, worker, grant):
        self.worker, self.lease, self.spec = worker, grant.lease, grant.spec
        self.key = worker.runs.key(grant.lease.run, grant.lease.shard)
        self.slot = int(grant.spec.start[:4])
        low, high = self.spec.start[4:], self.spec.end[4:]
        self.cursor = int(grant.cursor.last_key[4:]) if grant.cursor.last_key else int(low or 0)
        self.end = int(high) if high else STEPS
        self.last = None  # the last acknowledged request

    def bytes_of(self, step):
        return b"%04d%08d" % (self.slot, step)

    def step(self):
        dice = self.worker.dice
        chance = dice.random()
        if chance < 0.10:
            return self.ask("Renew", "touch", {})
        if chance < 0.17:
            return self.worker.read_shard(self.lease.run, self.lease.shard)
        if chance < 0.22 and self.last is not None:
            return self.repeat()
        if chance < 0.26:
            return self.split_residual()
        if chance < 0.29:  # Long enough to lose the lease, and nobody says so.
            self.worker.stop.wait(dice.uniform(0.5, 1.6) * LEASE_MS / 1000)
            return True
        return self.move("Checkpoint", "checkpoint")

    def finish(self):
        chance = self.worker.dice.random()
        if chance < 0.25:
            self.move("Complete", "complete")
        elif chance < 0.32:
            self.split_replace()
        else:
            self.ask("Release", "release", {"op_id": self.worker.op_id()})

    def move(self, method, name):
        step = self.cursor + self.worker.dice.randrange(1, 50)
        if step >= self.end:
            return False
        self.cursor = step
        cursor = self.worker.v1.Cursor(last_key=self.bytes_of(step))
        return self.ask(method, name, {"cursor": cursor, "op_id": self.worker.op_id()}, step)

    def ask(self, method, name, fields, *more, on_ok=None, on_unknown=None):
        worker, called = self.worker, self.worker.shards.now()
        what = " ".join(map(str, (name, self.lease.fence, *more)))
        fields = {"lease": self.lease, **fields}
        try:
            answer = worker.nodes.until_answered(method, fields)
        except Unknown:
            worker.shards.unknown(called, worker.number, self.key, what)
            if on_unknown:
                on_unknown(called)
            return False
        except NotDone:
            worker.shards.failed(called, worker.number, self.key, what)
            return False
        except Refused as refused:
            if refused.code in ENDS_A_HOLD:
                worker.shards.ok(called, worker.number, self.key, what, ENDS_A_HOLD[refused.code])
            elif refused.code in ONLY_BY_TIME:
                worker.shards.failed(called, worker.number, self.key, what)
            else:
                raise
            return False
        worker.shards.ok(called, worker.number, self.key, what, "ok")
        if "op_id" in fields:
            self.last = (method, fields)
        if on_ok:
            on_ok(called, answer)
        return True

    def repeat(self):
        """What was acknowledged, once more: it must not be executed again. A shard remembers its last 16 requests: whoever
        lost it to busy holders may be refused as any old holder is."""
        worker, called = self.worker, self.worker.shards.now()
        method, fields = self.last
        try:
            answer = worker.nodes.until_answered(method, fields)
        except (Unknown, NotDone):
            return True
        except Refused as refused:
            if refused.code not in ENDS_A_HOLD and refused.code not in ONLY_BY_TIME:
                raise
            return False
        replayed = "replayed" if answer.outcome == worker.v1.OUTCOME_REPLAYED else "executed"
        worker.shards.ok(called, worker.number, self.key, "repeat", replayed)
        return True

    # ---- Splits ------------------------------------------------------------------------------------------------------

    def counted(self, many):
        """What to do when a split made, or may have made, so many shards."""
        worker, run = self.worker, self.lease.run

        def on_ok(called, answer):
            children = [answer.residual] if hasattr(answer, "residual") else answer.children
            for child in children:
                worker.lists.ok(called, worker.number, run, "append 1", "ok")
                worker.runs.key(run, child)

        def on_unknown(called):
            for _ in range(many):
                worker.lists.unknown(called, worker.number, run, "append 1")
        return {"on_ok": on_ok, "on_unknown": on_unknown}

    def middle(self):
        """Somewhere behind the cursor; nothing if there is no room, or the run has shards enough."""
        if self.end - self.cursor < 10_000 or len(self.worker.runs.shards_of(self.lease.run)) >= SHARDS_MAX:
            return None
        return self.cursor + (self.end - self.cursor) // 2

    def split_residual(self):
        middle = self.middle()
        if middle is None:
            return True
        spec = self.worker.v1.Spec
        fields = {"new_parent": spec(start=self.spec.start, end=self.bytes_of(middle)),
                  "residual": spec(start=self.bytes_of(middle), end=self.spec.end), "op_id": self.worker.op_id()}
        if not self.ask("SplitResidual", "touch", fields, **self.counted(1)):
            return False
        self.end = middle
        self.spec = fields["new_parent"]
        return True

    def split_replace(self):
        middle = self.middle()
        if middle is None:
            return
        v1 = self.worker.v1
        child = v1.SplitReplaceRequest.Child
        parts = [child(spec=v1.Spec(start=self.spec.start, end=self.bytes_of(middle))),
                 child(spec=v1.Spec(start=self.bytes_of(middle), end=self.spec.end))]
        self.ask("SplitReplace", "replace", {"children": parts, "op_id": self.worker.op_id()}, **self.counted(2))


def add_lost_claims(runs, shards):
    """Each may have taken any shard of its run."""
    for called, client, run in runs.lost_claims:
        for shard in runs.shards_of(run):
            shards.unknown(called, client, runs.key(run, shard), "acquire")


def read_everything(worker):
    """Each shard that is known, once: what was acknowledged must be there. The cluster answers again."""
    for run, shard in list(worker.runs.keys):
        if not worker.read_shard(run, shard):
            raise AssertionError(f"run {run}, shard {shard} cannot be read")
