---------------------------- MODULE coordination ----------------------------
(***************************************************************************)
(* Leases, fences and splits of one run: a parent shard, the two children  *)
(* that replace it, workers, one clock. coordination.pml is the same       *)
(* protocol in Promela; README.md says what both leave out, and which of   *)
(* the two has been checked by a machine.                                  *)
(*                                                                         *)
(* Each action is one transaction of a backend. A call that is refused     *)
(* changes nothing and is no action. Workers call with any lease that they *)
(* ever held, so a worker that slept through its lease still tries.        *)
(***************************************************************************)
EXTENDS Naturals, TLC

CONSTANTS
    Workers,     \* a set of model values
    NoOwner,     \* a model value, no worker
    MaxEpoch,    \* bounds of the exploration, none of the protocol
    MaxCursor,
    MaxTime,
    LeaseTicks   \* how long a lease lives

ASSUME NoOwner \notin Workers
ASSUME MaxEpoch > 1 /\ MaxCursor > 0 /\ MaxTime > 0 /\ LeaseTicks > 0

Parent   == "parent"
Children == {"left", "right"}
Shards   == {Parent} \cup Children

Statuses == {"absent", "active", "done", "split", "parked"}
NoGrant  == [worker |-> NoOwner, epoch |-> 0]

VARIABLES
    clock,
    status,        \* of each shard; "absent" until it is created
    fence,         \* of each shard; 0 until it is created
    owner,         \* NoOwner, or whose lease the record holds, ended or not
    deadline,      \* of that lease; 0 without one
    cursor,        \* 0 is initial, without a key
    spawned,       \* the children that the parent's record names
    epoch,         \* a worker's belief: of its newest lease of a shard, 0 without one
    grant,         \* ghost: the newest grant, until an operation ends it
    acknowledged   \* ghost: the cursor that a worker was told is stored

record == <<status, fence, owner, deadline, cursor, spawned>>
ghosts == <<grant, acknowledged>>
vars   == <<clock, record, epoch, ghosts>>

Created(s)    == status[s] # "absent"
Terminal(s)   == status[s] \in {"done", "split", "parked"}
LeaseLives(s) == owner[s] # NoOwner /\ clock < deadline[s]
GrantLives(s) == grant[s] # NoGrant /\ clock < deadline[s]
Holds(w, s)   == epoch[w][s] = fence[s] /\ fence[s] > 1 /\ clock < deadline[s]

TypeOK ==
    /\ clock \in 0..MaxTime
    /\ status \in [Shards -> Statuses]
    /\ fence \in [Shards -> 0..MaxEpoch]
    /\ owner \in [Shards -> Workers \cup {NoOwner}]
    /\ deadline \in [Shards -> 0..(MaxTime + LeaseTicks)]
    /\ cursor \in [Shards -> 0..MaxCursor]
    /\ spawned \in SUBSET Children
    /\ epoch \in [Workers -> [Shards -> 0..MaxEpoch]]
    /\ grant \in [Shards -> [worker : Workers \cup {NoOwner}, epoch : 0..MaxEpoch]]
    /\ acknowledged \in [Shards -> 0..MaxCursor]

Init ==
    /\ clock = 0
    /\ status = [s \in Shards |-> IF s = Parent THEN "active" ELSE "absent"]
    /\ fence = [s \in Shards |-> IF s = Parent THEN 1 ELSE 0]
    /\ owner = [s \in Shards |-> NoOwner]
    /\ deadline = [s \in Shards |-> 0]
    /\ cursor = [s \in Shards |-> 0]
    /\ spawned = {}
    /\ epoch = [w \in Workers |-> [s \in Shards |-> 0]]
    /\ grant = [s \in Shards |-> NoGrant]
    /\ acknowledged = [s \in Shards |-> 0]

-----------------------------------------------------------------------------
(* Actions *)

Tick ==
    /\ clock < MaxTime
    /\ clock' = clock + 1
    /\ UNCHANGED <<record, epoch, ghosts>>

Acquire(w, s) ==
    /\ status[s] = "active"
    /\ ~LeaseLives(s)
    /\ fence[s] < MaxEpoch
    /\ fence' = [fence EXCEPT ![s] = @ + 1]
    /\ owner' = [owner EXCEPT ![s] = w]
    /\ deadline' = [deadline EXCEPT ![s] = clock + LeaseTicks]
    /\ epoch' = [epoch EXCEPT ![w][s] = fence[s] + 1]
    /\ grant' = [grant EXCEPT ![s] = [worker |-> w, epoch |-> fence[s] + 1]]
    /\ UNCHANGED <<clock, status, cursor, spawned, acknowledged>>

\* Whether worker w's lease of epoch e opens shard s: terminal, fence, no lease, expired, owner.
LeaseValid(w, s, e) ==
    /\ Created(s) /\ ~Terminal(s)
    /\ e = fence[s]
    /\ owner[s] # NoOwner
    /\ clock < deadline[s]
    /\ owner[s] = w

ClearLease(s) ==
    /\ owner' = [owner EXCEPT ![s] = NoOwner]
    /\ deadline' = [deadline EXCEPT ![s] = 0]
    /\ grant' = [grant EXCEPT ![s] = NoGrant]

StoreCursor(s, c) ==
    /\ c >= cursor[s]
    /\ cursor' = [cursor EXCEPT ![s] = c]
    /\ acknowledged' = [acknowledged EXCEPT ![s] = c]

Renew(w, s, e) ==
    /\ LeaseValid(w, s, e)
    /\ deadline' = [deadline EXCEPT ![s] = clock + LeaseTicks]
    /\ UNCHANGED <<clock, status, fence, owner, cursor, spawned, epoch, ghosts>>

Release(w, s, e) ==
    /\ LeaseValid(w, s, e)
    /\ ClearLease(s)
    /\ UNCHANGED <<clock, status, fence, cursor, spawned, epoch, acknowledged>>

Checkpoint(w, s, e, c) ==
    /\ LeaseValid(w, s, e)
    /\ StoreCursor(s, c)
    /\ UNCHANGED <<clock, status, fence, owner, deadline, spawned, epoch, grant>>

Complete(w, s, e, c) ==
    /\ LeaseValid(w, s, e)
    /\ StoreCursor(s, c)
    /\ status' = [status EXCEPT ![s] = "done"]
    /\ ClearLease(s)
    /\ UNCHANGED <<clock, fence, spawned, epoch>>

Park(w, s, e) ==
    /\ LeaseValid(w, s, e)
    /\ status' = [status EXCEPT ![s] = "parked"]
    /\ ClearLease(s)
    /\ UNCHANGED <<clock, fence, cursor, spawned, epoch, acknowledged>>

SplitReplace(w, e) ==
    /\ LeaseValid(w, Parent, e)
    /\ status' = [s \in Shards |-> IF s = Parent THEN "split" ELSE "active"]
    /\ fence' = [s \in Shards |-> IF s = Parent THEN fence[s] ELSE 1]
    /\ spawned' = Children
    /\ ClearLease(Parent)
    /\ UNCHANGED <<clock, cursor, epoch, acknowledged>>

\* Administrative: needs no lease.
Unpark(s) ==
    /\ status[s] = "parked"
    /\ fence[s] < MaxEpoch
    /\ fence' = [fence EXCEPT ![s] = @ + 1]
    /\ status' = [status EXCEPT ![s] = "active"]
    /\ UNCHANGED <<clock, owner, deadline, cursor, spawned, epoch, ghosts>>

\* Worker w calls with the lease of epoch e, and the call is accepted.
Accepted(w, s, e) ==
    \/ Renew(w, s, e)
    \/ Release(w, s, e)
    \/ Park(w, s, e)
    \/ s = Parent /\ SplitReplace(w, e)
    \/ \E c \in 1..MaxCursor : Checkpoint(w, s, e, c) \/ Complete(w, s, e, c)

SomeAcquire == \E w \in Workers, s \in Shards : Acquire(w, s)

Calls ==
    \/ SomeAcquire
    \/ \E w \in Workers, s \in Shards : \E e \in 1..epoch[w][s] : Accepted(w, s, e)
    \/ \E s \in Shards : Unpark(s)

Next == Tick \/ Calls

Spec == Init /\ [][Next]_vars

\* Without Tick no lease ends by itself; only acquiring has to happen at last.
FairSpec == Init /\ [][Calls]_vars /\ WF_vars(SomeAcquire)

WorkerSymmetry == Permutations(Workers)

-----------------------------------------------------------------------------
(* Safety: invariants *)

MutualExclusion ==
    \A s \in Shards : \A v, w \in Workers : v # w => ~(Holds(v, s) /\ Holds(w, s))

ZombieRejection ==
    \A s \in Shards : \A w \in Workers :
        owner[s] = w /\ clock < deadline[s] => epoch[w][s] = fence[s]

SplitAtomicity ==
    /\ \A s \in Shards : status[s] = "split" => spawned # {} /\ \A child \in spawned : Created(child)
    /\ \A child \in Children : Created(child) => status[Parent] = "split"

AcknowledgedCursors == \A s \in Shards : cursor[s] >= acknowledged[s]

TerminalUnleased == \A s \in Shards : Terminal(s) => owner[s] = NoOwner

FenceEpochSanity == \A s \in Shards : Created(s) => fence[s] >= 1

(* Safety: steps *)

\* MutualExclusion as the answers tell it: a grant never begins while another one lives.
GrantsNeverOverlap ==
    [][\A w \in Workers, s \in Shards : Acquire(w, s) => ~GrantLives(s)]_vars

\* ZombieRejection as the answers tell it: only the newest grant opens a shard, and only while it lives.
OnlyNewestGrantActs ==
    [][\A w \in Workers, s \in Shards : \A e \in 1..MaxEpoch :
         Accepted(w, s, e) => GrantLives(s) /\ grant[s] = [worker |-> w, epoch |-> e]]_vars

FenceMonotonicity == [][\A s \in Shards : fence'[s] >= fence[s]]_vars

TerminalIrreversibility ==
    [][\A s \in Shards :
         /\ status[s] = "done" => status'[s] = "done"
         /\ status[s] = "split" => status'[s] = "split"
         /\ status[s] = "parked" /\ status'[s] # "parked" => fence'[s] > fence[s]]_vars

CursorMonotonicity == [][\A s \in Shards : cursor'[s] >= cursor[s]]_vars

(* Liveness, of FairSpec *)

FreeShardsAreLeased ==
    \A s \in Shards :
        (status[s] = "active" /\ owner[s] = NoOwner /\ fence[s] < MaxEpoch) ~> (owner[s] # NoOwner)

=============================================================================
