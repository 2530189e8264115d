//! The structs of include/cadastre_raft.h, field by field.
//!
//! Every struct has fixed-width fields and no implicit padding; a null pointer goes with size 0 or means "none".
//! `layout` lets the other side compare sizes and offsets with its own (L-31).

use std::os::raw::c_void;

pub const ABI: u32 = 1;
pub const VERSION: &str = "raft-rs 0.7.0";

pub const OK: u32 = 0;
pub const NOT_LEADER: u32 = 1;
pub const DROPPED: u32 = 2;
pub const CONF_PENDING: u32 = 3;
pub const CONF_INVALID: u32 = 4;
pub const UNKNOWN_PEER: u32 = 5;
pub const IGNORED: u32 = 6;
pub const MALFORMED: u32 = 7;
pub const BAD_CONFIG: u32 = 8;

/// A cad_result other than CAD_OK, as the error of an inner function.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Refusal(pub u32);

pub const ROLE_FOLLOWER: u32 = 0;
pub const ROLE_PRE_CANDIDATE: u32 = 1;
pub const ROLE_CANDIDATE: u32 = 2;
pub const ROLE_LEADER: u32 = 3;
pub const ROLE_LEARNER: u32 = 4;

pub const LOG_PANIC: u32 = 0;

pub const WANT_SNAPSHOT: u32 = 1;
pub const WANT_ENTRIES: u32 = 2;

/// Ids in a list of a configuration: CAD_MEMBERS_MAX.
pub const MEMBERS_MAX: usize = 64;
pub const READ_CONTEXT_BYTES_MAX: usize = 64;

pub const OP_ADD_VOTER: u32 = 0;
pub const OP_REMOVE: u32 = 1;
pub const OP_ADD_LEARNER: u32 = 2;
pub const TRANSITION_SIMPLE: u32 = 0;
pub const TRANSITION_EXPLICIT: u32 = 2;

/// Declares a struct as C lays it out, a value of it made of zeros, and its row of the layout table.
macro_rules! c_struct {
    ($name:ident { $($field:ident : $type:ty = $zero:expr),+ $(,)? }) => {
        #[repr(C)]
        #[derive(Clone, Copy)]
        pub struct $name { $(pub $field: $type),+ }

        impl $name {
            pub const ZERO: $name = $name { $($field: $zero),+ };

            fn add_layout(table: &mut Vec<u64>) {
                let value = Self::ZERO;
                let start = std::ptr::addr_of!(value) as usize;
                table.push(std::mem::size_of::<Self>() as u64);
                $(table.push((std::ptr::addr_of!(value.$field) as usize - start) as u64);)+
            }
        }
    };
}

const NULL_BYTES: *const u8 = std::ptr::null();
const NULL_IDS: *const u64 = std::ptr::null();

c_struct!(Slice { data: *const u8 = NULL_BYTES, size: usize = 0 });
c_struct!(Ids { data: *const u64 = NULL_IDS, size: usize = 0 });
c_struct!(EntryView {
    index: u64 = 0,
    term: u64 = 0,
    kind: u32 = 0,
    zero: u32 = 0,
    data: Slice = Slice::ZERO,
    context: Slice = Slice::ZERO,
});
c_struct!(HardStateView { term: u64 = 0, vote: u64 = 0, commit: u64 = 0 });
c_struct!(ConfStateView {
    voters: Ids = Ids::ZERO,
    learners: Ids = Ids::ZERO,
    voters_outgoing: Ids = Ids::ZERO,
    learners_next: Ids = Ids::ZERO,
    auto_leave: u32 = 0,
    zero: u32 = 0,
});
c_struct!(SnapshotView {
    index: u64 = 0,
    term: u64 = 0,
    conf: ConfStateView = ConfStateView::ZERO,
    data: Slice = Slice::ZERO,
});
c_struct!(MessageView { to: u64 = 0, kind: u32 = 0, zero: u32 = 0, index: u64 = 0, bytes: Slice = Slice::ZERO });
c_struct!(Head {
    from: u64 = 0,
    to: u64 = 0,
    term: u64 = 0,
    index: u64 = 0,
    snapshot_index: u64 = 0,
    snapshot_term: u64 = 0,
    kind: u32 = 0,
    entries: u32 = 0,
    reject: u32 = 0,
    forced: u32 = 0,
    snapshot_data: Slice = Slice::ZERO,
});
c_struct!(ProgressView {
    id: u64 = 0,
    matched: u64 = 0,
    next: u64 = 0,
    pending_snapshot: u64 = 0,
    state: u32 = 0,
    paused: u32 = 0,
    active: u32 = 0,
    inflight: u32 = 0,
});
c_struct!(StatusView {
    id: u64 = 0,
    term: u64 = 0,
    vote: u64 = 0,
    leader: u64 = 0,
    commit: u64 = 0,
    applied: u64 = 0,
    persisted: u64 = 0,
    first: u64 = 0,
    last: u64 = 0,
    cache_bytes: u64 = 0,
    transferee: u64 = 0,
    role: u32 = 0,
    promotable: u32 = 0,
    joint: u32 = 0,
    pending_conf: u32 = 0,
    reads_pending: u32 = 0,
    zero: u32 = 0,
});
c_struct!(ConfOp { op: u32 = 0, zero: u32 = 0, id: u64 = 0 });
c_struct!(ConfChangeView {
    ops: *const ConfOp = std::ptr::null(), size: usize = 0, transition: u32 = 0, zero: u32 = 0,
});
c_struct!(ReadStateView { index: u64 = 0, context: Slice = Slice::ZERO });
c_struct!(SoftStateView { leader: u64 = 0, role: u32 = 0, zero: u32 = 0 });
c_struct!(Want { kind: u32 = 0, zero: u32 = 0, peer: u64 = 0, low: u64 = 0, high: u64 = 0, token: u64 = 0 });

pub type ReadFn = extern "C" fn(*mut c_void, u64, u64, u64, *mut *mut crate::ready::Entries) -> u32;
pub type LogFn = extern "C" fn(*mut c_void, u32, Slice);

c_struct!(CallbacksView {
    this: *mut c_void = std::ptr::null_mut(), read: Option<ReadFn> = None, log: Option<LogFn> = None,
});
c_struct!(ConfigView {
    group: u64 = 0, id: u64 = 0, applied: u64 = 0, seed: u64 = 0,
    election_tick: u32 = 0, heartbeat_tick: u32 = 0, max_inflight_msgs: u32 = 0, pre_vote: u32 = 0,
    check_quorum: u32 = 0, zero: u32 = 0,
    max_size_per_msg: u64 = 0, max_uncommitted_size: u64 = 0, max_committed_size_per_ready: u64 = 0,
    hard_state: HardStateView = HardStateView::ZERO, conf: ConfStateView = ConfStateView::ZERO,
    conf_index: u64 = 0, truncated_index: u64 = 0, truncated_term: u64 = 0,
    tail: *const EntryView = std::ptr::null(), tail_size: usize = 0,
    term_starts: *const u64 = NULL_IDS, term_starts_size: usize = 0,
});

/// For each struct in the order of the header: its size, then the offset of every field in order.
pub fn layout() -> Vec<u64> {
    let mut table = Vec::new();
    Slice::add_layout(&mut table);
    Ids::add_layout(&mut table);
    EntryView::add_layout(&mut table);
    HardStateView::add_layout(&mut table);
    ConfStateView::add_layout(&mut table);
    SnapshotView::add_layout(&mut table);
    MessageView::add_layout(&mut table);
    Head::add_layout(&mut table);
    ProgressView::add_layout(&mut table);
    StatusView::add_layout(&mut table);
    ConfOp::add_layout(&mut table);
    ConfChangeView::add_layout(&mut table);
    ReadStateView::add_layout(&mut table);
    SoftStateView::add_layout(&mut table);
    Want::add_layout(&mut table);
    CallbacksView::add_layout(&mut table);
    ConfigView::add_layout(&mut table);
    table
}

impl Slice {
    /// A view of bytes that the caller keeps alive.
    pub fn of(bytes: &[u8]) -> Slice {
        Slice { data: bytes.as_ptr(), size: bytes.len() }
    }
}

impl Ids {
    pub fn of(ids: &[u64]) -> Ids {
        Ids { data: ids.as_ptr(), size: ids.len() }
    }
}
