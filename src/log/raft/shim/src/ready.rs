//! Handles: what the other side owns and frees, on any thread. Each keeps its data and the views of them.
//!
//! Views point into reference-counted bytes and boxed vectors, none of which move while the handle lives.

use crate::abi::*;
use protobuf::Message as _;
use raft::eraftpb::{ConfState, Entry, Message, Snapshot};
use raft::{ReadState, SoftState, StateRole};

/// An immutable run of entries.
pub struct Entries {
    entries: Vec<Entry>,
    views: Vec<EntryView>,
}

impl Entries {
    pub fn new(entries: Vec<Entry>) -> Entries {
        let views = entries
            .iter()
            .map(|entry| EntryView {
                index: entry.index,
                term: entry.term,
                kind: entry.get_entry_type() as u32,
                zero: 0,
                data: Slice::of(entry.get_data()),
                context: Slice::of(entry.get_context()),
            })
            .collect();
        Entries { entries, views }
    }

    pub fn entries(&self) -> &[Entry] {
        &self.entries
    }

    pub fn into_entries(self) -> Vec<Entry> {
        self.entries
    }

    pub fn views(&self) -> &[EntryView] {
        &self.views
    }
}

/// The lists of a configuration, ascending.
#[derive(Default, PartialEq, Eq)]
pub struct ConfLists {
    lists: [Vec<u64>; 4],
    auto_leave: bool,
}

impl ConfLists {
    pub fn new(conf: &ConfState) -> ConfLists {
        let sorted = |ids: &[u64]| {
            let mut ids = ids.to_vec();
            ids.sort_unstable();
            ids
        };
        ConfLists {
            lists: [
                sorted(conf.get_voters()),
                sorted(conf.get_learners()),
                sorted(conf.get_voters_outgoing()),
                sorted(conf.get_learners_next()),
            ],
            auto_leave: conf.auto_leave,
        }
    }

    pub fn view(&self) -> ConfStateView {
        let [voters, learners, outgoing, next] = &self.lists;
        ConfStateView {
            voters: Ids::of(voters),
            learners: Ids::of(learners),
            voters_outgoing: Ids::of(outgoing),
            learners_next: Ids::of(next),
            auto_leave: self.auto_leave as u32,
            zero: 0,
        }
    }
}

struct OwnedSnapshot {
    _lists: ConfLists,
    _snapshot: Snapshot,
    view: SnapshotView,
}

impl OwnedSnapshot {
    fn new(snapshot: Snapshot) -> OwnedSnapshot {
        let metadata = snapshot.get_metadata();
        let lists = ConfLists::new(metadata.get_conf_state());
        let view = SnapshotView {
            index: metadata.index,
            term: metadata.term,
            conf: lists.view(),
            data: Slice::of(snapshot.get_data()),
        };
        OwnedSnapshot { _lists: lists, _snapshot: snapshot, view }
    }
}

struct Messages {
    _bytes: Vec<Vec<u8>>,
    views: Vec<MessageView>,
}

impl Messages {
    fn new(messages: &[Message]) -> Messages {
        let bytes: Vec<Vec<u8>> = messages
            .iter()
            .map(|message| message.write_to_bytes().expect("messages of raft-rs can be encoded"))
            .collect();
        let views = messages
            .iter()
            .zip(&bytes)
            .map(|(message, bytes)| MessageView {
                to: message.to,
                kind: message.get_msg_type() as u32,
                zero: 0,
                index: message.index,
                bytes: Slice::of(bytes),
            })
            .collect();
        Messages { _bytes: bytes, views }
    }
}

pub fn role(state: StateRole) -> u32 {
    match state {
        StateRole::Follower => ROLE_FOLLOWER,
        StateRole::PreCandidate => ROLE_PRE_CANDIDATE,
        StateRole::Candidate => ROLE_CANDIDATE,
        StateRole::Leader => ROLE_LEADER,
    }
}

/// One output.
pub struct Ready {
    pub number: u64,
    pub must_sync: bool,
    pub hard_state: Option<HardStateView>,
    pub soft_state: Option<SoftStateView>,
    snapshot: Option<OwnedSnapshot>,
    entries: Entries,
    messages: Messages,
    persisted_messages: Messages,
    _read_states: Vec<ReadState>,
    read_views: Vec<ReadStateView>,
    committed: Vec<Entry>,
}

impl Ready {
    /// Takes everything out of `ready` but what raft-rs needs to advance; `entries` were taken before.
    pub fn new(ready: &mut raft::Ready, entries: Vec<Entry>) -> Ready {
        let read_states = ready.take_read_states();
        let read_views = read_states
            .iter()
            .map(|state| ReadStateView { index: state.index, context: Slice::of(&state.request_ctx) })
            .collect();
        Ready {
            number: ready.number(),
            must_sync: ready.must_sync(),
            hard_state: ready.hs().map(|state| HardStateView {
                term: state.term,
                vote: state.vote,
                commit: state.commit,
            }),
            soft_state: ready.ss().map(|state: &SoftState| SoftStateView {
                leader: state.leader_id,
                role: role(state.raft_state),
                zero: 0,
            }),
            snapshot: Some(ready.snapshot())
                .filter(|snapshot| !snapshot.is_empty())
                .map(|snapshot| OwnedSnapshot::new(snapshot.clone())),
            entries: Entries::new(entries),
            messages: Messages::new(&ready.take_messages()),
            persisted_messages: Messages::new(&ready.take_persisted_messages()),
            _read_states: read_states,
            read_views,
            committed: ready.take_committed_entries(),
        }
    }

    /// An output with nothing to do.
    pub fn empty(number: u64) -> Ready {
        let mut ready = Ready::new(&mut raft::Ready::default(), Vec::new());
        ready.number = number;
        ready
    }

    pub fn has_snapshot(&self) -> bool {
        self.snapshot.is_some()
    }

    pub fn snapshot(&self) -> Option<&SnapshotView> {
        self.snapshot.as_ref().map(|snapshot| &snapshot.view)
    }

    pub fn entries(&self) -> &Entries {
        &self.entries
    }

    pub fn messages(&self) -> &[MessageView] {
        &self.messages.views
    }

    pub fn persisted_messages(&self) -> &[MessageView] {
        &self.persisted_messages.views
    }

    pub fn read_states(&self) -> &[ReadStateView] {
        &self.read_views
    }

    pub fn take_committed(&mut self) -> Option<Entries> {
        let committed = std::mem::take(&mut self.committed);
        if committed.is_empty() {
            return None;
        }
        Some(Entries::new(committed))
    }
}
