//! The secret key of a data folder, in a file that `mayhap --key-file` reads.

use mayhap_core::SipKey;
use std::path::Path;

const FILE: &str = "secret.key";

/// The key of the folder, created if there is none.
///
/// # Errors
/// In words, with the path.
pub(crate) fn load_or_create(folder: &Path) -> Result<SipKey, String> {
    let mut new = [0; 16];
    getrandom::fill(&mut new).map_err(|error| format!("no random bytes: {error}"))?;
    mayhap_codec::read_or_make_key(folder.join(FILE), new)
}
