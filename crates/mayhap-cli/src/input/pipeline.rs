//! Processes blocks on several threads and returns the results in order.

use super::{Block, Blocks};
use crate::error::CliError;
use std::ops::ControlFlow;
use std::sync::mpsc::{Receiver, SyncSender, sync_channel};
use std::thread;

/// The maximum number of queued blocks, and of queued results.
const MAX_QUEUED_BLOCKS: usize = 1;

/// Passes every block to `work`, on `threads` threads, and the results to `take`, in order, until `take` has enough.
pub(crate) fn in_order<T: Send>(
    mut blocks: Blocks,
    threads: usize,
    work: impl Fn(Block) -> T + Sync,
    mut take: impl FnMut(T) -> Result<ControlFlow<()>, CliError>,
) -> Result<(), CliError> {
    if threads <= 1 {
        let mut block = Block::default();
        while blocks.fill(&mut block)? {
            if take(work(std::mem::take(&mut block)))?.is_break() {
                break;
            }
        }
        return Ok(());
    }
    thread::scope(|scope| {
        let (mut to_workers, mut from_workers) = (Vec::new(), Vec::new());
        for _ in 0..threads {
            let (block_in, block_out) = sync_channel::<Result<Block, CliError>>(MAX_QUEUED_BLOCKS);
            let (result_in, result_out) = sync_channel(MAX_QUEUED_BLOCKS);
            let work = &work;
            scope.spawn(move || run_worker(&block_out, &result_in, work));
            to_workers.push(block_in);
            from_workers.push(result_out);
        }
        scope.spawn(move || read_all(&mut blocks, &to_workers));
        // In the order in which the blocks were distributed.
        for results in from_workers.iter().cycle() {
            let Ok(result) = results.recv() else { break };
            if take(result?)?.is_break() {
                break;
            }
        }
        Ok(())
    })
}

fn read_all(blocks: &mut Blocks, workers: &[SyncSender<Result<Block, CliError>>]) {
    for worker in workers.iter().cycle() {
        let mut block = Block::default();
        let read = match blocks.fill(&mut block) {
            Ok(false) => return,
            Ok(true) => Ok(block),
            Err(failure) => Err(failure),
        };
        let is_end = read.is_err();
        // `take` has enough.
        if worker.send(read).is_err() || is_end {
            return;
        }
    }
}

fn run_worker<T>(
    blocks: &Receiver<Result<Block, CliError>>,
    results: &SyncSender<Result<T, CliError>>,
    work: impl Fn(Block) -> T,
) {
    for block in blocks {
        if results.send(block.map(&work)).is_err() {
            return;
        }
    }
}
