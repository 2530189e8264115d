//! What the log's specification says of raft-rs 0.7.0 and marks: each statement, against the crate itself. A newer
//! crate that changes one of them must be met here first.

use super::entry;
use raft::eraftpb::{
    ConfChangeSingle, ConfChangeTransition, ConfChangeType, ConfChangeV2, EntryType, Message, MessageType,
};
use raft::storage::MemStorage;
use raft::{Config, RawNode, StateRole};
use slog::{o, Discard, Logger};

const ELECTION_TICK: usize = 10;

fn config(id: u64) -> Config {
    Config { id, election_tick: ELECTION_TICK, heartbeat_tick: 2, ..Config::default() }
}

fn storage(voters: &[u64]) -> MemStorage {
    MemStorage::new_with_conf_state((voters.to_vec(), vec![]))
}

fn node(id: u64, voters: &[u64]) -> RawNode<MemStorage> {
    RawNode::new(&config(id), storage(voters), &Logger::root(Discard, o!())).expect("a sound configuration")
}

/// Handles one output at once, and says what was sent.
fn handle(node: &mut RawNode<MemStorage>) -> Vec<Message> {
    let mut ready = node.ready();
    node.store().wl().append(ready.entries()).expect("entries follow each other");
    if let Some(state) = ready.hs() {
        node.store().wl().set_hardstate(state.clone());
    }
    let mut messages = ready.take_messages();
    messages.append(&mut ready.take_persisted_messages());
    let number = ready.number();
    node.advance_append_async(ready);
    node.on_persist_ready(number);
    messages
}

fn handle_all(node: &mut RawNode<MemStorage>) -> Vec<Message> {
    let mut messages = Vec::new();
    while node.has_ready() {
        messages.append(&mut handle(node));
    }
    messages
}

fn message(kind: MessageType, from: u64, to: u64, term: u64) -> Message {
    let mut message = Message::default();
    message.set_msg_type(kind);
    message.from = from;
    message.to = to;
    message.term = term;
    message
}

fn lone_leader() -> RawNode<MemStorage> {
    let mut node = node(1, &[1]);
    node.campaign().expect("a lone voter campaigns");
    handle_all(&mut node);
    assert_eq!(node.raft.state, StateRole::Leader);
    let committed = node.raft.raft_log.committed;
    node.advance_apply_to(committed);
    node
}

fn removal(id: u64) -> ConfChangeV2 {
    let mut single = ConfChangeSingle::default();
    single.node_id = id;
    single.set_change_type(ConfChangeType::RemoveNode);
    let mut change = ConfChangeV2::default();
    change.mut_changes().push(single);
    change
}

/// A leader of two that both have everything.
fn leader_of_two() -> RawNode<MemStorage> {
    let mut node = node(1, &[1, 2]);
    node.campaign().expect("a voter campaigns");
    handle_all(&mut node);
    let term = node.raft.term;
    node.step(message(MessageType::MsgRequestVoteResponse, 2, 1, term)).expect("a vote is taken");
    assert_eq!(node.raft.state, StateRole::Leader);
    handle_all(&mut node);
    let mut answer = message(MessageType::MsgAppendResponse, 2, 1, term);
    answer.index = node.raft.raft_log.last_index();
    node.step(answer).expect("an answer is taken");
    handle_all(&mut node);
    let committed = node.raft.raft_log.committed;
    node.advance_apply_to(committed);
    node
}

// 3.2
#[test]
fn a_follower_forwards_proposals_and_a_leader_takes_them() {
    let mut follower = node(2, &[1, 2]);
    follower.step(message(MessageType::MsgHeartbeat, 1, 2, 1)).expect("a heartbeat is taken");
    handle_all(&mut follower);
    follower.propose(vec![], b"a".to_vec()).expect("raft-rs takes it");
    let sent = handle_all(&mut follower);
    assert_eq!(sent.len(), 1);
    assert_eq!(sent[0].get_msg_type(), MessageType::MsgPropose);

    let mut leader = leader_of_two();
    let last = leader.raft.raft_log.last_index();
    let mut forwarded = sent[0].clone();
    forwarded.to = 1;
    leader.step(forwarded).expect("raft-rs takes it");
    assert_eq!(leader.raft.raft_log.last_index(), last + 1);
}

// 3.2: it stays leader, and the next thing that counts itself meets a missing record.
#[test]
#[should_panic(expected = "called `Option::unwrap()` on a `None` value")]
fn a_leader_that_removes_itself_aborts_later() {
    let mut leader = leader_of_two();
    leader.propose(vec![], b"a".to_vec()).expect("a leader takes it");
    leader.apply_conf_change(&removal(1)).expect("the change is valid");
    assert_eq!(leader.raft.state, StateRole::Leader);
    handle_all(&mut leader);
}

// 3.2, L-33
#[test]
#[should_panic(expected = "assertion")]
fn winning_with_unpersisted_entries_aborts() {
    let mut node = node(2, &[2]);
    let mut append = message(MessageType::MsgAppend, 1, 2, 1);
    append.set_entries(vec![entry(1, 1, b"a")].into());
    node.step(append).expect("an append is taken");
    let ready = node.ready();
    node.store().wl().append(ready.entries()).expect("entries follow each other");
    node.advance_append_async(ready);
    let _ = node.campaign();
}

#[test]
fn a_lone_voter_wins_in_the_call_that_campaigns() {
    let mut node = node(1, &[1]);
    node.campaign().expect("a lone voter campaigns");
    assert_eq!(node.raft.state, StateRole::Leader);
    assert!(node.raft.msgs.is_empty());
}

// 3.2, L-53
#[test]
#[should_panic(expected = "is out of range [prev_applied")]
fn applied_above_committed_at_start_aborts() {
    let storage = storage(&[1]);
    storage.wl().append(&[entry(1, 1, b"a"), entry(2, 1, b"b")]).expect("entries follow each other");
    storage.wl().mut_hard_state().term = 1;
    storage.wl().mut_hard_state().commit = 1;
    let config = Config { applied: 2, ..config(1) };
    let _ = RawNode::new(&config, storage, &Logger::root(Discard, o!()));
}

// 3.2, L-34
#[test]
fn election_jitter_is_drawn_anew_and_can_be_overridden() {
    let mut node = node(1, &[1, 2]);
    let mut drawn = std::collections::BTreeSet::new();
    for _ in 0..200 {
        node.raft.reset_randomized_election_timeout();
        drawn.insert(node.raft.randomized_election_timeout());
    }
    assert!(drawn.len() > 1);
    assert!(drawn.iter().all(|ticks| (ELECTION_TICK..2 * ELECTION_TICK).contains(ticks)));
    node.raft.set_randomized_election_timeout(ELECTION_TICK + 3);
    assert_eq!(node.raft.randomized_election_timeout(), ELECTION_TICK + 3);
}

// L-15
#[test]
fn a_second_conf_change_becomes_an_empty_normal_entry() {
    let mut leader = leader_of_two();
    leader.propose_conf_change(vec![], removal(2)).expect("raft-rs takes it");
    leader.propose_conf_change(b"context".to_vec(), removal(2)).expect("raft-rs takes it");
    let entries = leader.raft.raft_log.unstable_entries();
    assert_eq!(entries.len(), 2);
    assert_eq!(entries[0].get_entry_type(), EntryType::EntryConfChangeV2);
    assert_eq!(entries[1].get_entry_type(), EntryType::EntryNormal);
    assert!(entries[1].get_data().is_empty() && entries[1].get_context().is_empty());
}

// 3.1, 3.2: more than one change without a word about joint becomes one that leaves by itself.
#[test]
fn several_changes_at_once_are_joint_with_automatic_leave_unless_explicit() {
    let mut change = removal(2);
    change.mut_changes().push(ConfChangeSingle::default());
    assert_eq!(change.enter_joint(), Some(true));
    change.set_transition(ConfChangeTransition::Explicit);
    assert_eq!(change.enter_joint(), Some(false));
}

// L-32: nothing may happen between an output and its advance.
#[test]
#[should_panic(expected = "the last one of unstable.slice has different index")]
fn a_call_between_ready_and_advance_aborts() {
    let mut leader = lone_leader();
    leader.propose(vec![], b"a".to_vec()).expect("a leader takes it");
    let ready = leader.ready();
    leader.propose(vec![], b"b".to_vec()).expect("a leader takes it");
    leader.advance_append_async(ready);
}

// L-32: entries must be readable before the advance, or their index is given to others.
#[test]
fn entries_that_the_storage_lacks_after_the_advance_are_written_over() {
    let mut leader = lone_leader();
    let index = leader.raft.raft_log.last_index() + 1;
    for body in [b"a", b"b"] {
        leader.propose(vec![], body.to_vec()).expect("a leader takes it");
        let ready = leader.ready();
        assert_eq!(ready.entries()[0].index, index);
        leader.advance_append_async(ready);
    }
}

// 3.3: a campaign by hand asks nobody whether the node may vote.
#[test]
fn a_learner_campaigns_when_told_to() {
    let storage = MemStorage::new_with_conf_state((vec![1], vec![2]));
    let mut node = RawNode::new(&config(2), storage, &Logger::root(Discard, o!())).expect("it is sound");
    assert!(!node.raft.promotable());
    node.campaign().expect("raft-rs takes it");
    assert_eq!(node.raft.state, StateRole::Candidate);
}

// 5.2
#[test]
fn a_leader_counts_itself_when_it_has_persisted() {
    let mut leader = lone_leader();
    let committed = leader.raft.raft_log.committed;
    leader.propose(vec![], b"a".to_vec()).expect("a leader takes it");
    let ready = leader.ready();
    let number = ready.number();
    leader.store().wl().append(ready.entries()).expect("entries follow each other");
    leader.advance_append_async(ready);
    assert_eq!(leader.raft.raft_log.committed, committed);
    leader.on_persist_ready(number);
    assert_eq!(leader.raft.raft_log.committed, committed + 1);
}

// L-61, L-82: what a term bump without a leader makes of the stickiness is in the C++ tests.
#[test]
fn reads_are_dropped_without_notice_before_an_own_commit_and_without_a_leader() {
    let mut candidate = node(1, &[1, 2]);
    candidate.read_index(b"lost".to_vec());
    assert!(!candidate.has_ready());
    candidate.campaign().expect("a voter campaigns");
    handle_all(&mut candidate);
    let term = candidate.raft.term;
    candidate.step(message(MessageType::MsgRequestVoteResponse, 2, 1, term)).expect("a vote is taken");
    assert_eq!(candidate.raft.state, StateRole::Leader);
    candidate.read_index(b"lost too".to_vec());
    assert_eq!(candidate.raft.pending_read_count(), 0);
}
