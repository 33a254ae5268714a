//! Converts the items of a command to the keys of a served file: `42` to the eight bytes that a file of 64-bit integers contains.
//!
//! A native file can store its key type, and a Parquet file stores that of each column. For other files the client appends the
//! type to the name, as in `users.guava#i64`. Keys of the server have no key type: their items are always bytes.

use mayhap_codec::{KeyReader, KeyType, OpenedFilter, Parameters};

/// Splits `users.guava#i64` into the name of a file and a key type; `None` if the name does not end with a key type.
pub(crate) fn split_key_type(name: &[u8]) -> Option<(&[u8], KeyType)> {
    let at = name.iter().rposition(|&byte| byte == b'#')?;
    let key_type = KeyType::from_name(str::from_utf8(&name[at + 1..]).ok()?)?;
    Some((&name[..at], key_type))
}

/// What a file stores about its keys.
pub(crate) struct FileItems {
    key_type: Option<KeyType>,
    /// For clients that give no key type.
    reader: KeyReader,
}

impl FileItems {
    pub(crate) fn new(opened: &OpenedFilter) -> Self {
        let key_type = opened.filter.key_type();
        let parameters = Parameters::defaults(opened.filter.format());
        let reader = opened
            .key_reader(&parameters, key_type.unwrap_or_default())
            .expect("only given parameters can be wrong");
        Self { key_type, reader }
    }

    /// The key type, if the file stores it.
    pub(crate) fn key_type(&self) -> Option<KeyType> {
        self.key_type
    }

    /// The keys of some items, for a client that gave this key type. `None` if the keys are the items themselves.
    pub(crate) fn keys(
        &self,
        items: &[&[u8]],
        given: Option<KeyType>,
    ) -> Result<Option<Vec<Vec<u8>>>, String> {
        let of_client;
        let reader = match given {
            None => &self.reader,
            Some(given) => {
                if let Some(stored) = self.key_type.filter(|stored| *stored != given) {
                    return Err(format!(
                        "ERR the keys of this file are of type {stored}: leave out '#{given}'"
                    ));
                }
                of_client = self.reader.with_key_type(given);
                &of_client
            }
        };
        if reader.is_verbatim() {
            return Ok(None);
        }
        let keys = items.iter().map(|item| reader.read(item));
        let keys: Result<_, _> = keys.collect();
        keys.map(Some).map_err(|error| format!("ERR {error}"))
    }
}
