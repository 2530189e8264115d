//! Lines of raft-rs, and what happens when it panics.
//!
//! slog's records go through the callback as one line of text, at info and above. A panic is told through the
//! callback of the node whose call it broke, with group, node, place and frames; then the process aborts (L-36).

use crate::abi::LOG_PANIC;
use crate::ffi::Callbacks;
use slog::{Drain, Key, Never, OwnedKVList, Record, Serializer, KV};
use std::cell::Cell;
use std::fmt::{self, Write};
use std::sync::Once;

pub struct CallbackDrain(pub Callbacks);

struct Line(String);

impl Serializer for Line {
    fn emit_arguments(&mut self, key: Key, value: &fmt::Arguments) -> slog::Result {
        write!(self.0, " {}={}", key, value).map_err(|_| slog::Error::Other)
    }
}

impl Drain for CallbackDrain {
    type Ok = ();
    type Err = Never;

    fn log(&self, record: &Record, values: &OwnedKVList) -> Result<(), Never> {
        if !record.level().is_at_least(slog::Level::Info) {
            return Ok(());
        }
        let mut line = Line(record.msg().to_string());
        // Writing into a string cannot fail; a value that refuses to be printed is left out.
        let _ = record.kv().serialize(record, &mut line);
        let _ = values.serialize(record, &mut line);
        self.0.log(record.level().as_usize() as u32, &line.0);
        Ok(())
    }
}

/// The node whose call runs on this thread.
#[derive(Clone, Copy)]
pub struct Caller {
    pub group: u64,
    pub id: u64,
    pub callbacks: Callbacks,
}

thread_local!(static CALLER: Cell<Option<Caller>> = const { Cell::new(None) });

/// Runs `call` with `caller` as the one to tell of a panic.
pub fn on_behalf_of<R>(caller: Caller, call: impl FnOnce() -> R) -> R {
    CALLER.with(|current| current.set(Some(caller)));
    let result = call();
    CALLER.with(|current| current.set(None));
    result
}

/// Once for the process.
pub fn install_panic_hook() {
    static INSTALLED: Once = Once::new();
    INSTALLED.call_once(|| {
        std::panic::set_hook(Box::new(|panic| {
            let caller = CALLER.with(|current| current.take());
            let mut text = String::from("raft-rs panicked");
            if let Some(caller) = &caller {
                let _ = write!(text, " in group {} on node {}", caller.group, caller.id);
            }
            let _ = write!(text, ": {}", panic);
            for frame in crate::ffi::frames() {
                let _ = write!(text, "\n  {}", frame);
            }
            eprintln!("{}", text);
            if let Some(caller) = &caller {
                caller.callbacks.log(LOG_PANIC, &text);
            }
        }));
    });
}
