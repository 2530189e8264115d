//! raft-rs's storage, answered from memory (L-37 to L-40).
//!
//! Held: the truncated position, the terms of the whole log as runs, the newest entries. Not held: older entries.
//! For a peer they are asked for through a want and arrive later; every other reader waits for `Disk::read`.
//!
//! Invariants
//!   1. The log is (truncated, last]; `runs` covers it without a gap, terms rising.
//!   2. The cache is a suffix of the log and holds everything above the applied index.
//!   3. A peer has at most one fetch under way.

use crate::abi::{Want, WANT_ENTRIES, WANT_SNAPSHOT};
use protobuf::Message as _;
use raft::eraftpb::{ConfState, Entry, HardState, Snapshot};
use raft::{Error, GetEntriesContext, RaftState, Storage, StorageError};
use std::cell::RefCell;
use std::collections::{BTreeMap, BTreeSet, VecDeque};

/// Bytes of one synchronous read.
pub const READ_BYTES_MAX: u64 = 1 << 20;
/// Fetches in a row that brought nothing of use, after which a peer's entries are read synchronously (L-39).
pub const MISSES_MAX: u32 = 3;
/// What an entry costs beyond its bytes, for `cache_bytes`.
const ENTRY_OVERHEAD_BYTES: u64 = 96;

/// Where entries below the cache come from.
pub trait Disk {
    /// A non-empty prefix of [low, high) of about `bytes_max`. The error is the cad_result of the read.
    fn read(&self, low: u64, high: u64, bytes_max: u64) -> Result<Vec<Entry>, u32>;
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Position {
    pub index: u64,
    pub term: u64,
}

enum Fetch {
    None,
    Asked { token: u64, low: u64, context: GetEntriesContext },
    Here(VecDeque<Entry>),
}

struct Peer {
    misses: u32,
    fetch: Fetch,
}

/// What was asked for and has not been used, and the snapshot on offer.
#[derive(Default)]
struct Requests {
    wants: VecDeque<Want>,
    token: u64,
    peers: BTreeMap<u64, Peer>,
    snapshot: Option<Snapshot>,
    snapshot_given: BTreeSet<u64>,
    snapshot_wanted: BTreeSet<u64>,
}

pub struct Store {
    disk: Box<dyn Disk>,
    start: RaftState,
    truncated: Position,
    runs: Vec<Position>, // each: the first index of a term
    cache: VecDeque<Entry>,
    cache_bytes: u64,
    last: u64,
    requests: RefCell<Requests>,
}

fn entry_bytes(entry: &Entry) -> u64 {
    (entry.get_data().len() + entry.get_context().len()) as u64 + ENTRY_OVERHEAD_BYTES
}

/// The peer that `context` is for. raft-rs keeps it private but prints it.
pub fn peer_of(context: &GetEntriesContext) -> Option<u64> {
    let text = format!("{:?}", context);
    let digits = text.split_once("SendAppend { to: ")?.1.split_once(',')?.0;
    digits.parse().ok()
}

fn unavailable<T>() -> raft::Result<T> {
    Err(Error::Store(StorageError::LogTemporarilyUnavailable))
}

/// As many entries as `bytes_max` admits, at least one.
fn limited<'a>(entries: impl Iterator<Item = &'a Entry>, bytes_max: Option<u64>) -> Vec<Entry> {
    let bytes_max = bytes_max.unwrap_or(raft::NO_LIMIT);
    let mut bytes = 0u64;
    let mut taken = Vec::new();
    for entry in entries {
        bytes = bytes.saturating_add(u64::from(entry.compute_size()));
        if !taken.is_empty() && bytes > bytes_max {
            break;
        }
        taken.push(entry.clone());
    }
    taken
}

impl Store {
    /// The image must have been checked: `runs` and `tail` describe one log above `truncated`.
    pub fn new(
        disk: Box<dyn Disk>,
        hard_state: HardState,
        conf_state: ConfState,
        truncated: Position,
        runs: Vec<Position>,
        tail: Vec<Entry>,
    ) -> Store {
        Store {
            disk,
            start: RaftState { hard_state, conf_state },
            truncated,
            runs,
            cache_bytes: tail.iter().map(entry_bytes).sum(),
            last: tail.last().map_or(truncated.index, |entry| entry.index),
            cache: tail.into(),
            requests: RefCell::default(),
        }
    }

    pub fn cache_bytes(&self) -> u64 {
        self.cache_bytes
    }

    /// The index of the oldest cached entry; one above the last if there is none.
    pub fn cache_first(&self) -> u64 {
        self.cache.front().map_or(self.last + 1, |entry| entry.index)
    }

    fn term_of(&self, index: u64) -> Option<u64> {
        if index == self.truncated.index {
            return Some(self.truncated.term);
        }
        if index < self.truncated.index || index > self.last {
            return None;
        }
        let above = self.runs.partition_point(|run| run.index <= index);
        above.checked_sub(1).map(|at| self.runs[at].term)
    }

    /// Enters the entries of an output; those it conflicts with go.
    pub fn append(&mut self, entries: &[Entry]) {
        let first = match entries.first() {
            Some(entry) => entry.index,
            None => return,
        };
        assert!(first > self.truncated.index && first <= self.last + 1, "an append leaves a gap");
        assert!(first >= self.cache_first() || first == self.last + 1, "an append reaches below the cache");
        while self.cache.back().map_or(false, |entry| entry.index >= first) {
            let dropped = self.cache.pop_back().expect("it has a back");
            self.cache_bytes -= entry_bytes(&dropped);
        }
        while self.runs.last().map_or(false, |run| run.index >= first) {
            self.runs.pop();
        }
        for entry in entries {
            if self.runs.last().map_or(true, |run| run.term != entry.term) {
                self.runs.push(Position { index: entry.index, term: entry.term });
            }
            self.cache_bytes += entry_bytes(entry);
            self.cache.push_back(entry.clone());
            self.last = entry.index;
        }
    }

    /// Puts a snapshot in place of the whole log.
    pub fn restore(&mut self, at: Position) {
        self.truncated = at;
        self.last = at.index;
        self.runs.clear();
        self.cache.clear();
        self.cache_bytes = 0;
    }

    /// Drops the log up to and including `at`.
    pub fn truncate(&mut self, at: Position) {
        if at.index <= self.truncated.index {
            return;
        }
        assert_eq!(self.term_of(at.index), Some(at.term), "truncation at a position the log does not have");
        let next_term = self.term_of(at.index + 1);
        self.runs.retain(|run| run.index > at.index);
        if let Some(term) = next_term {
            if self.runs.first().map_or(true, |run| run.index != at.index + 1) {
                self.runs.insert(0, Position { index: at.index + 1, term });
            }
        }
        self.truncated = at;
        self.drop_cached_below(at.index + 1);
    }

    /// Drops cached entries below `keep_from`, but none above `applied`.
    pub fn shrink_cache(&mut self, keep_from: u64, applied: u64) {
        self.drop_cached_below(keep_from.min(applied + 1));
    }

    fn drop_cached_below(&mut self, index: u64) {
        while self.cache.front().map_or(false, |entry| entry.index < index) {
            let dropped = self.cache.pop_front().expect("it has a front");
            self.cache_bytes -= entry_bytes(&dropped);
        }
    }

    /// The entries at hand in [low, high) from `low` on; `low` is in the cache.
    fn cached(&self, low: u64, high: u64) -> impl Iterator<Item = &Entry> {
        let start = (low - self.cache_first()) as usize;
        self.cache.range(start..).take((high - low) as usize)
    }

    fn check_read(&self, low: u64, entries: &[Entry]) {
        let fits = !entries.is_empty()
            && entries
                .iter()
                .zip(low..)
                .all(|(entry, index)| entry.index == index && self.term_of(index) == Some(entry.term));
        assert!(fits, "the log read at {} is not what was written", low);
    }

    fn read(&self, low: u64, high: u64, bytes_max: Option<u64>) -> Vec<Entry> {
        let end = high.min(self.cache_first());
        let mut entries: Vec<Entry> = Vec::new();
        let mut at = low;
        while at < end {
            let bytes = bytes_max.unwrap_or(READ_BYTES_MAX).min(READ_BYTES_MAX);
            let mut run = match self.disk.read(at, end, bytes) {
                Ok(run) => run,
                Err(result) => panic!("the log cannot be read at [{}, {}): result {}", at, end, result),
            };
            run.truncate((end - at) as usize);
            self.check_read(at, &run);
            at += run.len() as u64;
            entries.append(&mut run);
            if bytes_max.is_some() {
                return limited(entries.iter(), bytes_max);
            }
        }
        if at < high {
            entries.extend(self.cached(at, high).cloned());
        }
        entries
    }

    fn fetch(
        &self,
        (low, high): (u64, u64),
        bytes_max: Option<u64>,
        peer: u64,
        context: GetEntriesContext,
    ) -> raft::Result<Vec<Entry>> {
        let mut requests = self.requests.borrow_mut();
        let Requests { wants, token, peers, .. } = &mut *requests;
        let state = peers.entry(peer).or_insert(Peer { misses: 0, fetch: Fetch::None });
        if let Fetch::Here(run) = &mut state.fetch {
            while run.front().map_or(false, |entry| entry.index < low) {
                run.pop_front(); // The peer had it after all.
            }
        }
        match &mut state.fetch {
            Fetch::Asked { .. } => return unavailable(),
            Fetch::Here(run) if run.front().map_or(false, |entry| entry.index == low) => {
                let taken = limited(run.iter().take((high - low) as usize), bytes_max);
                run.drain(..taken.len());
                state.misses = 0;
                return Ok(taken);
            }
            Fetch::Here(_) | Fetch::None => {}
        }
        state.misses += 1;
        if state.misses > MISSES_MAX {
            state.misses = 0;
            state.fetch = Fetch::None;
            drop(requests);
            return Ok(self.read(low, high, bytes_max.or(Some(READ_BYTES_MAX))));
        }
        *token += 1;
        state.fetch = Fetch::Asked { token: *token, low, context };
        let end = high.min(self.cache_first());
        wants.push_back(Want { kind: WANT_ENTRIES, zero: 0, peer, low, high: end, token: *token });
        unavailable()
    }

    /// Takes in what was asked for under `token`. The context is for raft-rs, to try again.
    pub fn fetched(&mut self, token: u64, entries: &[Entry]) -> Option<GetEntriesContext> {
        let mut asked = None;
        for (peer, state) in self.requests.get_mut().peers.iter_mut() {
            if matches!(&state.fetch, Fetch::Asked { token: own, .. } if *own == token) {
                if let Fetch::Asked { low, context, .. } = std::mem::replace(&mut state.fetch, Fetch::None) {
                    asked = Some((low, context, *peer));
                }
            }
        }
        let (low, context, peer) = asked?;
        if entries.is_empty() {
            return None;
        }
        if low > self.truncated.index {
            // Else the log was cut meanwhile: the peer needs a snapshot.
            self.check_read(low, entries);
            let run = Fetch::Here(entries.to_vec().into());
            self.requests.get_mut().peers.entry(peer).and_modify(|state| state.fetch = run);
        }
        Some(context)
    }

    pub fn next_want(&mut self) -> Option<Want> {
        self.requests.get_mut().wants.pop_front()
    }

    /// Leadership is lost: nobody is sent anything.
    pub fn forget_requests(&mut self) {
        let requests = self.requests.get_mut();
        requests.wants.clear();
        requests.peers.clear();
        requests.snapshot = None;
        requests.snapshot_given.clear();
        requests.snapshot_wanted.clear();
    }

    /// Offers a snapshot: once for each peer (L-40).
    pub fn set_snapshot(&mut self, snapshot: Snapshot) {
        let requests = self.requests.get_mut();
        requests.snapshot = Some(snapshot);
        requests.snapshot_given.clear();
        requests.snapshot_wanted.clear();
    }

    /// Its files are gone: whoever needs one asks anew.
    pub fn withdraw_snapshot(&mut self) {
        let requests = self.requests.get_mut();
        requests.snapshot = None;
        requests.snapshot_given.clear();
    }
}

impl Storage for Store {
    fn initial_state(&self) -> raft::Result<RaftState> {
        Ok(self.start.clone())
    }

    fn entries(
        &self,
        low: u64,
        high: u64,
        max_size: impl Into<Option<u64>>,
        context: GetEntriesContext,
    ) -> raft::Result<Vec<Entry>> {
        assert!(high <= self.last + 1, "entries up to {} of a log that ends at {}", high, self.last);
        let bytes_max = max_size.into();
        if low <= self.truncated.index {
            return Err(Error::Store(StorageError::Compacted));
        }
        if low >= high {
            return Ok(Vec::new());
        }
        if low >= self.cache_first() {
            return Ok(limited(self.cached(low, high), bytes_max));
        }
        match peer_of(&context) {
            Some(peer) => self.fetch((low, high), bytes_max, peer, context),
            None => Ok(self.read(low, high, bytes_max)),
        }
    }

    fn term(&self, index: u64) -> raft::Result<u64> {
        self.term_of(index).ok_or(Error::Store(if index < self.truncated.index {
            StorageError::Compacted
        } else {
            StorageError::Unavailable
        }))
    }

    fn first_index(&self) -> raft::Result<u64> {
        Ok(self.truncated.index + 1)
    }

    fn last_index(&self) -> raft::Result<u64> {
        Ok(self.last)
    }

    fn snapshot(&self, request_index: u64, to: u64) -> raft::Result<Snapshot> {
        let mut requests = self.requests.borrow_mut();
        let low = request_index.max(self.truncated.index);
        if let Some(snapshot) = &requests.snapshot {
            if snapshot.get_metadata().index >= low && !requests.snapshot_given.contains(&to) {
                let given = snapshot.clone();
                requests.snapshot_given.insert(to);
                return Ok(given);
            }
        }
        if requests.snapshot_wanted.insert(to) {
            requests.token += 1;
            let token = requests.token;
            requests.wants.push_back(Want { kind: WANT_SNAPSHOT, zero: 0, peer: to, low, high: 0, token });
        }
        Err(Error::Store(StorageError::SnapshotTemporarilyUnavailable))
    }
}
