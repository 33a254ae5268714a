//! Output that another thread writes: the caller goes on while the system copies the bytes.

use std::io::{self, Write};
use std::mem;
use std::sync::mpsc::{Receiver, SyncSender, sync_channel};
use std::thread::Scope;

/// One write for many lines.
const BUFFER_BYTES: usize = 256 << 10;

/// Fills one buffer while the other is written. `flush` returns when everything is written.
pub(crate) struct BackgroundWriter {
    buffer: Vec<u8>,
    full_buffers: SyncSender<Vec<u8>>,
    written_buffers: Receiver<io::Result<Vec<u8>>>,
    /// The error of a write. Every later call returns it too: the output has lost bytes.
    failure: Option<io::Error>,
}

impl BackgroundWriter {
    /// Starts the thread, which ends with the writer.
    pub(crate) fn start<'scope>(
        scope: &'scope Scope<'scope, '_>,
        out: &'scope mut (impl Write + Send),
    ) -> Self {
        let (full_buffers, to_write) = sync_channel::<Vec<u8>>(1);
        let (written, written_buffers) = sync_channel(1);
        scope.spawn(move || {
            let mut spare = Ok(Vec::new());
            while written.send(spare).is_ok() {
                let Ok(buffer) = to_write.recv() else { return };
                spare = write(buffer, out);
            }
        });
        Self {
            buffer: Vec::new(),
            full_buffers,
            written_buffers,
            failure: None,
        }
    }

    /// Waits until the previous buffer is written, and passes the current one to the thread.
    fn pass_on(&mut self) -> io::Result<()> {
        if let Some(failure) = &self.failure {
            return Err(same_error(failure));
        }
        let written = self.written_buffers.recv().map_err(io::Error::other);
        match written.flatten() {
            Ok(spare) => {
                let buffer = mem::replace(&mut self.buffer, spare);
                self.full_buffers.send(buffer).map_err(io::Error::other)
            }
            Err(failure) => {
                let reported = same_error(&failure);
                self.failure = Some(failure);
                Err(reported)
            }
        }
    }
}

impl Write for BackgroundWriter {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        // Lines stay whole where they can: the system would get the parts in two writes.
        if !self.buffer.is_empty() && self.buffer.len() + bytes.len() > BUFFER_BYTES {
            self.pass_on()?;
        }
        let accepted = bytes.len().min(BUFFER_BYTES);
        self.buffer.extend_from_slice(&bytes[..accepted]);
        Ok(accepted)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.pass_on()?;
        // An empty buffer waits for the one before it.
        self.pass_on()
    }
}

fn write(mut buffer: Vec<u8>, out: &mut impl Write) -> io::Result<Vec<u8>> {
    out.write_all(&buffer)?;
    out.flush()?;
    buffer.clear();
    Ok(buffer)
}

/// Errors cannot be cloned.
fn same_error(error: &io::Error) -> io::Error {
    match error.raw_os_error() {
        Some(code) => io::Error::from_raw_os_error(code),
        None => io::Error::new(error.kind(), error.to_string()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::thread;

    #[test]
    fn bytes_arrive_in_order_and_flush_waits_for_them() {
        let lines: Vec<Vec<u8>> = (0..2000_usize)
            .map(|number| vec![number as u8; number * 7 % 3000])
            .chain([vec![1; 3 * BUFFER_BYTES + 1], Vec::new(), vec![2]])
            .collect();
        let mut out = Vec::new();
        thread::scope(|scope| {
            let mut writer = BackgroundWriter::start(scope, &mut out);
            for line in &lines {
                writer.write_all(line).expect("memory");
            }
            writer.flush().expect("memory");
        });
        assert!(out == lines.concat());
    }

    /// Accepts some bytes, then fails once.
    struct FailsOnce {
        room: usize,
        has_failed: bool,
    }

    impl Write for FailsOnce {
        fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
            if self.room == 0 && !mem::replace(&mut self.has_failed, true) {
                return Err(io::Error::from(io::ErrorKind::StorageFull));
            }
            let accepted = bytes.len().min(self.room.max(1));
            self.room -= accepted.min(self.room);
            Ok(accepted)
        }

        fn flush(&mut self) -> io::Result<()> {
            Ok(())
        }
    }

    #[test]
    fn an_error_is_permanent() {
        let mut out = FailsOnce {
            room: 10,
            has_failed: false,
        };
        thread::scope(|scope| {
            let mut writer = BackgroundWriter::start(scope, &mut out);
            writer.write_all(&[0; 11]).expect("the buffer has room");
            for _ in 0..3 {
                let failure = writer.flush().expect_err("bytes were lost");
                assert_eq!(failure.kind(), io::ErrorKind::StorageFull);
            }
        });
    }
}
