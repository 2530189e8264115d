//! Sets of sets.txt written and read with RoaringTreemap, of the release named first. See ../README.md.
//!
//!   interchange 0.12|0.10|0.9 make SETS FOLDER
//!   interchange 0.12|0.10|0.9 read FILE...

use std::{convert::identity, env, fs, path::Path};

fn splitmix64(state: &mut u64) -> u64 {
    *state = state.wrapping_add(0x9e3779b97f4a7c15);
    let mut z = *state;
    z = (z ^ (z >> 30)).wrapping_mul(0xbf58476d1ce4e5b9);
    z = (z ^ (z >> 27)).wrapping_mul(0x94d049bb133111eb);
    z ^ (z >> 31)
}

fn number(word: &str) -> u64 {
    word.parse().expect("a number below 2^64")
}

// All releases have the same interface here, in different types.
macro_rules! over_release {
    ($name:ident, $treemap:ty, $optimised:expr) => {
        mod $name {
            use super::*;

            fn apply(set: $treemap, words: &[&str]) -> $treemap {
                let mut set = set;
                match words[0] {
                    "add" | "remove" => {
                        let (mut id, step) = (number(words[1]), number(words[2]));
                        for _ in 0..number(words[3]) {
                            if words[0] == "add" {
                                set.insert(id);
                            } else {
                                set.remove(id);
                            }
                            id = id.wrapping_add(step);
                        }
                    }
                    "random" => {
                        let mut state = number(words[1]);
                        for _ in 0..number(words[2]) {
                            set.insert(splitmix64(&mut state));
                        }
                    }
                    "optimise" => set = $optimised(set),
                    other => panic!("no such rule: {other}"),
                }
                set
            }

            fn write(folder: &Path, name: &str, set: &$treemap) {
                let mut bytes = Vec::new();
                set.serialize_into(&mut bytes).unwrap();
                fs::write(folder.join(format!("{name}.bin")), bytes).unwrap();
            }

            pub fn make_files(sets: &str, folder: &Path) {
                let rules = fs::read_to_string(sets).unwrap();
                let mut name = String::new();
                let mut set = <$treemap>::new();
                for line in rules.lines() {
                    let words: Vec<&str> = line.split_whitespace().collect();
                    if words.is_empty() || words[0] == "#" {
                        continue;
                    }
                    if words[0] != "set" {
                        set = apply(set, &words);
                        continue;
                    }
                    if !name.is_empty() {
                        write(folder, &name, &set);
                    }
                    name = words[1].to_string();
                    set = <$treemap>::new();
                }
                write(folder, &name, &set);
            }

            // Cardinality, and FNV-1a over the members as little-endian bytes, ascending.
            fn describe(set: &$treemap) -> String {
                let (mut hash, mut count) = (0xcbf29ce484222325u64, 0u64);
                for id in set.iter() {
                    count += 1;
                    for byte in id.to_le_bytes() {
                        hash = (hash ^ u64::from(byte)).wrapping_mul(0x100000001b3);
                    }
                }
                if count != set.len() {
                    return format!("inconsistent: {count} members, cardinality {}", set.len());
                }
                format!("{count} {hash:016x}")
            }

            pub fn read_file(path: &str) -> String {
                let bytes = fs::read(path).unwrap();
                match <$treemap>::deserialize_from(&bytes[..]) {
                    Ok(set) => describe(&set),
                    Err(error) => format!("refused: {error}"),
                }
            }
        }
    };
}

// A treemap has no optimise of its own; its bitmaps have.
fn with_runs(set: roaring::RoaringTreemap) -> roaring::RoaringTreemap {
    roaring::RoaringTreemap::from_bitmaps(set.bitmaps().map(|(high, bitmap)| {
        let mut bitmap = bitmap.clone();
        bitmap.optimize();
        (high, bitmap)
    }))
}

over_release!(release_0_12, roaring::RoaringTreemap, with_runs);
over_release!(release_0_10, roaring_0_10::RoaringTreemap, identity);
over_release!(release_0_9, roaring_0_9::RoaringTreemap, identity);

type Makes = fn(&str, &Path);
type Reads = fn(&str) -> String;

fn main() {
    let words: Vec<String> = env::args().skip(1).collect();
    let (make_files, read_file): (Makes, Reads) = match words[0].as_str() {
        "0.12" => (release_0_12::make_files, release_0_12::read_file),
        "0.10" => (release_0_10::make_files, release_0_10::read_file),
        "0.9" => (release_0_9::make_files, release_0_9::read_file),
        other => panic!("no such release: {other}"),
    };
    if words[1] == "make" {
        make_files(&words[2], Path::new(&words[3]));
        return;
    }
    for path in &words[2..] {
        let answer = std::panic::catch_unwind(|| read_file(path));
        println!(
            "{path}\t{}",
            answer.unwrap_or_else(|_| "panics".to_string())
        );
    }
}
