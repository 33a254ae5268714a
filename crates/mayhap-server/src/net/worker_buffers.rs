//! What a worker's connections share: buffers, and the time of the round.

use super::ListenOptions;
use crate::resp::Parser;
use std::time::Instant;

/// The maximum number of bytes read from one connection per round.
const READ_BYTES: usize = 64 << 10;
/// The number of reply buffers that are kept for the next round, and their maximum size.
const BUFFERS: usize = 256;
const BUFFER_BYTES: usize = 32 << 10;

pub(super) struct WorkerBuffers {
    pub(super) input: Box<[u8]>,
    pub(super) parser: Parser,
    pub(super) now: Instant,
    pub(super) limits: OutputLimits,
    buffers: Vec<Vec<u8>>,
}

#[derive(Clone, Copy)]
pub(super) struct OutputLimits {
    pub(super) soft_output: usize,
    pub(super) hard_output: usize,
}

impl WorkerBuffers {
    pub(super) fn new(listening: &ListenOptions) -> Self {
        Self {
            input: vec![0; READ_BYTES].into_boxed_slice(),
            parser: Parser::default(),
            now: Instant::now(),
            limits: OutputLimits {
                soft_output: listening.soft_output_bytes,
                hard_output: listening.hard_output_bytes,
            },
            buffers: Vec::new(),
        }
    }

    pub(super) fn take_output(&mut self) -> Vec<u8> {
        self.buffers.pop().unwrap_or_default()
    }

    pub(super) fn recycle(&mut self, mut buffer: Vec<u8>) {
        if self.buffers.len() < BUFFERS && (1..=BUFFER_BYTES).contains(&buffer.capacity()) {
            buffer.clear();
            self.buffers.push(buffer);
        }
    }
}
