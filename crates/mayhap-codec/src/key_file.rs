//! A secret key in a file: 32 hexadecimal digits, readable by its owner only, or 16 raw bytes.

use data_encoding::HEXLOWER_PERMISSIVE;
use mayhap_core::SipKey;
use std::fs::{self, File, OpenOptions};
use std::io::{self, ErrorKind, Write};
use std::path::Path;
use std::time::{SystemTime, UNIX_EPOCH};

/// The key in the bytes of such a file; `None` if they are something else.
pub fn parse_key(bytes: &[u8]) -> Option<SipKey> {
    if let Ok(key) = <[u8; 16]>::try_from(bytes) {
        return Some(SipKey::new(key));
    }
    let key = HEXLOWER_PERMISSIVE.decode(bytes.trim_ascii()).ok()?;
    key.try_into().ok().map(SipKey::new)
}

/// Writes a new file with a key, readable by its owner only, and syncs it.
///
/// # Errors
/// When writing fails, or the file exists.
pub fn write_key(path: impl AsRef<Path>, key: SipKey) -> io::Result<()> {
    let mut options = OpenOptions::new();
    options.write(true).create_new(true);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    let mut file = options.open(path)?;
    writeln!(file, "{:032x}", u128::from_be_bytes(key.to_bytes()))?;
    file.sync_all()
}

/// The key in a file.
///
/// # Errors
/// A message with the path.
pub fn read_key(path: impl AsRef<Path>) -> Result<SipKey, String> {
    let path = path.as_ref();
    let bytes = fs::read(path).map_err(|error| format!("{}: {error}", path.display()))?;
    parse_key(&bytes).ok_or_else(|| {
        format!(
            "{} is not a key: it must have 32 hexadecimal digits. Restore the original file: without it, new filters cannot be merged with older ones",
            path.display()
        )
    })
}

/// The key in a file. If there is none, a file with these bytes is created atomically, also if another process does the same at the
/// same time.
///
/// # Errors
/// A message with the path.
pub fn read_or_make_key(path: impl AsRef<Path>, new: [u8; 16]) -> Result<SipKey, String> {
    let path = path.as_ref();
    if path.exists() {
        return read_key(path);
    }
    create(path, SipKey::new(new)).map_err(|error| format!("{}: {error}", path.display()))?;
    read_key(path)
}

fn create(path: &Path, key: SipKey) -> io::Result<()> {
    // Processes in two containers may have the same id.
    let now = SystemTime::now()
        .duration_since(UNIX_EPOCH)
        .unwrap_or_default();
    let name = format!("{}-{}.tmp", std::process::id(), now.as_nanos());
    let temporary = path.with_extension(name);
    write_key(&temporary, key)?;
    // A hard link, unlike a rename, does not replace the file of another process.
    let linked = fs::hard_link(&temporary, path);
    let made = match linked {
        Err(error) if error.kind() != ErrorKind::AlreadyExists => fs::rename(&temporary, path),
        _ => fs::remove_file(&temporary),
    };
    let folder = path.parent().filter(|path| !path.as_os_str().is_empty());
    made.and_then(|()| File::open(folder.unwrap_or(Path::new(".")))?.sync_all())
}

#[cfg(test)]
mod tests {
    use super::{parse_key, read_key, read_or_make_key, write_key};
    use mayhap_core::SipKey;

    #[test]
    fn keys_come_back_and_nothing_else_is_one() {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("secret.key");
        let key = SipKey::new(*b"\x00ixteen secrets.");
        write_key(&path, key).expect("written");
        let bytes = std::fs::read(&path).expect("read");
        assert_eq!(parse_key(&bytes), Some(key));
        assert_eq!(parse_key(&key.to_bytes()), Some(key));
        assert!(write_key(&path, key).is_err(), "a key is not replaced");
        #[cfg(unix)]
        {
            use std::os::unix::fs::PermissionsExt;
            let mode = std::fs::metadata(&path)
                .expect("a file")
                .permissions()
                .mode();
            assert_eq!(mode & 0o777, 0o600);
        }
        for bad in [
            &b""[..],
            b"no key",
            &[b'0'; 31],
            &[b'g'; 32],
            b"+0000000000000000000000000000000",
        ] {
            assert_eq!(parse_key(bad), None, "{}", bad.escape_ascii());
        }
    }

    #[test]
    fn a_key_is_made_once() {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("secret.key");
        assert!(read_key(&path).is_err());
        let make = |number| read_or_make_key(&path, [number; 16]).expect("a key");
        let all: Vec<SipKey> = (0..4).map(make).collect();
        assert!(all.iter().all(|key| *key == all[0]));
        let files = std::fs::read_dir(folder.path()).expect("a folder");
        assert_eq!(files.count(), 1, "nothing else is left");
        std::fs::write(&path, "no key\n").expect("written");
        let refused = read_or_make_key(&path, [9; 16]).expect_err("refused");
        assert!(refused.contains("32 hexadecimal digits"), "{refused}");
    }
}
