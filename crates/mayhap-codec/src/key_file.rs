//! A secret key in a file of its own: 32 hexadecimal digits for its owner only, or 16 bytes that somebody made by hand.

use mayhap_core::SipKey;
use std::fs::{self, File, OpenOptions};
use std::io::{self, ErrorKind, Write};
use std::path::Path;
use std::time::{SystemTime, UNIX_EPOCH};

/// The key in the bytes of such a file; none when they are something else.
pub fn parse_key(bytes: &[u8]) -> Option<SipKey> {
    if let Ok(key) = <[u8; 16]>::try_from(bytes) {
        return Some(SipKey::new(key));
    }
    let digits = std::str::from_utf8(bytes.trim_ascii()).ok()?;
    let is_hex = digits.len() == 32 && digits.bytes().all(|digit| digit.is_ascii_hexdigit());
    let number = u128::from_str_radix(digits, 16).ok()?;
    is_hex.then(|| SipKey::new(number.to_be_bytes()))
}

/// Writes a new file with a key, for its owner only, and waits until it is on the disk.
///
/// # Errors
/// The disk's; when there is such a file already.
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
/// In words, with the path.
pub fn read_key(path: impl AsRef<Path>) -> Result<SipKey, String> {
    let path = path.as_ref();
    let bytes = fs::read(path).map_err(|error| format!("{}: {error}", path.display()))?;
    parse_key(&bytes).ok_or_else(|| {
        format!(
            "{} is no key: it must be 32 hexadecimal digits. Put the right one back; without it filters cannot be merged with those made before",
            path.display()
        )
    })
}

/// The key in a file, which is made of these bytes if there is none: whole or not at all, also when the power goes or somebody else
/// makes it at the same moment.
///
/// # Errors
/// In words, with the path.
pub fn read_or_make_key(path: impl AsRef<Path>, new: [u8; 16]) -> Result<SipKey, String> {
    let path = path.as_ref();
    if path.exists() {
        return read_key(path);
    }
    make(path, SipKey::new(new)).map_err(|error| format!("{}: {error}", path.display()))?;
    read_key(path)
}

fn make(path: &Path, key: SipKey) -> io::Result<()> {
    // Two containers may have the same number for their processes.
    let now = SystemTime::now()
        .duration_since(UNIX_EPOCH)
        .unwrap_or_default();
    let name = format!("{}-{}.tmp", std::process::id(), now.as_nanos());
    let temporary = path.with_extension(name);
    write_key(&temporary, key)?;
    // A link, unlike a new name, does not replace what another has made.
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
