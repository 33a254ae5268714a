//! Batches of 1,000 keys through the C interface, beside the same call in Rust.
//!
//! `c_interface [--quick] [--markdown FILE]`

#![allow(unsafe_code, reason = "it calls C functions")]

use mayhap::Bloom;
use mayhap_benchmarks::clock::cpu_ns;
use mayhap_benchmarks::keys::mix;
use mayhap_benchmarks::machine::Machine;
use mayhap_benchmarks::measure::{Contender, alternate};
use mayhap_c::{
    Filter, mayhap_contains_each, mayhap_contains_each_u64, mayhap_contains_packed, mayhap_free,
    mayhap_insert_each_u64, mayhap_open_bytes,
};
use std::ffi::c_char;
use std::fmt::Write;
use std::hint::black_box;

const BATCH: usize = 1000;

/// How many keys are queried: few enough that their texts are in the cache, as those of a caller are who has just made them.
const QUERIES: usize = 10 * BATCH;

/// How often they are queried per round, so that the clock does not matter.
const TIMES: usize = 10;

fn main() {
    let (mut page, mut rounds, mut sizes) = (None, 41, vec![10_000, 1_000_000, 10_000_000]);
    let mut arguments = std::env::args().skip(1);
    while let Some(argument) = arguments.next() {
        match argument.as_str() {
            "--quick" => (rounds, sizes) = (5, vec![10_000]),
            "--markdown" => page = Some(arguments.next().expect("a file after --markdown")),
            other => panic!("unknown argument {other}"),
        }
    }
    let machine = Machine::look(1, rounds);
    let mut out = String::new();
    let kernel = mayhap::Kernel::best();
    writeln!(
        out,
        "# The C interface\n\n{}, {}\n{}\nmayhap's kernel: {kernel}\n\n\
         Batches of {BATCH} keys in a `Bloom` at 1 %, half of them in it: ns of CPU time per key, the least of {rounds} rounds in which both take \
         turns. The same process calls the exported functions, so a program that loads the library has one jump more per batch. \
         `make bench-c` writes this page.\n\n\
         | keys in the filter | keys | Rust | C | ratio |\n| ---: | --- | ---: | ---: | ---: |",
        machine.date, machine.rustc, machine.cpu
    )
    .expect("writing to a string");
    for keys in sizes {
        measure(keys, rounds, &mut out);
    }
    print!("{out}");
    if let Some(page) = page {
        std::fs::write(page, out).expect("the page can be written");
    }
}

/// The same filter for C.
fn opened(filter: &Bloom) -> *mut Filter {
    let bytes = mayhap::to_bytes(filter).expect("bytes");
    let mut handle = std::ptr::null_mut();
    // SAFETY: the pointers are valid.
    let status = unsafe {
        mayhap_open_bytes(
            bytes.as_ptr(),
            bytes.len(),
            std::ptr::null(),
            &raw mut handle,
        )
    };
    assert_eq!(status, 0);
    handle
}

fn measure(keys: u64, rounds: usize, out: &mut String) {
    let mut rust = Bloom::new(keys as usize, 0.01).expect("enough memory");
    rust.extend(0..keys);
    rust.extend((0..keys).map(text));
    let c = opened(&rust);
    let asked: Vec<u64> = (0..QUERIES as u64).map(|at| mix(at) % (2 * keys)).collect();
    let texts: Vec<String> = asked.iter().map(|&key| text(key)).collect();
    let slices: Vec<&str> = texts.iter().map(String::as_str).collect();
    let pointers: Vec<*const c_char> = texts.iter().map(|text| text.as_ptr().cast()).collect();
    let lengths: Vec<usize> = texts.iter().map(String::len).collect();
    let packed = texts.concat();
    let mut offsets = vec![0_u64];
    offsets.extend(lengths.iter().scan(0, |end, &length| {
        *end += length as u64;
        Some(*end)
    }));
    let mut answers = [(); 2].map(|()| vec![false; BATCH]);
    let batches = || (0..TIMES).flat_map(|_| (0..QUERIES).step_by(BATCH));

    let mut pair = |name: &str,
                    rust_turn: &mut dyn FnMut(usize, &mut [bool]),
                    c_turn: &mut dyn FnMut(usize, &mut [bool])| {
        // Both give the same answers.
        for first in batches() {
            let [ours, theirs] = &mut answers;
            rust_turn(first, ours);
            c_turn(first, theirs);
            assert!(ours == theirs || name.starts_with("insert"));
        }
        let [mut found, mut other] = answers.clone();
        let least = alternate(
            rounds,
            &mut [
                Contender::new("Rust", |_| {
                    cpu_ns(|| batches().for_each(|first| rust_turn(first, black_box(&mut found))))
                }),
                Contender::new("C", |_| {
                    cpu_ns(|| batches().for_each(|first| c_turn(first, black_box(&mut other))))
                }),
            ],
        );
        let [ours, theirs] = [least[0], least[1]].map(|ns| ns / (TIMES * QUERIES) as f64);
        writeln!(
            out,
            "| {keys} | {name} | {ours:.2} | {theirs:.2} | {:.2} |",
            theirs / ours
        )
        .expect("writing to a string");
    };

    pair(
        "integers",
        &mut |first, found| rust.contains_each(&asked[first..first + BATCH], found),
        &mut |first, found| {
            // SAFETY: the pointers are valid.
            unsafe {
                mayhap_contains_each_u64(c, asked[first..].as_ptr(), BATCH, found.as_mut_ptr());
            }
        },
    );
    pair(
        "texts of 36 bytes, pointers",
        &mut |first, found| rust.contains_each(&slices[first..first + BATCH], found),
        &mut |first, found| {
            let (keys, lengths) = (pointers[first..].as_ptr(), lengths[first..].as_ptr());
            // SAFETY: the pointers are valid.
            unsafe { mayhap_contains_each(c, keys, lengths, BATCH, found.as_mut_ptr()) };
        },
    );
    pair(
        "texts of 36 bytes, packed",
        &mut |first, found| rust.contains_each(&slices[first..first + BATCH], found),
        &mut |first, found| {
            let (bytes, offsets) = (packed.as_ptr().cast(), offsets[first..].as_ptr());
            // SAFETY: the pointers are valid.
            unsafe { mayhap_contains_packed(c, bytes, offsets, BATCH, found.as_mut_ptr()) };
        },
    );
    let mut filled = rust.clone();
    pair(
        "insert integers",
        &mut |first, _| filled.extend(&asked[first..first + BATCH]),
        &mut |first, _| {
            // SAFETY: the pointers are valid.
            unsafe {
                mayhap_insert_each_u64(c, asked[first..].as_ptr(), BATCH, std::ptr::null_mut());
            }
        },
    );
    // SAFETY: it is not used any more.
    unsafe { mayhap_free(c) };
}

/// A text of 36 characters, as a UUID has.
fn text(key: u64) -> String {
    format!("{:016x}-{:019x}", mix(key), key)
}
