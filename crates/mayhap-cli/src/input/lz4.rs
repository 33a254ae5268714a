//! LZ4 frames, concatenated.
//!
//! The decoder reports the end after each frame, and also if a file is truncated between two blocks. Only in the second case has
//! it met the end of the file.

use lz4_flex::frame::FrameDecoder;
use std::io::{self, Read};

pub(super) struct Lz4Reader<R: Read> {
    decoder: FrameDecoder<TrackedReader<R>>,
    is_between_frames: bool,
}

impl<R: Read> Lz4Reader<R> {
    pub(super) fn new(input: R) -> Self {
        let tracked = TrackedReader {
            input,
            bytes: 0,
            is_at_end: false,
        };
        Self {
            decoder: FrameDecoder::new(tracked),
            is_between_frames: false,
        }
    }
}

impl<R: Read> Read for Lz4Reader<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        loop {
            let before = self.decoder.get_ref().bytes;
            let read = self.decoder.read(buffer)?;
            if read > 0 || buffer.is_empty() {
                self.is_between_frames = false;
                return Ok(read);
            }
            let tracked = self.decoder.get_ref();
            if !tracked.is_at_end {
                self.is_between_frames = true;
            } else if self.is_between_frames && tracked.bytes == before {
                return Ok(0);
            } else {
                return Err(io::ErrorKind::UnexpectedEof.into());
            }
        }
    }
}

/// An input that records how much was read, and whether its end was reached.
struct TrackedReader<R> {
    input: R,
    bytes: u64,
    is_at_end: bool,
}

impl<R: Read> Read for TrackedReader<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let read = self.input.read(buffer)?;
        self.bytes += read as u64;
        self.is_at_end = read == 0 && !buffer.is_empty();
        Ok(read)
    }
}
