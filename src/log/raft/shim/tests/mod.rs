//! Tests that need what the header hides: raft-rs itself, and the store without a node.

mod crate_properties;
mod messages;
mod store_model;

use raft::eraftpb::Entry;

/// splitmix64: a test repeats from its seed.
pub struct Chance(pub u64);

impl Chance {
    pub fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    /// One of 0 .. bound - 1.
    pub fn below(&mut self, bound: u64) -> u64 {
        self.next() % bound
    }
}

pub fn entry(index: u64, term: u64, data: &[u8]) -> Entry {
    let mut entry = Entry::default();
    entry.index = index;
    entry.term = term;
    entry.data = data.to_vec().into();
    entry
}
