//! The store against a model that keeps every entry, under random calls.

use super::{entry, Chance};
use crate::store::{peer_of, Disk, Position, Store};
use raft::eraftpb::{ConfState, Entry, HardState, Snapshot};
use raft::{Error, GetEntriesContext, Storage, StorageError};
use std::cell::RefCell;
use std::rc::Rc;

const SEQUENCES: u64 = 10_000;
const CALLS: u64 = 40;

struct Shared(Rc<RefCell<Vec<Entry>>>);

impl Disk for Shared {
    fn read(&self, low: u64, high: u64, bytes_max: u64) -> Result<Vec<Entry>, u32> {
        let mut bytes = 0;
        let mut run = Vec::new();
        for entry in self.0.borrow().iter().filter(|entry| entry.index >= low && entry.index < high) {
            if !run.is_empty() && bytes >= bytes_max {
                break;
            }
            bytes += entry.get_data().len() as u64;
            run.push(entry.clone());
        }
        Ok(run)
    }
}

struct Model {
    log: Rc<RefCell<Vec<Entry>>>,
    truncated: Position,
    applied: u64,
    term: u64,
}

impl Model {
    fn last(&self) -> u64 {
        self.log.borrow().last().map_or(self.truncated.index, |entry| entry.index)
    }

    fn term_of(&self, index: u64) -> Option<u64> {
        if index == self.truncated.index {
            return Some(self.truncated.term);
        }
        self.log.borrow().iter().find(|entry| entry.index == index).map(|entry| entry.term)
    }
}

fn open() -> (Store, Model) {
    let log = Rc::new(RefCell::new(Vec::new()));
    let truncated = Position { index: 5, term: 2 };
    let disk = Box::new(Shared(log.clone()));
    let store = Store::new(disk, HardState::default(), ConfState::default(), truncated, vec![], vec![]);
    (store, Model { log, truncated, applied: 5, term: 2 })
}

fn append(store: &mut Store, model: &mut Model, chance: &mut Chance) {
    let first = model.applied + 1 + chance.below(model.last() - model.applied + 1);
    model.term += chance.below(2);
    if first <= model.last() {
        model.term += 1; // A later leader replaces the suffix.
    }
    let entries: Vec<Entry> = (first..first + 1 + chance.below(4))
        .map(|index| entry(index, model.term, &vec![7; chance.below(30) as usize]))
        .collect();
    store.append(&entries);
    model.log.borrow_mut().retain(|entry| entry.index < first);
    model.log.borrow_mut().extend(entries);
}

fn change(store: &mut Store, model: &mut Model, chance: &mut Chance) {
    match chance.below(10) {
        0..=3 => append(store, model, chance),
        4 | 5 => model.applied += chance.below(model.last() - model.applied + 1),
        6 => {
            let index = model.truncated.index + chance.below(model.applied - model.truncated.index + 1);
            let term = model.term_of(index).expect("it is in the log");
            store.truncate(Position { index, term });
            model.truncated = Position { index, term };
            model.log.borrow_mut().retain(|entry| entry.index > index);
        }
        7 | 8 => store.shrink_cache(chance.below(model.last() + 2), model.applied),
        _ if chance.below(10) == 0 => {
            model.term += 1;
            model.truncated = Position { index: model.last() + 1 + chance.below(5), term: model.term };
            model.applied = model.truncated.index;
            model.log.borrow_mut().clear();
            store.restore(model.truncated);
        }
        _ => {}
    }
}

fn compare(store: &Store, model: &Model, chance: &mut Chance) {
    assert_eq!(store.first_index().unwrap(), model.truncated.index + 1);
    assert_eq!(store.last_index().unwrap(), model.last());
    assert!(store.cache_first() <= model.applied + 1 || model.applied == model.last());
    for index in model.truncated.index.saturating_sub(2)..model.last() + 3 {
        let want = model.term_of(index).ok_or(Error::Store(if index < model.truncated.index {
            StorageError::Compacted
        } else {
            StorageError::Unavailable
        }));
        assert_eq!(store.term(index), want, "index {}", index);
    }
    let low = model.truncated.index + 1 + chance.below(model.last() - model.truncated.index + 1);
    let high = low + chance.below(model.last() + 2 - low);
    let log = model.log.borrow();
    let all: Vec<Entry> = log.iter().filter(|entry| entry.index >= low && entry.index < high).cloned().collect();
    let whole = store.entries(low, high, None, GetEntriesContext::empty(false)).unwrap();
    assert_eq!(whole, all);
    let some = store.entries(low, high, Some(40), GetEntriesContext::empty(false)).unwrap();
    assert!(some.len() <= all.len() && some[..] == all[..some.len()] && some.is_empty() == all.is_empty());
    let below = store.entries(model.truncated.index, high, None, GetEntriesContext::empty(false));
    assert_eq!(below, Err(Error::Store(StorageError::Compacted)));
}

#[test]
fn random_calls_answer_as_the_model_does() {
    for seed in 0..SEQUENCES {
        let mut chance = Chance(seed);
        let (mut store, mut model) = open();
        for _ in 0..CALLS {
            change(&mut store, &mut model, &mut chance);
        }
        compare(&store, &model, &mut chance);
    }
}

#[test]
fn every_step_of_some_sequences_answers_as_the_model_does() {
    for seed in 0..SEQUENCES / 20 {
        let mut chance = Chance(seed);
        let (mut store, mut model) = open();
        for _ in 0..CALLS {
            change(&mut store, &mut model, &mut chance);
            compare(&store, &model, &mut chance);
        }
    }
}

#[test]
fn the_cache_counts_its_bytes_down_to_nothing() {
    let (mut store, _) = open();
    store.append(&[entry(6, 2, b"some"), entry(7, 2, b"more")]);
    let two = store.cache_bytes();
    store.append(&[entry(7, 3, b"other, longer")]);
    assert!(store.cache_bytes() > two);
    store.shrink_cache(u64::MAX, 7);
    assert_eq!(store.cache_bytes(), 0);
    assert_eq!(store.cache_first(), 8);
}

// L-38
#[test]
fn the_cache_keeps_what_is_not_applied() {
    let (mut store, _) = open();
    store.append(&[entry(6, 2, b"a"), entry(7, 2, b"b"), entry(8, 2, b"c")]);
    store.shrink_cache(u64::MAX, 6);
    assert_eq!(store.cache_first(), 7);
}

// L-40
#[test]
fn a_snapshot_is_given_once_to_each_peer_and_only_if_it_reaches() {
    let (mut store, _) = open();
    let unavailable = Error::Store(StorageError::SnapshotTemporarilyUnavailable);
    assert_eq!(store.snapshot(0, 2), Err(Error::Store(StorageError::SnapshotTemporarilyUnavailable)));
    assert_eq!(store.next_want().map(|want| (want.peer, want.low)), Some((2, 5)));
    let mut snapshot = Snapshot::default();
    snapshot.mut_metadata().index = 4;
    store.set_snapshot(snapshot.clone());
    assert_eq!(store.snapshot(0, 2), Err(unavailable));
    snapshot.mut_metadata().index = 9;
    store.set_snapshot(snapshot.clone());
    assert_eq!(store.snapshot(9, 2), Ok(snapshot.clone()));
    assert!(store.snapshot(0, 2).is_err());
    assert!(store.snapshot(10, 3).is_err());
    assert_eq!(store.snapshot(0, 3), Ok(snapshot));
    store.withdraw_snapshot();
    assert!(store.snapshot(0, 4).is_err());
}

// L-39: raft-rs does not say for whom entries are, but prints it; a context for nobody has no peer.
#[test]
fn only_a_context_of_a_peer_names_one() {
    assert_eq!(peer_of(&GetEntriesContext::empty(true)), None);
    assert_eq!(peer_of(&GetEntriesContext::empty(false)), None);
}
