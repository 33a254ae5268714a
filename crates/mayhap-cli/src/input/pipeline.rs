//! Blocks through several threads, and out again in their order.

use super::{Block, Blocks};
use crate::failure::Failure;
use std::ops::ControlFlow;
use std::sync::mpsc::{Receiver, SyncSender, sync_channel};
use std::thread;

/// Blocks that wait for a thread, and results that wait to be taken.
const WAITING: usize = 1;

/// Hands every block to `work`, on `threads` threads, and what comes of it to `take`, in order, until that has enough.
pub(crate) fn in_order<T: Send>(
    mut blocks: Blocks,
    threads: usize,
    work: impl Fn(Block) -> T + Sync,
    mut take: impl FnMut(T) -> Result<ControlFlow<()>, Failure>,
) -> Result<(), Failure> {
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
            let (block_in, block_out) = sync_channel::<Result<Block, Failure>>(WAITING);
            let (result_in, result_out) = sync_channel(WAITING);
            let work = &work;
            scope.spawn(move || work_through(&block_out, &result_in, work));
            to_workers.push(block_in);
            from_workers.push(result_out);
        }
        scope.spawn(move || read_all(&mut blocks, &to_workers));
        // Turn by turn, as the blocks were handed out.
        for results in from_workers.iter().cycle() {
            let Ok(result) = results.recv() else { break };
            if take(result?)?.is_break() {
                break;
            }
        }
        Ok(())
    })
}

fn read_all(blocks: &mut Blocks, workers: &[SyncSender<Result<Block, Failure>>]) {
    for worker in workers.iter().cycle() {
        let mut block = Block::default();
        let read = match blocks.fill(&mut block) {
            Ok(false) => return,
            Ok(true) => Ok(block),
            Err(failure) => Err(failure),
        };
        let is_end = read.is_err();
        // Nobody takes it any more: they have enough.
        if worker.send(read).is_err() || is_end {
            return;
        }
    }
}

fn work_through<T>(
    blocks: &Receiver<Result<Block, Failure>>,
    results: &SyncSender<Result<T, Failure>>,
    work: impl Fn(Block) -> T,
) {
    for block in blocks {
        if results.send(block.map(&work)).is_err() {
            return;
        }
    }
}
