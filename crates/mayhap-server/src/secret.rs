//! The secret key of a data folder, in a file that `mayhap --key-file` reads.

use mayhap::SipKey;
use mayhap_codec::{parse_key, write_key};
use std::fs::{self, File};
use std::io::{self, ErrorKind};
use std::path::Path;

pub(crate) const FILE: &str = "secret.key";

/// The key of the folder, made if there is none.
///
/// # Errors
/// In words, with the path.
pub(crate) fn of(folder: &Path) -> Result<SipKey, String> {
    let path = folder.join(FILE);
    let told = |error: io::Error| format!("{}: {error}", path.display());
    match fs::read(&path) {
        Ok(bytes) => parse_key(&bytes).ok_or_else(|| {
            format!(
                "{} is no key: it must be 32 hexadecimal digits. Put the right one back; without it filters cannot be merged with those made before",
                path.display()
            )
        }),
        Err(error) if error.kind() == ErrorKind::NotFound => make(folder, &path).map_err(told),
        Err(error) => Err(told(error)),
    }
}

/// Whole or not at all, also when the power goes.
fn make(folder: &Path, path: &Path) -> io::Result<SipKey> {
    let mut bytes = [0; 16];
    getrandom::fill(&mut bytes).map_err(io::Error::other)?;
    let key = SipKey::new(bytes);
    let temporary = path.with_extension("tmp");
    // Somebody may have been stopped in the middle.
    let _ = fs::remove_file(&temporary);
    write_key(&temporary, key)?;
    fs::rename(&temporary, path)?;
    File::open(folder)?.sync_all()?;
    Ok(key)
}

#[cfg(test)]
mod tests {
    #[test]
    fn a_folder_keeps_its_key() {
        let folder = tempfile::tempdir().expect("a folder");
        let first = super::of(folder.path()).expect("a key");
        assert_eq!(
            super::of(folder.path()).expect("a key").to_bytes(),
            first.to_bytes()
        );
        std::fs::write(folder.path().join(super::FILE), "no key\n").expect("written");
        assert!(
            super::of(folder.path())
                .expect_err("refused")
                .contains("32 hexadecimal digits")
        );
    }
}
