//! raft-rs behind the C ABI of include/cadastre_raft.h.
//!
//!   abi    the structs of the header          ffi    its functions, and all unsafe code
//!   image  what a node starts from            node   RawNode and our rules around it
//!   store  raft-rs's storage, from memory     ready  handles that the other side frees
//!   wire   messages before raft-rs sees them  log    lines and panics
#![deny(unsafe_op_in_unsafe_fn)]
#![warn(unused_unsafe)]
// Messages of the protobuf codec have no constructor with fields.
#![allow(clippy::field_reassign_with_default, clippy::useless_conversion)]

#[cfg(all(panic = "unwind", not(test)))]
compile_error!("build with panic = \"abort\": nothing may unwind into C++");

mod abi;
mod ffi;
mod image;
mod log;
mod node;
mod ready;
mod store;
mod wire;

#[cfg(test)]
#[path = "../tests/mod.rs"]
mod tests;
