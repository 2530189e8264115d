//! RawNode and the rules around it: what raft-rs 0.7.0 leaves open or would abort on.
//!
//!   proposals     only a leader takes them, and nothing is forwarded in either direction
//!   campaigns     never while something of ours is unpersisted or a snapshot unapplied (L-33)
//!   timeouts      a pure function of seed, group, id, term and campaigns, in place of the thread's dice (L-34)
//!   conf changes  refused before raft-rs would turn them into something else (L-15); explicit joint only
//!   removal       a node that has applied its own removal does nothing any more
//!   outputs       taken, cached and advanced in one call (L-32)

use crate::abi::*;
use crate::ready::{role, ConfLists, Ready};
use crate::store::{Position, Store};
use crate::wire;
use protobuf::Message as _;
use raft::eraftpb::{
    ConfChange, ConfChangeSingle, ConfChangeTransition, ConfChangeType, ConfChangeV2, ConfState, Entry, EntryType,
    Message, MessageType, Snapshot,
};
use raft::{Changer, Config, Error, ProgressState, RawNode, SnapshotStatus, StateRole};
use std::collections::VecDeque;

/// What a node is and was: numbers that stay, and the configuration's index.
pub struct Identity {
    pub group: u64,
    pub id: u64,
    pub seed: u64,
    pub conf_index: u64,
}

struct Output {
    number: u64,
    has_data: bool, // entries or a snapshot
}

pub struct Node {
    raw: RawNode<Store>,
    identity: Identity,
    election_tick: u64,
    attempt: u64,
    outputs: VecDeque<Output>, // taken and not persisted
    taken: u64,
    conf: ConfState,
    lists: ConfLists,
    removed: bool,
}

/// One step of splitmix64 over `state` and `value`.
fn mix(state: u64, value: u64) -> u64 {
    let mut z = (state ^ value).wrapping_add(0x9e37_79b9_7f4a_7c15);
    z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    z ^ (z >> 31)
}

fn is_member(conf: &ConfState, id: u64) -> bool {
    [conf.get_voters(), conf.get_learners(), conf.get_voters_outgoing(), conf.get_learners_next()]
        .iter()
        .any(|ids| ids.contains(&id))
}

/// The entry's change, as the newer of the two encodings.
fn decode_conf_change(entry: &Entry) -> Option<ConfChangeV2> {
    match entry.get_entry_type() {
        EntryType::EntryNormal => None,
        EntryType::EntryConfChange => {
            let old = ConfChange::parse_from_bytes(entry.get_data()).ok()?;
            let mut change = ConfChangeV2::default();
            let mut single = ConfChangeSingle::default();
            single.node_id = old.node_id;
            single.set_change_type(old.get_change_type());
            change.mut_changes().push(single);
            Some(change)
        }
        EntryType::EntryConfChangeV2 => ConfChangeV2::parse_from_bytes(entry.get_data()).ok(),
    }
}

impl Node {
    pub fn new(config: &Config, identity: Identity, store: Store, logger: &slog::Logger) -> Result<Node, Refusal> {
        let raw = RawNode::new(config, store, logger).map_err(|_| Refusal(BAD_CONFIG))?;
        let mut node = Node {
            raw,
            identity,
            election_tick: config.election_tick as u64,
            attempt: 0,
            outputs: VecDeque::new(),
            taken: 0,
            conf: ConfState::default(),
            lists: ConfLists::default(),
            removed: false,
        };
        node.refresh_conf();
        node.settle();
        Ok(node)
    }

    pub fn group(&self) -> u64 {
        self.identity.group
    }

    pub fn id(&self) -> u64 {
        self.identity.id
    }

    fn is_leader(&self) -> bool {
        self.raw.raft.state == StateRole::Leader
    }

    fn refresh_conf(&mut self) {
        self.conf = self.raw.raft.prs().conf().to_conf_state();
        self.lists = ConfLists::new(&self.conf);
    }

    /// raft-rs asserts on winning that all it has is persisted, and on campaigning that all since `applied` can be
    /// read. A lone voter wins in the call that campaigns.
    fn may_campaign(&self) -> bool {
        let log = &self.raw.raft.raft_log;
        log.persisted == log.last_index()
            && log.applied + 1 >= log.first_index()
            && !self.outputs.iter().any(|output| output.has_data)
    }

    /// After every call that may have changed the role or reset the timer.
    fn settle(&mut self) {
        let Identity { group, id, seed, .. } = self.identity;
        let term = self.raw.raft.term;
        let chance = [group, id, term, self.attempt].iter().fold(seed, |state, value| mix(state, *value));
        let timeout = self.election_tick + chance % self.election_tick;
        self.raw.raft.set_randomized_election_timeout(timeout as usize);
        if !self.is_leader() {
            self.raw.mut_store().forget_requests();
        }
    }

    pub fn tick(&mut self) -> bool {
        if self.removed {
            return false;
        }
        if !self.is_leader() {
            if !self.may_campaign() {
                return false;
            }
            let raft = &self.raw.raft;
            if raft.promotable() && raft.election_elapsed + 1 >= raft.randomized_election_timeout() {
                self.attempt += 1;
            }
        }
        let look = self.raw.tick();
        self.settle();
        look
    }

    pub fn campaign(&mut self) -> Result<(), Refusal> {
        if self.removed || self.is_leader() || !self.raw.raft.promotable() || !self.may_campaign() {
            return Err(Refusal(IGNORED));
        }
        self.attempt += 1;
        let result = self.raw.campaign();
        self.settle();
        result.map_err(|_| Refusal(IGNORED))
    }

    /// A snapshot that ends at our commit index in another term: raft-rs would put it in the place of what is committed.
    fn is_contradicted(&self, message: &Message) -> bool {
        let log = &self.raw.raft.raft_log;
        let metadata = message.get_snapshot().get_metadata();
        message.get_msg_type() == MessageType::MsgSnapshot
            && metadata.index == log.committed
            && !log.match_term(metadata.index, metadata.term)
    }

    pub fn step(&mut self, bytes: &[u8]) -> Result<(), Refusal> {
        let head = wire::read_head(bytes).map_err(|_| Refusal(MALFORMED))?;
        let message = Message::parse_from_bytes(bytes).map_err(|_| Refusal(MALFORMED))?;
        let kind = message.get_msg_type();
        if self.removed || matches!(kind, MessageType::MsgPropose | MessageType::MsgTransferLeader) {
            return Err(Refusal(IGNORED));
        }
        if head.kind != kind as u32 || !wire::is_well_formed(&message, self.id()) || self.is_contradicted(&message) {
            return Err(Refusal(MALFORMED));
        }
        // raft-rs would pass it on to whom it takes for the leader, in the name of who asked; peers hear nobody in another's name.
        if kind == MessageType::MsgReadIndex && !self.is_leader() {
            return Err(Refusal(IGNORED));
        }
        if kind == MessageType::MsgTimeoutNow && !self.is_leader() {
            if !self.may_campaign() {
                return Err(Refusal(IGNORED));
            }
            self.attempt += 1;
        }
        let result = self.raw.step(message);
        if kind == MessageType::MsgSnapshot {
            self.refresh_conf();
        }
        self.settle();
        result.map_err(|error| match error {
            Error::StepPeerNotFound => Refusal(UNKNOWN_PEER),
            _ => Refusal(DROPPED),
        })
    }

    /// Whether this node leads in `term` (0: in any) and takes proposals.
    fn check_proposals(&self, term: u64) -> Result<(), Refusal> {
        let raft = &self.raw.raft;
        if self.removed || !self.is_leader() || (term != 0 && term != raft.term) {
            return Err(Refusal(NOT_LEADER));
        }
        if raft.lead_transferee.is_some() {
            return Err(Refusal(DROPPED));
        }
        Ok(())
    }

    fn propose_entries(&mut self, entries: Vec<Entry>) -> Result<Position, Refusal> {
        let index = self.raw.raft.raft_log.last_index() + 1;
        let mut message = Message::default();
        message.set_msg_type(MessageType::MsgPropose);
        message.from = self.id();
        message.set_entries(entries.into());
        let result = self.raw.raft.step(message);
        self.settle();
        result.map_err(|_| Refusal(DROPPED))?;
        Ok(Position { index, term: self.raw.raft.term })
    }

    /// All or nothing. An empty body is refused: it would look like the entry that opens a term.
    pub fn propose(&mut self, term: u64, bodies: &[&[u8]]) -> Result<Position, Refusal> {
        self.check_proposals(term)?;
        if bodies.is_empty() || bodies.iter().any(|body| body.is_empty()) {
            return Err(Refusal(MALFORMED));
        }
        let entries = bodies
            .iter()
            .map(|body| {
                let mut entry = Entry::default();
                entry.data = body.to_vec().into();
                entry
            })
            .collect();
        self.propose_entries(entries)
    }

    fn conf_change(&self, ops: &[ConfOp], transition: u32) -> Option<ConfChangeV2> {
        let mut change = ConfChangeV2::default();
        for op in ops {
            let mut single = ConfChangeSingle::default();
            single.node_id = op.id;
            single.set_change_type(match op.op {
                OP_ADD_VOTER => ConfChangeType::AddNode,
                OP_REMOVE => ConfChangeType::RemoveNode,
                OP_ADD_LEARNER => ConfChangeType::AddLearnerNode,
                _ => return None,
            });
            let changes_leader = op.id == self.id() && op.op != OP_ADD_VOTER;
            if op.id == 0 || op.zero != 0 || changes_leader {
                return None;
            }
            change.mut_changes().push(single);
        }
        match (transition, ops.len()) {
            (TRANSITION_SIMPLE, 0 | 1) => {}
            (TRANSITION_EXPLICIT, 1..) => change.set_transition(ConfChangeTransition::Explicit),
            _ => return None,
        }
        Some(change)
    }

    /// The configuration after `change`, if it is one that raft-rs would take and that differs.
    fn try_conf_change(&self, change: &ConfChangeV2) -> Option<ConfState> {
        let mut changer = Changer::new(self.raw.raft.prs());
        let (conf, _) = if change.leave_joint() {
            changer.leave_joint().ok()?
        } else if let Some(auto_leave) = change.enter_joint() {
            changer.enter_joint(auto_leave, change.get_changes()).ok()?
        } else {
            changer.simple(change.get_changes()).ok()?
        };
        let conf = conf.to_conf_state();
        let same = ConfLists::new(&conf) == self.lists;
        Some(conf).filter(|_| !same)
    }

    pub fn propose_conf(&mut self, ops: &[ConfOp], transition: u32, context: &[u8]) -> Result<Position, Refusal> {
        self.check_proposals(0)?;
        if self.raw.raft.has_pending_conf() {
            return Err(Refusal(CONF_PENDING));
        }
        let change = self.conf_change(ops, transition).ok_or(Refusal(CONF_INVALID))?;
        self.try_conf_change(&change).ok_or(Refusal(CONF_INVALID))?;
        let mut entry = Entry::default();
        entry.set_entry_type(EntryType::EntryConfChangeV2);
        entry.data = change.write_to_bytes().expect("a conf change can be encoded").into();
        entry.context = context.to_vec().into();
        self.propose_entries(vec![entry])
    }

    /// Lets a committed change take effect, unless the configuration has it already (L-56).
    pub fn apply_conf(&mut self, entry: &Entry) -> Result<ConfStateView, Refusal> {
        let change = decode_conf_change(entry).ok_or(Refusal(MALFORMED))?;
        if self.removed || entry.index <= self.identity.conf_index {
            return Ok(self.lists.view());
        }
        let was_member = is_member(&self.conf, self.id());
        self.raw.apply_conf_change(&change).map_err(|_| Refusal(CONF_INVALID))?;
        self.identity.conf_index = entry.index;
        self.refresh_conf();
        self.removed = was_member && !is_member(&self.conf, self.id());
        if !self.removed {
            self.settle();
        }
        Ok(self.lists.view())
    }

    /// A context that heartbeats could not carry back is ignored.
    pub fn read_index(&mut self, context: &[u8]) {
        if !self.removed && wire::is_read_context(context) {
            self.raw.read_index(context.to_vec());
            self.settle();
        }
    }

    pub fn transfer(&mut self, to: u64) -> Result<(), Refusal> {
        if self.removed || !self.is_leader() {
            return Err(Refusal(NOT_LEADER));
        }
        if to == self.id() {
            return Err(Refusal(IGNORED));
        }
        if !self.conf.get_voters().contains(&to) {
            return Err(Refusal(UNKNOWN_PEER));
        }
        self.raw.transfer_leader(to);
        self.settle();
        Ok(())
    }

    pub fn report_unreachable(&mut self, peer: u64) {
        if !self.removed {
            self.raw.report_unreachable(peer);
        }
    }

    pub fn report_snapshot(&mut self, peer: u64, status: SnapshotStatus) {
        if !self.removed {
            self.raw.report_snapshot(peer, status);
        }
    }

    pub fn has_ready(&self) -> bool {
        !self.removed && self.raw.has_ready()
    }

    /// raft-rs allows no other call between its `ready` and the advance, and wants entries readable before it.
    pub fn take_ready(&mut self) -> Ready {
        if self.removed {
            return Ready::empty(self.taken);
        }
        let mut raw_ready = self.raw.ready();
        let entries = raw_ready.take_entries();
        let metadata = raw_ready.snapshot().get_metadata();
        let restored = Position { index: metadata.index, term: metadata.term };
        if restored.index > 0 {
            self.identity.conf_index = restored.index;
            self.raw.mut_store().restore(restored);
        }
        self.raw.mut_store().append(&entries);
        let ready = Ready::new(&mut raw_ready, entries);
        self.raw.advance_append_async(raw_ready);
        self.taken = ready.number;
        let has_data = ready.has_snapshot() || !ready.entries().views().is_empty();
        self.outputs.push_back(Output { number: ready.number, has_data });
        self.settle();
        ready
    }

    pub fn on_persist(&mut self, number: u64) {
        assert!(number <= self.taken, "output {} is persisted but {} is the newest", number, self.taken);
        while self.outputs.front().map_or(false, |output| output.number <= number) {
            self.outputs.pop_front();
        }
        if !self.removed {
            self.raw.on_persist_ready(number);
            self.settle();
        }
    }

    pub fn on_applied(&mut self, index: u64) {
        if !self.removed && index > self.raw.raft.raft_log.applied {
            self.raw.advance_apply_to(index);
            self.settle();
        }
    }

    pub fn truncate(&mut self, at: Position) {
        assert!(at.index <= self.raw.raft.raft_log.applied, "truncation above the applied index");
        self.raw.mut_store().truncate(at);
    }

    pub fn shrink_cache(&mut self, keep_from: u64) {
        let applied = self.raw.raft.raft_log.applied;
        self.raw.mut_store().shrink_cache(keep_from, applied);
    }

    pub fn set_snapshot(&mut self, snapshot: Snapshot) {
        let metadata = snapshot.get_metadata();
        assert!(wire::is_conf_state(metadata.get_conf_state()), "a snapshot with an impossible configuration");
        assert!(
            metadata.index > 0 && metadata.index <= self.raw.raft.raft_log.committed,
            "a snapshot not committed"
        );
        if self.is_leader() {
            self.raw.mut_store().set_snapshot(snapshot);
        }
    }

    pub fn withdraw_snapshot(&mut self) {
        self.raw.mut_store().withdraw_snapshot();
    }

    pub fn next_want(&mut self) -> Option<Want> {
        self.raw.mut_store().next_want()
    }

    pub fn entries_fetched(&mut self, token: u64, entries: &[Entry]) {
        if let Some(context) = self.raw.mut_store().fetched(token, entries) {
            self.raw.on_entries_fetched(context);
            self.settle();
        }
    }

    pub fn status(&self) -> StatusView {
        let raft = &self.raw.raft;
        let log = &raft.raft_log;
        let learns = self.conf.get_learners().contains(&self.id());
        StatusView {
            id: self.id(),
            term: raft.term,
            vote: raft.vote,
            leader: raft.leader_id,
            commit: log.committed,
            applied: log.applied,
            persisted: log.persisted,
            first: log.first_index(),
            last: log.last_index(),
            cache_bytes: self.raw.store().cache_bytes(),
            transferee: raft.lead_transferee.unwrap_or(0),
            role: match raft.state {
                StateRole::Follower if learns => ROLE_LEARNER,
                state => role(state),
            },
            promotable: raft.promotable() as u32,
            joint: !self.conf.get_voters_outgoing().is_empty() as u32,
            pending_conf: raft.has_pending_conf() as u32,
            reads_pending: raft.pending_read_count() as u32,
            zero: 0,
        }
    }

    /// Peers as the leader sees them, by id; nothing elsewhere.
    pub fn progress(&self) -> Vec<ProgressView> {
        if self.removed || !self.is_leader() {
            return Vec::new();
        }
        let mut rows: Vec<ProgressView> = self
            .raw
            .raft
            .prs()
            .iter()
            .map(|(id, progress)| ProgressView {
                id: *id,
                matched: progress.matched,
                next: progress.next_idx,
                pending_snapshot: progress.pending_snapshot,
                state: match progress.state {
                    ProgressState::Probe => 0,
                    ProgressState::Replicate => 1,
                    ProgressState::Snapshot => 2,
                },
                paused: progress.is_paused() as u32,
                active: progress.recent_active as u32,
                inflight: progress.ins.count() as u32,
            })
            .collect();
        rows.sort_unstable_by_key(|row| row.id);
        rows
    }
}
