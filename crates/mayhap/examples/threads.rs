//! Many threads fill one filter without locks, while another takes snapshots of it.

#![expect(clippy::print_stdout, reason = "it is a program")]

use mayhap::SharedBloom;
use std::thread;

const KEYS_PER_THREAD: u64 = 100_000;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let seen = SharedBloom::new(4 * KEYS_PER_THREAD as usize, 0.01)?;
    let new: usize = thread::scope(|threads| {
        let workers: Vec<_> = (0..4)
            .map(|worker| {
                let seen = &seen;
                // Every thread inserts half of the next one's keys, too.
                let keys =
                    worker * KEYS_PER_THREAD..(worker + 1) * KEYS_PER_THREAD + KEYS_PER_THREAD / 2;
                threads.spawn(move || keys.filter(|&key| seen.insert_unique(key)).count())
            })
            .collect();
        // A copy of everything that is in the filter at the moment; the workers go on.
        println!("at the moment: {}", seen.snapshot()?.stats());
        Ok::<_, mayhap::PlanError>(
            workers
                .into_iter()
                .map(|worker| worker.join().unwrap_or(0))
                .sum(),
        )
    })?;
    println!("{new} keys were new, by the answers of `insert_unique`");
    println!("in the end: {}", seen.stats());
    assert!((0..4 * KEYS_PER_THREAD).all(|key| seen.contains(key)));
    // With all threads done, it becomes a plain filter in the same memory.
    let filter = seen.freeze();
    assert!(filter.contains(0_u64));
    Ok(())
}
