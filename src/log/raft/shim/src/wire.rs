//! Messages of peers, before raft-rs sees them.
//!
//! `read_head` walks the bytes of an eraftpb.Message without copying them. It is stricter than the codec: no groups
//! (the codec skips nested ones by recursion, which a peer could drive through the stack), no sub-message twice
//! where the codec would merge the two. `is_well_formed` checks what raft-rs takes for granted about a decoded
//! message. Neither judges the sender's claims: a commit index beyond our log is well formed, and fatal.

use crate::abi::{Head, Slice, MEMBERS_MAX, READ_CONTEXT_BYTES_MAX};
use raft::eraftpb::{ConfState, Entry, Message, MessageType};

const KIND_MAX: u64 = MessageType::MsgRequestPreVoteResponse as u64;

/// The bytes are no message.
#[derive(Debug, PartialEq, Eq)]
pub struct Malformed;

enum Field<'a> {
    Number(u64),
    Bytes(&'a [u8]),
    Fixed,
}

/// Fields of one protobuf message, in order.
struct Reader<'a> {
    rest: &'a [u8],
}

impl<'a> Reader<'a> {
    fn varint(&mut self) -> Result<u64, Malformed> {
        let mut value = 0u64;
        for shift in (0..64).step_by(7) {
            let (&byte, rest) = self.rest.split_first().ok_or(Malformed)?;
            self.rest = rest;
            if shift == 63 && byte > 1 {
                return Err(Malformed);
            }
            value |= u64::from(byte & 0x7f) << shift;
            if byte & 0x80 == 0 {
                return Ok(value);
            }
        }
        Err(Malformed)
    }

    fn take(&mut self, size: u64) -> Result<&'a [u8], Malformed> {
        if size > self.rest.len() as u64 {
            return Err(Malformed);
        }
        let (taken, rest) = self.rest.split_at(size as usize);
        self.rest = rest;
        Ok(taken)
    }

    fn next(&mut self) -> Result<Option<(u64, Field<'a>)>, Malformed> {
        if self.rest.is_empty() {
            return Ok(None);
        }
        let tag = self.varint()?;
        let number = tag >> 3;
        if number == 0 || number >= 1 << 29 {
            return Err(Malformed);
        }
        let field = match tag & 7 {
            0 => Field::Number(self.varint()?),
            1 => self.take(8).map(|_| Field::Fixed)?,
            2 => {
                let size = self.varint()?;
                Field::Bytes(self.take(size)?)
            }
            5 => self.take(4).map(|_| Field::Fixed)?,
            _ => return Err(Malformed),
        };
        Ok(Some((number, field)))
    }
}

/// Walks a message whose fields this room does not read, for its shape alone.
fn check_fields(bytes: &[u8]) -> Result<(), Malformed> {
    let mut reader = Reader { rest: bytes };
    while reader.next()?.is_some() {}
    Ok(())
}

fn only_once(seen: &mut bool) -> Result<(), Malformed> {
    if std::mem::replace(seen, true) {
        return Err(Malformed);
    }
    Ok(())
}

fn read_metadata(bytes: &[u8], head: &mut Head) -> Result<(), Malformed> {
    let mut reader = Reader { rest: bytes };
    let mut conf = false;
    while let Some((number, field)) = reader.next()? {
        match (number, field) {
            (1, Field::Bytes(state)) => {
                only_once(&mut conf)?;
                check_fields(state)?;
            }
            (2, Field::Number(index)) => head.snapshot_index = index,
            (3, Field::Number(term)) => head.snapshot_term = term,
            (1..=3, _) => return Err(Malformed),
            _ => {}
        }
    }
    Ok(())
}

fn read_snapshot(bytes: &[u8], head: &mut Head) -> Result<(), Malformed> {
    let mut reader = Reader { rest: bytes };
    let mut metadata = false;
    while let Some((number, field)) = reader.next()? {
        match (number, field) {
            (1, Field::Bytes(data)) => head.snapshot_data = Slice::of(data),
            (2, Field::Bytes(inner)) => {
                only_once(&mut metadata)?;
                read_metadata(inner, head)?;
            }
            (1 | 2, _) => return Err(Malformed),
            _ => {}
        }
    }
    Ok(())
}

/// What the loop needs to know of a message before it is stepped. The slice in it borrows from `bytes`.
pub fn read_head(bytes: &[u8]) -> Result<Head, Malformed> {
    let mut head = Head::ZERO;
    let mut reader = Reader { rest: bytes };
    let mut snapshot = false;
    while let Some((number, field)) = reader.next()? {
        match (number, field) {
            (1, Field::Number(kind)) if kind <= KIND_MAX => head.kind = kind as u32,
            (2, Field::Number(to)) => head.to = to,
            (3, Field::Number(from)) => head.from = from,
            (4, Field::Number(term)) => head.term = term,
            (6, Field::Number(index)) => head.index = index,
            (7, Field::Bytes(entry)) => {
                check_fields(entry)?;
                head.entries = head.entries.checked_add(1).ok_or(Malformed)?;
            }
            (9, Field::Bytes(inner)) => {
                only_once(&mut snapshot)?;
                read_snapshot(inner, &mut head)?;
            }
            (10, Field::Number(reject)) => head.reject = (reject != 0) as u32,
            (12, Field::Bytes(context)) => head.forced = (context == raft::CAMPAIGN_TRANSFER) as u32,
            (1..=4 | 6 | 7 | 9 | 10 | 12, _) => return Err(Malformed),
            _ => {}
        }
    }
    Ok(head)
}

/// Ids are non-zero and distinct, and the sets are those that a configuration can have. An empty configuration is a
/// joiner's.
pub fn is_conf_state(conf: &ConfState) -> bool {
    let (voters, learners) = (conf.get_voters(), conf.get_learners());
    let (outgoing, next) = (conf.get_voters_outgoing(), conf.get_learners_next());
    let sets = [voters, learners, outgoing, next];
    if sets.iter().any(|ids| ids.len() > MEMBERS_MAX) {
        return false; // Before they are compared one by one.
    }
    let distinct = |ids: &[u64]| ids.iter().enumerate().all(|(at, id)| *id != 0 && !ids[..at].contains(id));
    let apart = |left: &[u64], right: &[u64]| left.iter().all(|id| !right.contains(id));
    sets.iter().all(|ids| distinct(ids))
        && apart(learners, voters)
        && apart(learners, outgoing)
        && apart(next, voters)
        && apart(next, learners)
        && next.iter().all(|id| outgoing.contains(id))
        && (!voters.is_empty() || (learners.is_empty() && outgoing.is_empty()))
        && !conf.auto_leave
}

/// Indexes follow `before` without a gap; terms are positive, do not go back and stay within `term_max`.
pub fn is_run(entries: &[Entry], before: (u64, u64), term_max: u64) -> bool {
    let (mut index, mut term) = before;
    entries.iter().all(|entry| {
        let follows = Some(entry.index) == index.checked_add(1)
            && entry.term > 0
            && entry.term >= term
            && entry.term <= term_max;
        index = entry.index;
        term = entry.term;
        follows
    })
}

/// Heartbeats carry it to every peer and back: not an empty one, and not a long one.
pub fn is_read_context(context: &[u8]) -> bool {
    !context.is_empty() && context.len() <= READ_CONTEXT_BYTES_MAX
}

/// What raft-rs assumes of a message of this kind, beyond its encoding.
pub fn is_well_formed(message: &Message, id: u64) -> bool {
    if message.to != id || message.from == 0 || message.from == id {
        return false;
    }
    let kind = message.get_msg_type();
    if (kind == MessageType::MsgReadIndex) != (message.term == 0) {
        return false; // Every message but a forwarded read carries its sender's term.
    }
    match kind {
        MessageType::MsgHup
        | MessageType::MsgBeat
        | MessageType::MsgUnreachable
        | MessageType::MsgSnapStatus
        | MessageType::MsgCheckQuorum => false,
        MessageType::MsgReadIndex | MessageType::MsgReadIndexResp => {
            message.get_entries().len() == 1 && is_read_context(message.get_entries()[0].get_data())
        }
        MessageType::MsgAppend => {
            (message.index == 0) == (message.log_term == 0)
                && message.log_term <= message.term
                && is_run(message.get_entries(), (message.index, message.log_term), message.term)
        }
        MessageType::MsgSnapshot => {
            let metadata = message.get_snapshot().get_metadata();
            metadata.index > 0
                && metadata.term > 0
                && metadata.term <= message.term
                && !metadata.get_conf_state().get_voters().is_empty()
                && is_conf_state(metadata.get_conf_state())
        }
        // No node of ours asks its leader for a snapshot in this way, and one above the log could never be made.
        MessageType::MsgAppendResponse => message.request_snapshot == 0,
        _ => true,
    }
}
