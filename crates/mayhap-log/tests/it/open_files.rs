//! A snapshot that fails leaves a log behind. However many there are, few files are open at a time.

use mayhap_log::simulated::{SimulatedDisk, SimulatedFile};
use mayhap_log::{Disk, Fsync, Journal, JournalOptions};
use std::io;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

/// Files that are open now, and the most there were.
#[derive(Default)]
struct Open {
    now: AtomicUsize,
    most: AtomicUsize,
}

/// A disk that counts open files.
struct Counting {
    disk: SimulatedDisk,
    open: Arc<Open>,
}

struct CountedFile {
    file: SimulatedFile,
    open: Arc<Open>,
}

impl Drop for CountedFile {
    fn drop(&mut self) {
        self.open.now.fetch_sub(1, Ordering::Relaxed);
    }
}

impl Counting {
    fn count(&self, file: SimulatedFile) -> CountedFile {
        let now = self.open.now.fetch_add(1, Ordering::Relaxed) + 1;
        self.open.most.fetch_max(now, Ordering::Relaxed);
        let open = Arc::clone(&self.open);
        CountedFile { file, open }
    }
}

impl Disk for Counting {
    type File = CountedFile;

    fn list(&self) -> io::Result<Vec<String>> {
        self.disk.list()
    }

    fn create(&self, name: &str) -> io::Result<CountedFile> {
        Ok(self.count(self.disk.create(name)?))
    }

    fn open(&self, name: &str) -> io::Result<CountedFile> {
        Ok(self.count(self.disk.open(name)?))
    }

    fn rename(&self, from: &str, to: &str) -> io::Result<()> {
        self.disk.rename(from, to)
    }

    fn remove(&self, name: &str) -> io::Result<()> {
        self.disk.remove(name)
    }

    fn sync_folder(&self) -> io::Result<()> {
        self.disk.sync_folder()
    }

    fn sync_path(&self) -> io::Result<()> {
        self.disk.sync_path()
    }

    fn length(&self, file: &CountedFile) -> io::Result<u64> {
        self.disk.length(&file.file)
    }

    fn read_at(&self, file: &CountedFile, offset: u64, buffer: &mut [u8]) -> io::Result<usize> {
        self.disk.read_at(&file.file, offset, buffer)
    }

    fn write_at(&self, file: &CountedFile, offset: u64, bytes: &[u8]) -> io::Result<()> {
        self.disk.write_at(&file.file, offset, bytes)
    }

    fn set_length(&self, file: &CountedFile, length: u64) -> io::Result<()> {
        self.disk.set_length(&file.file, length)
    }

    fn sync(&self, file: &CountedFile) -> io::Result<()> {
        self.disk.sync(&file.file)
    }
}

#[test]
fn many_logs_are_read_one_after_the_other() {
    const LOGS: u64 = 200;
    let disk = SimulatedDisk::new();
    let options = JournalOptions::default()
        .fsync(Fsync::Always)
        .background(false);
    let (journal, _) = Journal::open(disk.clone(), options, |_| Ok(())).unwrap();
    for number in 0..LOGS {
        journal.append(number, b"a record").unwrap();
        // Given up: the log stays.
        drop(journal.begin_snapshot().unwrap());
    }
    journal.close().unwrap();
    let disk = disk.restart();
    assert_eq!(disk.names().len() as u64, LOGS + 1);
    let open = Arc::<Open>::default();
    let counting = Counting {
        disk,
        open: Arc::clone(&open),
    };
    let (journal, summary) = Journal::open(counting, options, |_| Ok(())).unwrap();
    assert_eq!(summary.records, LOGS);
    let most = open.most.load(Ordering::Relaxed);
    assert!(most <= 3, "{most} files were open at once");
    drop(journal);
    assert_eq!(open.now.load(Ordering::Relaxed), 0);
}
