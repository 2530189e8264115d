//! Every kind of message keeps its bytes, and its head says what is in it.

use super::entry;
use crate::wire::{is_well_formed, read_head};
use protobuf::{Message as _, ProtobufEnum};
use raft::eraftpb::{Message, MessageType};

fn sample(kind: MessageType) -> Message {
    let mut message = Message::default();
    message.set_msg_type(kind);
    message.to = 2;
    message.from = 1;
    message.term = if kind == MessageType::MsgReadIndex { 0 } else { 300 };
    message.log_term = 299;
    message.index = 70_000;
    message.commit = 69_999;
    message.commit_term = 299;
    message.reject = true;
    message.reject_hint = 69_000;
    message.request_snapshot = 1;
    message.context = b"CampaignTransfer".to_vec().into();
    message.deprecated_priority = 4;
    message.priority = -4;
    message.set_entries(vec![entry(70_001, 300, b"body")].into());
    let metadata = message.mut_snapshot().mut_metadata();
    metadata.index = 68_000;
    metadata.term = 12;
    metadata.mut_conf_state().set_voters(vec![1, 2, 3]);
    message.mut_snapshot().data = b"manifest".to_vec().into();
    message
}

#[test]
fn all_kinds_survive_a_round_trip() {
    let kinds = MessageType::values();
    assert_eq!(kinds.len(), 19);
    for kind in kinds {
        let message = sample(*kind);
        let bytes = message.write_to_bytes().expect("it can be encoded");
        assert_eq!(Message::parse_from_bytes(&bytes).expect("it can be decoded"), message);
        let head = read_head(&bytes).expect("it has a head");
        assert_eq!(head.kind, *kind as u32);
        assert_eq!((head.from, head.to, head.term, head.index), (1, 2, message.term, 70_000));
        assert_eq!((head.entries, head.reject, head.forced), (1, 1, 1));
        assert_eq!((head.snapshot_index, head.snapshot_term, head.snapshot_data.size), (68_000, 12, 8));
    }
}

#[test]
fn kinds_that_only_a_node_itself_may_step_are_not_well_formed() {
    for kind in MessageType::values() {
        let local = raft::raw_node::is_local_msg(*kind);
        let mut message = sample(*kind);
        message.request_snapshot = 0;
        assert_eq!(is_well_formed(&message, 2), !local, "{:?}", kind);
    }
}

#[test]
fn nobody_asks_for_a_snapshot_of_its_choice() {
    assert!(!is_well_formed(&sample(MessageType::MsgAppendResponse), 2));
}

#[test]
fn fields_of_a_later_version_are_skipped() {
    let mut bytes = sample(MessageType::MsgAppend).write_to_bytes().expect("it can be encoded");
    bytes.extend([0xa0, 0x06, 0x05]); // field 100, a number
    bytes.extend([0xaa, 0x06, 0x01, 0x0b]); // field 101, bytes that would start a group
    assert_eq!(read_head(&bytes).expect("it has a head").entries, 1);
    assert!(Message::parse_from_bytes(&bytes).is_ok());
}
