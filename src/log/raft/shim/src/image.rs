//! What a node starts from: settings, and what its disk holds. raft-rs aborts on an image that contradicts itself;
//! here it is refused.

use crate::abi::{ConfigView, Refusal, BAD_CONFIG};
use crate::node::{Identity, Node};
use crate::store::{Disk, Position, Store};
use crate::wire;
use raft::eraftpb::{ConfState, Entry, HardState};
use raft::{Config, ReadOnlyOption};

/// More would let a timeout overflow.
const TICKS_MAX: u32 = 1 << 20;

pub struct Image {
    pub view: ConfigView, // its numbers; what it points to is below
    pub conf: ConfState,
    pub tail: Vec<Entry>,
    pub runs: Vec<Position>,
}

impl Image {
    fn truncated(&self) -> Position {
        Position { index: self.view.truncated_index, term: self.view.truncated_term }
    }

    fn settings_hold(&self) -> bool {
        let view = &self.view;
        view.id != 0
            && view.zero == 0
            && view.election_tick <= TICKS_MAX
            && view.pre_vote <= 1
            && view.check_quorum <= 1
            && view.max_committed_size_per_ready > 0
    }

    /// The runs start right above the truncated position, and their terms rise.
    fn runs_hold(&self, last: u64) -> bool {
        let truncated = self.truncated();
        if (truncated.index == 0) != (truncated.term == 0) || self.runs.is_empty() != (last == truncated.index) {
            return false;
        }
        let starts = self.runs.first().map_or(true, |run| Some(run.index) == truncated.index.checked_add(1));
        let rises = self.runs.windows(2).all(|pair| pair[0].index < pair[1].index && pair[0].term < pair[1].term);
        let follows = self.runs.first().map_or(true, |run| run.term >= truncated.term && run.term > 0);
        let ends = self.runs.last().map_or(true, |run| run.index <= last);
        starts && rises && follows && ends
    }

    /// The tail is a suffix of the log that the runs describe and reaches down to `applied`.
    fn tail_holds(&self, last: u64) -> bool {
        let first = match self.tail.first() {
            Some(entry) => entry.index,
            None => return last == self.view.truncated_index,
        };
        let term_of = |index: u64| {
            let above = self.runs.partition_point(|run| run.index <= index);
            above.checked_sub(1).map(|at| self.runs[at].term)
        };
        first > self.view.truncated_index
            && first <= self.view.applied + 1
            && self
                .tail
                .iter()
                .zip(first..)
                .all(|(entry, index)| entry.index == index && term_of(index) == Some(entry.term))
    }

    fn holds(&self) -> bool {
        let view = &self.view;
        let last = self.tail.last().map_or(view.truncated_index, |entry| entry.index);
        let last_term = self.runs.last().map_or(view.truncated_term, |run| run.term);
        self.settings_hold()
            && last < u64::MAX
            && view.truncated_index <= view.applied
            && view.applied <= view.hard_state.commit
            && view.hard_state.commit <= last
            && view.conf_index <= view.hard_state.commit
            && last_term <= view.hard_state.term
            && wire::is_conf_state(&self.conf)
            && self.runs_hold(last)
            && self.tail_holds(last)
    }

    fn config(&self) -> Config {
        let view = &self.view;
        Config {
            id: view.id,
            election_tick: view.election_tick as usize,
            heartbeat_tick: view.heartbeat_tick as usize,
            applied: view.applied,
            max_size_per_msg: view.max_size_per_msg,
            max_inflight_msgs: view.max_inflight_msgs as usize,
            check_quorum: view.check_quorum != 0,
            pre_vote: view.pre_vote != 0,
            read_only_option: ReadOnlyOption::Safe,
            skip_bcast_commit: true,
            batch_append: false,
            max_uncommitted_size: view.max_uncommitted_size,
            max_committed_size_per_ready: view.max_committed_size_per_ready,
            ..Config::default()
        }
    }

    pub fn open(self, disk: Box<dyn Disk>, logger: &slog::Logger) -> Result<Node, Refusal> {
        let config = self.config();
        if !self.holds() || config.validate().is_err() {
            return Err(Refusal(BAD_CONFIG));
        }
        let view = &self.view;
        let mut hard_state = HardState::default();
        hard_state.term = view.hard_state.term;
        hard_state.vote = view.hard_state.vote;
        hard_state.commit = view.hard_state.commit;
        let identity = Identity { group: view.group, id: view.id, seed: view.seed, conf_index: view.conf_index };
        let truncated = self.truncated();
        let store = Store::new(disk, hard_state, self.conf, truncated, self.runs, self.tail);
        Node::new(&config, identity, store, logger)
    }
}
