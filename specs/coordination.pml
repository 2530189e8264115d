/*
 * Leases, fences and splits of one run, small enough to visit every state. The same protocol in TLA+ is
 * coordination.tla; README.md says what is left out and which run has to find what.
 *
 * Three shards: a parent and the two children that replace it. Each call of the registry is one d_step, as it is one
 * transaction of a backend; a call that has to be refused changes nothing. Workers call with any lease that they
 * ever held, so a worker that slept through its lease, and lost the shard meanwhile, still tries everything.
 *
 * Time is the number of ticks that a lease has left: clock < deadline[s] is ticks_left[s] > 0. Nothing else depends
 * on the clock, so this visits what a clock without an end would visit.
 *
 * -DMUTATE_... breaks one rule, and the property named beside it has to fail. -DREACH_... asserts that an event never
 * happens, and that has to fail too: the properties speak about something. Spin prints the calls when it replays a way.
 */

#ifndef WORKERS
#define WORKERS 2
#endif
#ifndef EPOCH_MAX
#define EPOCH_MAX 3
#endif
#ifndef CURSOR_MAX
#define CURSOR_MAX 2
#endif
#ifndef LEASE_TICKS
#define LEASE_TICKS 2
#endif

#define SHARDS 3 /* 0 is the parent, 1 and 2 are its children. */
#define PARENT 0
#define CHILD_BITS 6 /* Shards 1 and 2, as bits of `spawned`. */
#define NOBODY 0     /* Workers are 1 .. WORKERS. */

mtype = {Absent, Active, Done, Split, Parked};

/* The records. A lease that ended stays in its record, as in the registry, until somebody acquires. */
mtype status[SHARDS] = {Active, Absent, Absent};
byte fence[SHARDS] = {1, 0, 0};
byte owner[SHARDS];
byte ticks_left[SHARDS]; /* of the lease; 0: it ended, or there is none */
byte cursor[SHARDS];     /* 0: initial, without a key */
byte spawned;            /* of the parent: bit s is shard s */

/* What a worker believes: the epoch of its newest lease of a shard, 0 if it never had one. */
byte epoch_cached[WORKERS * SHARDS];
#define epoch(w, s) epoch_cached[((w) - 1) * SHARDS + (s)]

/* Ghosts, written by what the registry answers and read by properties only: the grant that lives, and the cursor that
 * was acknowledged last. No mutation touches them. */
byte grantee[SHARDS];
byte granted_epoch[SHARDS];
byte acknowledged[SHARDS];

/* Scratch of one d_step: the state before it, counters, and verdicts. Not part of a state. */
hidden mtype status_before[SHARDS];
hidden byte fence_before[SHARDS];
hidden byte cursor_before[SHARDS];
hidden byte i, j, holders;
hidden byte mutual_exclusion, zombie_rejection, fence_monotonicity, terminal_irreversibility, split_atomicity,
    cursor_monotonicity, terminal_unleased, fence_epoch_sanity, event_never_happens;

#define created(s) (status[s] != Absent)
#define terminal(s) (status[s] == Done || status[s] == Split || status[s] == Parked)
#define holds(w, s) (epoch(w, s) == fence[s] && fence[s] > 1 && ticks_left[s] > 0)

/* Rules ------------------------------------------------------------------------------------------------------------ */

#ifdef MUTATE_ACQUIRE_NON_ACTIVE /* terminal_unleased */
#define acquirable(s) created(s)
#else
#define acquirable(s) (status[s] == Active)
#endif

#ifdef MUTATE_ACQUIRE_LIVE_LEASE /* mutual_exclusion */
#define lease_lives(s) false
#else
#define lease_lives(s) (owner[s] != NOBODY && ticks_left[s] > 0)
#endif

#ifdef MUTATE_FENCE_NOT_RAISED /* mutual_exclusion */
#define fence_raised(s) fence[s]
#else
#define fence_raised(s) (fence[s] + 1)
#endif

#define can_acquire(s) (acquirable(s) && !lease_lives(s) && fence_raised(s) <= EPOCH_MAX)

#ifdef MUTATE_FENCE_NOT_COMPARED /* zombie_rejection */
#define fence_matches(s, e) true
#else
#define fence_matches(s, e) ((e) == fence[s])
#endif

#ifdef MUTATE_DEADLINE_IGNORED /* zombie_rejection */
#define deadline_ahead(s) true
#else
#define deadline_ahead(s) (ticks_left[s] > 0)
#endif

/* Whether worker w's lease of epoch e opens shard s: terminal, fence, no lease, expired, owner. */
#define lease_valid(w, s, e) \
  (created(s) && !terminal(s) && fence_matches(s, e) && owner[s] != NOBODY && deadline_ahead(s) && owner[s] == (w))

#ifdef MUTATE_CURSOR_MAY_REGRESS /* cursor_monotonicity */
#define cursor_advances(s, c) true
#else
#define cursor_advances(s, c) ((c) >= cursor[s])
#endif

#ifdef MUTATE_UNPARK_DONE /* terminal_irreversibility */
#define unparkable(s) (status[s] == Parked || status[s] == Done)
#else
#define unparkable(s) (status[s] == Parked)
#endif

#ifdef MUTATE_UNPARK_RESETS_FENCE /* fence_monotonicity */
#define fence_unparked(s) 1
#elif defined(MUTATE_UNPARK_KEEPS_FENCE) /* terminal_irreversibility */
#define fence_unparked(s) fence[s]
#else
#define fence_unparked(s) (fence[s] + 1)
#endif

/* Effects ---------------------------------------------------------------------------------------------------------- */

inline end_grant(s) {
  grantee[s] = NOBODY;
  granted_epoch[s] = 0
}

inline clear_lease(s) {
  owner[s] = NOBODY;
  ticks_left[s] = 0;
  end_grant(s)
}

inline store_cursor(s, c) {
#ifndef MUTATE_CURSOR_NOT_STORED /* cursor_monotonicity */
  cursor[s] = c;
#endif
  acknowledged[s] = c
}

inline create_child(s) {
#ifndef MUTATE_CHILDREN_NOT_CREATED /* split_atomicity */
  status[s] = Active;
#ifndef MUTATE_CHILD_WITHOUT_EPOCH /* fence_epoch_sanity */
  fence[s] = 1;
#endif
#endif
  skip
}

/* Properties ------------------------------------------------------------------------------------------------------- */

inline remember() {
  for (i : 0 .. SHARDS - 1) {
    status_before[i] = status[i];
    fence_before[i] = fence[i];
    cursor_before[i] = cursor[i]
  }
  zombie_rejection = true;
  mutual_exclusion = true;
  event_never_happens = true
}

/* A grant never begins while another one lives. */
inline note_grant(w, s) {
  mutual_exclusion = mutual_exclusion && grantee[s] == NOBODY;
  grantee[s] = w;
  granted_epoch[s] = fence[s]
}

/* Only the newest grant opens a shard, and only while it lives. */
inline note_accepted(w, s, e) {
  zombie_rejection = zombie_rejection && grantee[s] == (w) && granted_epoch[s] == (e)
}

inline note_refused(w, s, e) {
  printf("  refused\n");
#ifdef REACH_ZOMBIE_REFUSED
  event_never_happens = event_never_happens && !((e) < fence[s] && owner[s] != (w) && lease_lives(s));
#endif
#ifdef REACH_OWN_OLD_LEASE_REFUSED
  event_never_happens = event_never_happens && !((e) < fence[s] && owner[s] == (w) && lease_lives(s));
#endif
  skip
}

inline note_state(s) {
#ifdef REACH_LEASE_HELD
  for (j : 1 .. WORKERS) { event_never_happens = event_never_happens && !holds(j, s) }
#endif
#ifdef REACH_CHILD_DONE
  event_never_happens = event_never_happens && !((s) != PARENT && status[s] == Done);
#endif
#ifdef REACH_UNPARKED
  event_never_happens = event_never_happens && !(status_before[s] == Parked && status[s] == Active);
#endif
  skip
}

inline check_shard(s) {
  holders = 0;
  for (j : 1 .. WORKERS) {
    if
    :: holds(j, s) -> holders++
    :: else
    fi;
    zombie_rejection = zombie_rejection && (!(owner[s] == j && ticks_left[s] > 0) || epoch(j, s) == fence[s])
  }
  mutual_exclusion = mutual_exclusion && holders <= 1;
  fence_monotonicity = fence_monotonicity && fence[s] >= fence_before[s];
  terminal_irreversibility = terminal_irreversibility && (status_before[s] != Done || status[s] == Done) &&
                             (status_before[s] != Split || status[s] == Split) &&
                             (status_before[s] != Parked || status[s] == Parked || fence[s] > fence_before[s]);
  cursor_monotonicity = cursor_monotonicity && cursor[s] >= cursor_before[s] && cursor[s] >= acknowledged[s];
  terminal_unleased = terminal_unleased && (!terminal(s) || owner[s] == NOBODY);
  fence_epoch_sanity = fence_epoch_sanity && (!created(s) || fence[s] >= 1);
  split_atomicity = split_atomicity && (status[s] != Split || spawned != 0) &&
                    (!(status[PARENT] == Split && (spawned & (1 << (s)))) || created(s)) &&
                    (s == PARENT || !created(s) || status[PARENT] == Split);
  note_state(s)
}

inline check() {
  fence_monotonicity = true;
  terminal_irreversibility = true;
  split_atomicity = true;
  cursor_monotonicity = true;
  terminal_unleased = true;
  fence_epoch_sanity = true;
  for (i : 0 .. SHARDS - 1) { check_shard(i) }
  assert(mutual_exclusion);
  assert(zombie_rejection);
  assert(fence_monotonicity);
  assert(terminal_irreversibility);
  assert(split_atomicity);
  assert(cursor_monotonicity);
  assert(terminal_unleased);
  assert(fence_epoch_sanity);
  assert(event_never_happens)
}

/* Calls ------------------------------------------------------------------------------------------------------------ */

/* The caller has seen can_acquire(s) in the same atomic step. */
inline acquire(w, s) {
  d_step {
    remember();
    printf("acquire shard %d worker %d\n", s, w);
    fence[s] = fence_raised(s);
    owner[s] = w;
    ticks_left[s] = LEASE_TICKS;
#ifndef MUTATE_EPOCH_NOT_CACHED /* zombie_rejection */
    epoch(w, s) = fence[s];
#endif
    note_grant(w, s);
    check()
  }
}

inline renew(w, s, e) {
  d_step {
    remember();
    printf("renew shard %d worker %d epoch %d\n", s, w, e);
    if
    :: lease_valid(w, s, e) ->
      note_accepted(w, s, e);
#ifdef REACH_LEASE_EXTENDED
      event_never_happens = event_never_happens && ticks_left[s] == LEASE_TICKS;
#endif
      ticks_left[s] = LEASE_TICKS
    :: else -> note_refused(w, s, e)
    fi;
    check()
  }
}

inline release(w, s, e) {
  d_step {
    remember();
    printf("release shard %d worker %d epoch %d\n", s, w, e);
    if
    :: lease_valid(w, s, e) ->
      note_accepted(w, s, e);
#ifdef REACH_RELEASED
      event_never_happens = false;
#endif
      clear_lease(s)
    :: else -> note_refused(w, s, e)
    fi;
    check()
  }
}

inline checkpoint(w, s, e, c) {
  d_step {
    remember();
    printf("checkpoint shard %d worker %d epoch %d cursor %d\n", s, w, e, c);
    if
    :: lease_valid(w, s, e) && cursor_advances(s, c) ->
      note_accepted(w, s, e);
      store_cursor(s, c)
    :: else -> note_refused(w, s, e)
    fi;
    check()
  }
}

inline complete(w, s, e, c) {
  d_step {
    remember();
    printf("complete shard %d worker %d epoch %d cursor %d\n", s, w, e, c);
    if
    :: lease_valid(w, s, e) && cursor_advances(s, c) ->
      note_accepted(w, s, e);
      store_cursor(s, c);
      status[s] = Done;
#ifdef MUTATE_COMPLETE_KEEPS_OWNER /* terminal_unleased */
      end_grant(s)
#else
      clear_lease(s)
#endif
    :: else -> note_refused(w, s, e)
    fi;
    check()
  }
}

inline park(w, s, e) {
  d_step {
    remember();
    printf("park shard %d worker %d epoch %d\n", s, w, e);
    if
    :: lease_valid(w, s, e) ->
      note_accepted(w, s, e);
      status[s] = Parked;
      clear_lease(s)
    :: else -> note_refused(w, s, e)
    fi;
    check()
  }
}

inline split_replace(w, s, e) {
  d_step {
    remember();
    printf("split_replace shard %d worker %d epoch %d\n", s, w, e);
    if
    :: s == PARENT && lease_valid(w, s, e) ->
      note_accepted(w, s, e);
      spawned = CHILD_BITS;
      create_child(1);
      create_child(2);
#ifndef MUTATE_SPLIT_PARENT_STAYS /* split_atomicity */
      status[s] = Split;
#endif
      clear_lease(s)
    :: else -> note_refused(w, s, e)
    fi;
    check()
  }
}

inline unpark(s) {
  d_step {
    remember();
    printf("unpark shard %d\n", s);
    if
    :: unparkable(s) && fence_unparked(s) <= EPOCH_MAX ->
      fence[s] = fence_unparked(s);
      status[s] = Active
    :: else
    fi;
    check()
  }
}

inline tick() {
  d_step {
    remember();
    printf("tick\n");
    for (i : 0 .. SHARDS - 1) {
      if
      :: ticks_left[i] > 1 -> ticks_left[i]--
      :: ticks_left[i] == 1 ->
        ticks_left[i] = 0;
        end_grant(i)
      :: else
      fi
    }
    check()
  }
}

/* The world -------------------------------------------------------------------------------------------------------- */

inline choose(x, least, most) {
  x = least;
  do
  :: x < most -> x++
  :: break
  od
}

/* Acquiring is a process of its own, so that it alone can be given fairness. */
active proctype acquires() {
  byte w; /* Zero between calls, here and below, so that it is no part of the state. */

  do
  :: atomic { can_acquire(0) -> choose(w, 1, WORKERS); acquire(w, 0); w = 0 }
  :: atomic { can_acquire(1) -> choose(w, 1, WORKERS); acquire(w, 1); w = 0 }
  :: atomic { can_acquire(2) -> choose(w, 1, WORKERS); acquire(w, 2); w = 0 }
  od
}

active proctype calls() {
  byte w, s, e, c;

  do
#ifndef LIVENESS
  :: tick()
#endif
  :: atomic { choose(s, 0, SHARDS - 1); unpark(s); s = 0 }
  :: atomic {
      choose(w, 1, WORKERS);
      choose(s, 0, SHARDS - 1);
      if
      :: epoch(w, s) > 0 ->
        choose(e, 1, epoch(w, s)); /* The newest lease, or one from before. */
        if
        :: renew(w, s, e)
        :: choose(c, 1, CURSOR_MAX); checkpoint(w, s, e, c)
        :: choose(c, 1, CURSOR_MAX); complete(w, s, e, c)
        :: park(w, s, e)
        :: split_replace(w, s, e)
        :: release(w, s, e)
        fi
      :: else
      fi;
      d_step { w = 0; s = 0; e = 0; c = 0 }
    }
  od
}

#ifdef LIVENESS
/* A shard that is free, with room for one more epoch, is leased at last. */
#define free(s) (status[s] == Active && owner[s] == NOBODY && fence[s] < EPOCH_MAX)
#define leased(s) (owner[s] != NOBODY)
ltl free_shards_are_leased {
  [] (free(0) -> <> leased(0)) && [] (free(1) -> <> leased(1)) && [] (free(2) -> <> leased(2))
}
#endif
