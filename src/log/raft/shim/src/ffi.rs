//! The C functions of include/cadastre_raft.h, and the only unsafe code.
//!
//! Safety. The header is the contract: pointers are null or good for the call, handles come from here and are used
//! by one thread at a time where that is said, callbacks do not throw. Each function turns its arguments into
//! references once and calls safe code.
#![allow(clippy::missing_safety_doc)]

use crate::abi::*;
use crate::image::Image;
use crate::log::{install_panic_hook, on_behalf_of, CallbackDrain, Caller};
use crate::node::Node;
use crate::ready::{Entries, Ready};
use crate::store::{Disk, Position};
use crate::wire;
use raft::eraftpb::{ConfState, Entry, EntryType, Snapshot};
use raft::SnapshotStatus;
use slog::o;
use std::ffi::CStr;
use std::os::raw::{c_char, c_int, c_void};

/// The other side's functions.
#[derive(Clone, Copy)]
pub struct Callbacks {
    this: *mut c_void,
    read: ReadFn,
    log: LogFn,
}

// SAFETY: they are called on the thread that called the node they belong to, which is one at a time.
unsafe impl Send for Callbacks {}
unsafe impl Sync for Callbacks {}

impl Callbacks {
    pub fn log(&self, level: u32, text: &str) {
        (self.log)(self.this, level, Slice::of(text.as_bytes()));
    }
}

impl Disk for Callbacks {
    fn read(&self, low: u64, high: u64, bytes_max: u64) -> Result<Vec<Entry>, u32> {
        let mut out: *mut Entries = std::ptr::null_mut();
        let result = (self.read)(self.this, low, high, bytes_max, &mut out);
        if out.is_null() {
            return Err(result);
        }
        // SAFETY: a handle from cad_entries_new, which is ours from here on.
        let entries = unsafe { Box::from_raw(out) };
        if result != OK {
            return Err(result);
        }
        Ok(entries.into_entries())
    }
}

/// A node and whom it calls.
pub struct Raft {
    node: Node,
    callbacks: Callbacks,
}

/// Runs `call` on the node; a panic in it is told through the node's callbacks.
unsafe fn with<R>(raft: *mut Raft, call: impl FnOnce(&mut Node) -> R) -> R {
    let raft = unsafe { &mut *raft };
    let caller = Caller { group: raft.node.group(), id: raft.node.id(), callbacks: raft.callbacks };
    on_behalf_of(caller, || call(&mut raft.node))
}

unsafe fn array<'a, T>(data: *const T, size: usize) -> &'a [T] {
    if size == 0 {
        return &[];
    }
    unsafe { std::slice::from_raw_parts(data, size) }
}

unsafe fn bytes<'a>(slice: Slice) -> &'a [u8] {
    unsafe { array(slice.data, slice.size) }
}

/// Null if the kind is none.
unsafe fn entry(view: &EntryView) -> Option<Entry> {
    let mut entry = Entry::default();
    entry.index = view.index;
    entry.term = view.term;
    entry.set_entry_type(match view.kind {
        0 => EntryType::EntryNormal,
        1 => EntryType::EntryConfChange,
        2 => EntryType::EntryConfChangeV2,
        _ => return None,
    });
    entry.data = unsafe { bytes(view.data) }.to_vec().into();
    entry.context = unsafe { bytes(view.context) }.to_vec().into();
    Some(entry)
}

unsafe fn entries(views: *const EntryView, count: usize) -> Option<Vec<Entry>> {
    unsafe { array(views, count) }.iter().map(|view| unsafe { entry(view) }).collect()
}

unsafe fn conf_state(view: &ConfStateView) -> ConfState {
    let ids = |list: Ids| unsafe { array(list.data, list.size) }.to_vec();
    let mut conf = ConfState::default();
    conf.set_voters(ids(view.voters));
    conf.set_learners(ids(view.learners));
    conf.set_voters_outgoing(ids(view.voters_outgoing));
    conf.set_learners_next(ids(view.learners_next));
    conf.auto_leave = view.auto_leave != 0;
    conf
}

fn code(result: Result<(), Refusal>) -> u32 {
    result.map_or_else(|refusal| refusal.0, |()| OK)
}

unsafe fn put_position(result: Result<Position, Refusal>, index: *mut u64, term: *mut u64) -> u32 {
    match result {
        Ok(at) => {
            unsafe { *index = at.index };
            unsafe { *term = at.term };
            OK
        }
        Err(refusal) => refusal.0,
    }
}

unsafe fn views<T>(list: &[T], count: *mut usize) -> *const T {
    unsafe { *count = list.len() };
    list.as_ptr()
}

/// The stack of this thread, by glibc: the standard library's own is younger than our oldest compiler.
pub fn frames() -> Vec<String> {
    extern "C" {
        fn backtrace(buffer: *mut *mut c_void, size: c_int) -> c_int;
        fn backtrace_symbols(buffer: *const *mut c_void, size: c_int) -> *mut *mut c_char;
        fn free(memory: *mut c_void);
    }
    let mut buffer = [std::ptr::null_mut(); 64];
    // SAFETY: the buffer has as many places as are named; the symbols are one block, freed once.
    unsafe {
        let count = backtrace(buffer.as_mut_ptr(), buffer.len() as c_int);
        let symbols = backtrace_symbols(buffer.as_ptr(), count);
        if symbols.is_null() {
            return Vec::new();
        }
        let frames = array(symbols, count as usize)
            .iter()
            .map(|symbol| CStr::from_ptr(*symbol).to_string_lossy().into_owned())
            .collect();
        free(symbols.cast());
        frames
    }
}

#[no_mangle]
pub extern "C" fn cad_raft_abi() -> u32 {
    ABI
}

#[no_mangle]
pub extern "C" fn cad_raft_version() -> Slice {
    Slice::of(VERSION.as_bytes())
}

#[no_mangle]
pub unsafe extern "C" fn cad_raft_layout(count: *mut usize) -> *const u64 {
    static TABLE: std::sync::Mutex<Option<&'static [u64]>> = std::sync::Mutex::new(None);
    let mut table = TABLE.lock().expect("nothing panics while it is held");
    let table = table.get_or_insert_with(|| Box::leak(layout().into_boxed_slice()));
    unsafe { views(table, count) }
}

#[no_mangle]
pub unsafe extern "C" fn cad_raft_create(
    config: *const ConfigView,
    callbacks: *const CallbacksView,
    out: *mut *mut Raft,
) -> u32 {
    install_panic_hook();
    let (config, given) = unsafe { (*config, *callbacks) };
    let callbacks = match (given.read, given.log) {
        (Some(read), Some(log)) => Callbacks { this: given.this, read, log },
        _ => return BAD_CONFIG,
    };
    let starts = unsafe { array(config.term_starts, config.term_starts_size) };
    let tail = match unsafe { entries(config.tail, config.tail_size) } {
        Some(tail) if starts.len() % 2 == 0 => tail,
        _ => return BAD_CONFIG,
    };
    let image = Image {
        view: config,
        conf: unsafe { conf_state(&config.conf) },
        tail,
        runs: starts.chunks(2).map(|pair| Position { index: pair[0], term: pair[1] }).collect(),
    };
    let caller = Caller { group: config.group, id: config.id, callbacks };
    let logger = slog::Logger::root(CallbackDrain(callbacks), o!("group" => config.group));
    match on_behalf_of(caller, || image.open(Box::new(callbacks), &logger)) {
        Ok(node) => {
            unsafe { *out = Box::into_raw(Box::new(Raft { node, callbacks })) };
            OK
        }
        Err(refusal) => refusal.0,
    }
}

#[no_mangle]
pub unsafe extern "C" fn cad_raft_destroy(raft: *mut Raft) {
    if !raft.is_null() {
        drop(unsafe { Box::from_raw(raft) });
    }
}

#[no_mangle]
pub unsafe extern "C" fn cad_raft_tick(raft: *mut Raft) -> u32 {
    unsafe { with(raft, |node| node.tick() as u32) }
}

#[no_mangle]
pub unsafe extern "C" fn cad_raft_head(message: Slice, out: *mut Head) -> u32 {
    match wire::read_head(unsafe { bytes(message) }) {
        Ok(head) => {
            unsafe { *out = head };
            OK
        }
        Err(wire::Malformed) => MALFORMED,
    }
}

#[no_mangle]
pub unsafe extern "C" fn cad_raft_step(raft: *mut Raft, message: Slice) -> u32 {
    let message = unsafe { bytes(message) };
    unsafe { with(raft, |node| code(node.step(message))) }
}

#[no_mangle]
pub unsafe extern "C" fn cad_raft_propose(
    raft: *mut Raft,
    term_or_0: u64,
    bodies: *const Slice,
    count: usize,
    first_index: *mut u64,
    term: *mut u64,
) -> u32 {
    let bodies: Vec<&[u8]> = unsafe { array(bodies, count) }.iter().map(|body| unsafe { bytes(*body) }).collect();
    let result = unsafe { with(raft, |node| node.propose(term_or_0, &bodies)) };
    unsafe { put_position(result, first_index, term) }
}

#[no_mangle]
pub unsafe extern "C" fn cad_raft_propose_conf(
    raft: *mut Raft,
    change: *const ConfChangeView,
    context: Slice,
    index: *mut u64,
    term: *mut u64,
) -> u32 {
    let change = unsafe { *change };
    let ops = unsafe { array(change.ops, change.size) };
    let context = unsafe { bytes(context) };
    let result = unsafe { with(raft, |node| node.propose_conf(ops, change.transition, context)) };
    unsafe { put_position(result, index, term) }
}

#[no_mangle]
pub unsafe extern "C" fn cad_raft_apply_conf(
    raft: *mut Raft,
    view: *const EntryView,
    out: *mut ConfStateView,
) -> u32 {
    let entry = match unsafe { entry(&*view) } {
        Some(entry) => entry,
        None => return MALFORMED,
    };
    match unsafe { with(raft, |node| node.apply_conf(&entry)) } {
        Ok(conf) => {
            unsafe { *out = conf };
            OK
        }
        Err(refusal) => refusal.0,
    }
}

#[no_mangle]
pub unsafe extern "C" fn cad_raft_read_index(raft: *mut Raft, context: Slice) {
    let context = unsafe { bytes(context) };
    unsafe { with(raft, |node| node.read_index(context)) }
}

#[no_mangle]
pub unsafe extern "C" fn cad_raft_transfer(raft: *mut Raft, to: u64) -> u32 {
    unsafe { with(raft, |node| code(node.transfer(to))) }
}

#[no_mangle]
pub unsafe extern "C" fn cad_raft_campaign(raft: *mut Raft) -> u32 {
    unsafe { with(raft, |node| code(node.campaign())) }
}

#[no_mangle]
pub unsafe extern "C" fn cad_raft_report_unreachable(raft: *mut Raft, peer: u64) {
    unsafe { with(raft, |node| node.report_unreachable(peer)) }
}

#[no_mangle]
pub unsafe extern "C" fn cad_raft_report_snapshot(raft: *mut Raft, peer: u64, ok: u32) {
    let status = if ok != 0 { SnapshotStatus::Finish } else { SnapshotStatus::Failure };
    unsafe { with(raft, |node| node.report_snapshot(peer, status)) }
}

#[no_mangle]
pub unsafe extern "C" fn cad_raft_has_ready(raft: *const Raft) -> u32 {
    unsafe { &*raft }.node.has_ready() as u32
}

#[no_mangle]
pub unsafe extern "C" fn cad_raft_take_ready(raft: *mut Raft) -> *mut Ready {
    Box::into_raw(Box::new(unsafe { with(raft, |node| node.take_ready()) }))
}

#[no_mangle]
pub unsafe extern "C" fn cad_raft_on_persist(raft: *mut Raft, ready_number: u64) {
    unsafe { with(raft, |node| node.on_persist(ready_number)) }
}

#[no_mangle]
pub unsafe extern "C" fn cad_raft_on_applied(raft: *mut Raft, index: u64) {
    unsafe { with(raft, |node| node.on_applied(index)) }
}

#[no_mangle]
pub unsafe extern "C" fn cad_raft_truncate(raft: *mut Raft, index: u64, term: u64) {
    unsafe { with(raft, |node| node.truncate(Position { index, term })) }
}

#[no_mangle]
pub unsafe extern "C" fn cad_raft_shrink_cache(raft: *mut Raft, keep_from: u64) {
    unsafe { with(raft, |node| node.shrink_cache(keep_from)) }
}

#[no_mangle]
pub unsafe extern "C" fn cad_raft_set_snapshot(raft: *mut Raft, view: *const SnapshotView) {
    if view.is_null() {
        return unsafe { with(raft, |node| node.withdraw_snapshot()) };
    }
    let view = unsafe { &*view };
    let mut snapshot = Snapshot::default();
    let metadata = snapshot.mut_metadata();
    metadata.index = view.index;
    metadata.term = view.term;
    metadata.set_conf_state(unsafe { conf_state(&view.conf) });
    snapshot.data = unsafe { bytes(view.data) }.to_vec().into();
    unsafe { with(raft, |node| node.set_snapshot(snapshot)) }
}

#[no_mangle]
pub unsafe extern "C" fn cad_raft_next_want(raft: *mut Raft, out: *mut Want) -> u32 {
    match unsafe { with(raft, |node| node.next_want()) } {
        Some(want) => {
            unsafe { *out = want };
            1
        }
        None => 0,
    }
}

#[no_mangle]
pub unsafe extern "C" fn cad_raft_entries_fetched(raft: *mut Raft, token: u64, fetched: *const Entries) {
    let entries = unsafe { fetched.as_ref() }.map_or(&[][..], |fetched| fetched.entries());
    unsafe { with(raft, |node| node.entries_fetched(token, entries)) }
}

#[no_mangle]
pub unsafe extern "C" fn cad_raft_get_status(raft: *const Raft, out: *mut StatusView) {
    unsafe { *out = (*raft).node.status() };
}

#[no_mangle]
pub unsafe extern "C" fn cad_raft_get_progress(
    raft: *const Raft,
    out: *mut ProgressView,
    capacity: usize,
) -> usize {
    let rows = unsafe { &*raft }.node.progress();
    for (at, row) in rows.iter().take(capacity).enumerate() {
        unsafe { *out.add(at) = *row };
    }
    rows.len()
}

#[no_mangle]
pub unsafe extern "C" fn cad_ready_number(ready: *const Ready) -> u64 {
    unsafe { &*ready }.number
}

#[no_mangle]
pub unsafe extern "C" fn cad_ready_must_sync(ready: *const Ready) -> u32 {
    unsafe { &*ready }.must_sync as u32
}

fn pointer<T>(value: Option<&T>) -> *const T {
    value.map_or(std::ptr::null(), |value| value)
}

#[no_mangle]
pub unsafe extern "C" fn cad_ready_hard_state(ready: *const Ready) -> *const HardStateView {
    pointer(unsafe { &*ready }.hard_state.as_ref())
}

#[no_mangle]
pub unsafe extern "C" fn cad_ready_soft_state(ready: *const Ready) -> *const SoftStateView {
    pointer(unsafe { &*ready }.soft_state.as_ref())
}

#[no_mangle]
pub unsafe extern "C" fn cad_ready_snapshot(ready: *const Ready) -> *const SnapshotView {
    pointer(unsafe { &*ready }.snapshot())
}

#[no_mangle]
pub unsafe extern "C" fn cad_ready_entries(ready: *const Ready, count: *mut usize) -> *const EntryView {
    unsafe { views((*ready).entries().views(), count) }
}

#[no_mangle]
pub unsafe extern "C" fn cad_ready_messages(ready: *const Ready, count: *mut usize) -> *const MessageView {
    unsafe { views((*ready).messages(), count) }
}

#[no_mangle]
pub unsafe extern "C" fn cad_ready_persisted_messages(
    ready: *const Ready,
    count: *mut usize,
) -> *const MessageView {
    unsafe { views((*ready).persisted_messages(), count) }
}

#[no_mangle]
pub unsafe extern "C" fn cad_ready_read_states(ready: *const Ready, count: *mut usize) -> *const ReadStateView {
    unsafe { views((*ready).read_states(), count) }
}

#[no_mangle]
pub unsafe extern "C" fn cad_ready_take_committed(ready: *mut Ready) -> *mut Entries {
    match unsafe { &mut *ready }.take_committed() {
        Some(entries) => Box::into_raw(Box::new(entries)),
        None => std::ptr::null_mut(),
    }
}

#[no_mangle]
pub unsafe extern "C" fn cad_ready_free(ready: *mut Ready) {
    if !ready.is_null() {
        drop(unsafe { Box::from_raw(ready) });
    }
}

#[no_mangle]
pub unsafe extern "C" fn cad_entries_new(entry_views: *const EntryView, count: usize) -> *mut Entries {
    let entries = unsafe { entries(entry_views, count) }.expect("entries have a kind");
    Box::into_raw(Box::new(Entries::new(entries)))
}

#[no_mangle]
pub unsafe extern "C" fn cad_entries_view(entries: *const Entries, count: *mut usize) -> *const EntryView {
    unsafe { views((*entries).views(), count) }
}

#[no_mangle]
pub unsafe extern "C" fn cad_entries_free(entries: *mut Entries) {
    if !entries.is_null() {
        drop(unsafe { Box::from_raw(entries) });
    }
}
