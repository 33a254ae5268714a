//! Signals that end the program: temporary files are removed first, and a subcommand can save its state.

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, Once};

/// SIGINT, SIGTERM or SIGHUP, by number.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Signal(pub(crate) u8);

impl Signal {
    /// The status of a shell for a program that the signal ended: 130 for SIGINT, 143 for SIGTERM.
    pub(crate) fn exit_code(self) -> u8 {
        128 + self.0
    }
}

/// What to remove when the program is interrupted.
#[derive(PartialEq)]
enum TemporaryFiles {
    /// The temporary files of an output file.
    TemporariesOf(PathBuf),
    /// A file.
    File(PathBuf),
}

type Subscriber = Box<dyn FnOnce(Signal) + Send>;

static TEMPORARY_FILES: Mutex<Vec<TemporaryFiles>> = Mutex::new(Vec::new());
static SUBSCRIBER: Mutex<Option<Subscriber>> = Mutex::new(None);

/// From now on, an interrupt removes the temporary files next to `path`.
pub(crate) fn remove_temporaries_of(path: &Path) {
    remove(TemporaryFiles::TemporariesOf(path.to_path_buf()));
}

/// From now on, an interrupt removes the file at `path`.
pub(crate) fn remove_file(path: &Path) {
    remove(TemporaryFiles::File(path.to_path_buf()));
}

/// The file is kept from now on.
pub(crate) fn keep_file(path: &Path) {
    if let Ok(mut leftovers) = TEMPORARY_FILES.lock() {
        let leftover = TemporaryFiles::File(path.to_path_buf());
        leftovers.retain(|known| *known != leftover);
    }
}

/// The next signal is passed to `subscriber`, on another thread, instead of ending the program. The one after that ends it.
pub(crate) fn pass_next_to(subscriber: impl FnOnce(Signal) + Send + 'static) {
    if let Ok(mut known) = SUBSCRIBER.lock() {
        *known = Some(Box::new(subscriber));
    }
    install_handler();
}

/// Removes temporary files and ends the program.
pub(crate) fn exit(code: u8) -> ! {
    if let Ok(leftovers) = TEMPORARY_FILES.lock() {
        for leftover in leftovers.iter() {
            match leftover {
                TemporaryFiles::TemporariesOf(path) => mayhap_codec::remove_temporaries(path),
                TemporaryFiles::File(path) => drop(fs::remove_file(path)),
            }
        }
    }
    std::process::exit(code.into());
}

fn remove(leftover: TemporaryFiles) {
    if let Ok(mut leftovers) = TEMPORARY_FILES.lock() {
        leftovers.push(leftover);
    }
    install_handler();
}

fn install_handler() {
    static HANDLER: Once = Once::new();
    HANDLER.call_once(|| {
        // Without a handler, at worst a temporary file is left.
        let _ = on_signals(|signal| {
            let subscriber = SUBSCRIBER.lock().ok().and_then(|mut known| known.take());
            match subscriber {
                Some(subscriber) => subscriber(signal),
                None => exit(signal.exit_code()),
            }
        });
    });
}

/// Calls `handle` for every signal that asks the program to end, on a thread of its own.
#[cfg(unix)]
pub(crate) fn on_signals(mut handle: impl FnMut(Signal) + Send + 'static) -> std::io::Result<()> {
    use signal_hook::consts::{SIGHUP, SIGINT, SIGTERM};
    use signal_hook::iterator::Signals;
    let mut signals = Signals::new([SIGINT, SIGTERM, SIGHUP])?;
    std::thread::Builder::new()
        .name("signals".into())
        .spawn(move || {
            for number in signals.forever() {
                handle(Signal(u8::try_from(number).unwrap_or(0)));
            }
        })?;
    Ok(())
}

/// Other systems have only Ctrl-C.
#[cfg(not(unix))]
pub(crate) fn on_signals(mut handle: impl FnMut(Signal) + Send + 'static) -> std::io::Result<()> {
    const CTRL_C: Signal = Signal(2);
    ctrlc::set_handler(move || handle(CTRL_C)).map_err(std::io::Error::other)
}
