//! The roaring facade of redb-extras (one blob for each key) behind the C interface of
//! `redb_extras_peer.h`. Every call goes through the facade's own methods. A call that fails ends the
//! process: there is nothing to measure then.

use std::ffi::c_void;
use std::path::Path;
use std::slice;
use std::sync::Arc;

use redb::{Database, Durability, ReadOnlyTable, ReadableDatabase, Table, TableDefinition};
use redb::{TableError, WriteTransaction};
use redb_extras::roaring::{RoaringValue, RoaringValueReadOnlyTable, RoaringValueTable};

type Key = &'static [u8];

const SETS: TableDefinition<Key, RoaringValue> = TableDefinition::new("sets");
const BLOCK_IDS: usize = 1024;

/// The table of a transaction under way.
struct Writing {
    table: Option<Table<'static, Key, RoaringValue>>, // None only while it ends.
    transaction: Box<WriteTransaction>,
}

pub struct Store {
    database: Arc<Database>,
    durability: Durability,
    writing: Option<Writing>,
}

pub struct Reader {
    database: Arc<Database>,
    table: Option<ReadOnlyTable<Key, RoaringValue>>, // None until a set was stored.
}

impl Store {
    fn begin(&mut self) {
        let mut transaction = Box::new(self.database.begin_write().expect("begin"));
        transaction.set_durability(self.durability).expect("durability");
        // SAFETY: the transaction is boxed and does not move, and `commit` drops the table first.
        let borrowed: &'static WriteTransaction = unsafe { &*(&raw const *transaction) };
        let table = Some(borrowed.open_table(SETS).expect("table"));
        self.writing = Some(Writing { table, transaction });
    }

    fn table(&mut self) -> &mut Table<'static, Key, RoaringValue> {
        let writing = self.writing.as_mut().expect("a transaction was begun");
        writing.table.as_mut().expect("and has not ended")
    }

    fn commit(&mut self) {
        let mut writing = self.writing.take().expect("a transaction was begun");
        drop(writing.table.take());
        writing.transaction.commit().expect("commit");
    }
}

impl Reader {
    fn renew(&mut self) {
        let transaction = self.database.begin_read().expect("begin");
        self.table = match transaction.open_table(SETS) {
            Ok(table) => Some(table),
            Err(TableError::TableDoesNotExist(_)) => None,
            Err(error) => panic!("{error}"),
        };
    }
}

/// Of a set that does not exist: what the facade answers for a key that was never stored.
macro_rules! ask {
    ($reader:expr, $absent:expr, |$table:ident| $answer:expr) => {
        match (*$reader).table.as_ref() {
            None => $absent,
            Some($table) => $answer,
        }
    };
}

unsafe fn bytes<'a>(data: *const u8, size: usize) -> &'a [u8] {
    slice::from_raw_parts(data, size)
}

unsafe fn ids<'a>(data: *const u64, count: usize) -> &'a [u64] {
    if count == 0 { &[] } else { slice::from_raw_parts(data, count) }
}

/// Versions of what is measured, as "name version, name version"; `out` has room for `size` bytes.
/// Answers how many there are.
#[no_mangle]
pub unsafe extern "C" fn redb_peer_versions(out: *mut u8, size: usize) -> usize {
    let wanted = ["redb", "redb-extras", "roaring"];
    let mut versions = Vec::new();
    let mut lines = include_str!("../Cargo.lock").lines();
    while let Some(line) = lines.next() {
        let Some(name) = line.strip_prefix("name = ") else { continue };
        let name = name.trim_matches('"');
        let version = lines.next().and_then(|line| line.strip_prefix("version = "));
        if wanted.contains(&name) {
            versions.push(format!("{name} {}", version.unwrap_or("?").trim_matches('"')));
        }
    }
    let text = versions.join(", ");
    let copied = text.len().min(size);
    std::ptr::copy_nonoverlapping(text.as_ptr(), out, copied);
    copied
}

#[no_mangle]
pub unsafe extern "C" fn redb_peer_open(path: *const u8, size: usize) -> *mut Store {
    let path = std::str::from_utf8(bytes(path, size)).expect("a path is text");
    let database = Database::create(Path::new(path)).expect("open");
    let durability = Durability::None;
    Box::into_raw(Box::new(Store { database: Arc::new(database), durability, writing: None }))
}

#[no_mangle]
pub unsafe extern "C" fn redb_peer_close(store: *mut Store) {
    drop(Box::from_raw(store));
}

#[no_mangle]
pub unsafe extern "C" fn redb_peer_set_durable(store: *mut Store, durable: bool) {
    (*store).durability = if durable { Durability::Immediate } else { Durability::None };
}

#[no_mangle]
pub unsafe extern "C" fn redb_peer_begin(store: *mut Store) {
    (*store).begin();
}

#[no_mangle]
pub unsafe extern "C" fn redb_peer_commit(store: *mut Store) {
    (*store).commit();
}

#[no_mangle]
pub unsafe extern "C" fn redb_peer_insert(store: *mut Store, key: *const u8, size: usize, id: u64) {
    (*store).table().insert_member(bytes(key, size), id).expect("insert");
}

#[no_mangle]
pub unsafe extern "C" fn redb_peer_insert_many(
    store: *mut Store,
    key: *const u8,
    size: usize,
    data: *const u64,
    count: usize,
) {
    let members = ids(data, count).iter().copied();
    (*store).table().insert_members(bytes(key, size), members).expect("insert");
}

#[no_mangle]
pub unsafe extern "C" fn redb_peer_remove_many(
    store: *mut Store,
    key: *const u8,
    size: usize,
    data: *const u64,
    count: usize,
) {
    let members = ids(data, count).iter().copied();
    (*store).table().remove_members(bytes(key, size), members).expect("remove");
}

/// Bytes of pages in use. What was committed without being flushed is flushed first.
#[no_mangle]
pub unsafe extern "C" fn redb_peer_live_bytes(store: *mut Store) -> u64 {
    for _ in 0..2 {
        // The second one frees what the first one no longer needs.
        let mut flush = (*store).database.begin_write().expect("begin");
        flush.set_durability(Durability::Immediate).expect("durability");
        flush.commit().expect("commit");
    }
    let transaction = (*store).database.begin_write().expect("begin");
    let stats = transaction.stats().expect("stats");
    let live = stats.allocated_pages() * stats.page_size() as u64;
    transaction.abort().expect("abort");
    live
}

#[no_mangle]
pub unsafe extern "C" fn redb_peer_reader(store: *mut Store) -> *mut Reader {
    let mut reader = Reader { database: Arc::clone(&(*store).database), table: None };
    reader.renew();
    Box::into_raw(Box::new(reader))
}

#[no_mangle]
pub unsafe extern "C" fn redb_peer_end_reader(reader: *mut Reader) {
    drop(Box::from_raw(reader));
}

#[no_mangle]
pub unsafe extern "C" fn redb_peer_renew(reader: *mut Reader) {
    (*reader).renew();
}

#[no_mangle]
pub unsafe extern "C" fn redb_peer_contains(
    reader: *const Reader,
    key: *const u8,
    size: usize,
    id: u64,
) -> bool {
    ask!(reader, false, |table| {
        table.contains_member(bytes(key, size), id).expect("contains")
    })
}

/// How many of these are in the set, which is decoded once.
#[no_mangle]
pub unsafe extern "C" fn redb_peer_count_present(
    reader: *const Reader,
    key: *const u8,
    size: usize,
    data: *const u64,
    count: usize,
) -> u64 {
    ask!(reader, 0, |table| {
        let set = table.get_bitmap(bytes(key, size)).expect("get");
        ids(data, count).iter().filter(|id| set.contains(**id)).count() as u64
    })
}

#[no_mangle]
pub unsafe extern "C" fn redb_peer_count(reader: *const Reader, key: *const u8, size: usize) -> u64 {
    ask!(reader, 0, |table| table.get_member_count(bytes(key, size)).expect("count"))
}

/// Calls `visit(context, ids, count)` for the ids from `first` to `last`, in blocks.
#[no_mangle]
pub unsafe extern "C" fn redb_peer_visit(
    reader: *const Reader,
    key: *const u8,
    size: usize,
    first: u64,
    last: u64,
    visit: extern "C" fn(*mut c_void, *const u64, usize),
    context: *mut c_void,
) {
    ask!(reader, (), |table| {
        let set = table.get_bitmap(bytes(key, size)).expect("get");
        let mut members = set.iter();
        if first != 0 {
            members.advance_to(first);
        }
        let mut block = Vec::with_capacity(BLOCK_IDS);
        for id in members {
            if id > last {
                break;
            }
            block.push(id);
            if block.len() == BLOCK_IDS {
                visit(context, block.as_ptr(), block.len());
                block.clear();
            }
        }
        if !block.is_empty() {
            visit(context, block.as_ptr(), block.len());
        }
    })
}

/// `operation` is 0 for the intersection, 1 for the union, 2 for the difference.
#[no_mangle]
pub unsafe extern "C" fn redb_peer_count_of(
    reader: *const Reader,
    operation: u32,
    a: *const u8,
    a_size: usize,
    b: *const u8,
    b_size: usize,
) -> u64 {
    ask!(reader, 0, |table| {
        let a = table.get_bitmap(bytes(a, a_size)).expect("get");
        let b = table.get_bitmap(bytes(b, b_size)).expect("get");
        match operation {
            0 => a.intersection_len(&b),
            1 => a.union_len(&b),
            2 => a.difference_len(&b),
            _ => panic!("there are three operations"),
        }
    })
}
