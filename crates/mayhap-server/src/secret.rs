//! The secret key of a data folder: 32 hexadecimal digits in a file for its owner only, as `mayhap --key-file` reads it.

use mayhap::SipKey;
use std::fs::{self, File, OpenOptions};
use std::io::{ErrorKind, Write};
use std::path::Path;

pub(crate) const FILE: &str = "secret.key";

/// The key of the folder, made if there is none.
///
/// # Errors
/// In words, with the path.
pub(crate) fn of(folder: &Path) -> Result<SipKey, String> {
    let path = folder.join(FILE);
    let told = |error: std::io::Error| format!("{}: {error}", path.display());
    match fs::read_to_string(&path) {
        Ok(text) => parse(&text).ok_or_else(|| {
            format!(
                "{} is no key: it must be 32 hexadecimal digits. Put the right one back; without it filters cannot be merged with those made before",
                path.display()
            )
        }),
        Err(error) if error.kind() == ErrorKind::NotFound => make(folder, &path).map_err(told),
        Err(error) => Err(told(error)),
    }
}

fn parse(text: &str) -> Option<SipKey> {
    let digits = text.trim();
    let is_hex = digits.len() == 32 && digits.bytes().all(|digit| digit.is_ascii_hexdigit());
    let number = u128::from_str_radix(digits, 16).ok().filter(|_| is_hex)?;
    Some(SipKey::new(number.to_be_bytes()))
}

/// Whole or not at all, also when the power goes.
fn make(folder: &Path, path: &Path) -> std::io::Result<SipKey> {
    let mut bytes = [0; 16];
    getrandom::fill(&mut bytes).map_err(std::io::Error::other)?;
    let temporary = path.with_extension("tmp");
    let mut options = OpenOptions::new();
    options.write(true).create(true).truncate(true);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    let mut file = options.open(&temporary)?;
    writeln!(file, "{:032x}", u128::from_be_bytes(bytes))?;
    file.sync_all()?;
    fs::rename(&temporary, path)?;
    File::open(folder)?.sync_all()?;
    Ok(SipKey::new(bytes))
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
