//! A secret key in a file of its own: 32 hexadecimal digits for its owner only, or 16 bytes that somebody made by hand.

use mayhap::SipKey;
use std::fs::OpenOptions;
use std::io::{self, Write};
use std::path::Path;

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

#[cfg(test)]
mod tests {
    use super::{parse_key, write_key};
    use mayhap::SipKey;

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
}
