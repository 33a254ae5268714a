//! Filter files of any format in the data folder: served by name, read-only, and swapped when the file is replaced.
//!
//! A file is read into memory, so that changing it on disk cannot affect a running query. A file that cannot be read, or is not
//! a filter, is reported once, and the previous version of that name stays in service.

use crate::file_items::{FileItems, split_key_type};
use mayhap_codec::{Description, KeyType, Limits, OpenOptions, OpenedFilter, StoredFilter, open};
use mayhap_command::{GenericQuery, Query, Reply};
use mayhap_core::SipKey;
use parking_lot::{Mutex, RwLock};
use std::collections::{HashMap, HashSet};
use std::fs::{self, Metadata};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::SystemTime;

/// The reply of `TYPE`.
pub(crate) const TYPE_NAME: &str = "mayhap-file";
pub(crate) const READ_ONLY: &str =
    "READONLY this is a filter file in the data folder: replace the file to change it";

pub(crate) const NOT_A_SOURCE: &str = "ERR this is a filter file in the data folder: it can be asked, not copied, merged, renamed or dumped. `mayhap merge` merges files";

/// A filter from a file.
pub(crate) struct ServedFile {
    pub(crate) file: String,
    pub(crate) filter: StoredFilter,
    /// Computed once, because it reads all bits and they do not change.
    pub(crate) description: Description,
    items: FileItems,
}

type Named = Vec<(Box<[u8]>, OpenedFilter)>;

fn is_temporary(name: &str) -> bool {
    Path::new(name)
        .extension()
        .is_some_and(|extension| extension == "tmp")
}

/// Identifies one version of a file.
#[derive(Clone, PartialEq, Eq)]
struct FileVersion {
    modified: Option<SystemTime>,
    length: u64,
    number: u64,
}

impl FileVersion {
    fn from_metadata(metadata: &Metadata) -> Self {
        #[cfg(unix)]
        let number = std::os::unix::fs::MetadataExt::ino(metadata);
        #[cfg(not(unix))]
        let number = 0;
        Self {
            modified: metadata.modified().ok(),
            length: metadata.len(),
            number,
        }
    }
}

pub(crate) struct ServedFiles {
    folder: PathBuf,
    /// Opens the files that the server exported.
    secret: SipKey,
    /// The maximum size of a file.
    max_bytes: AtomicU64,
    has_any: AtomicBool,
    served: RwLock<HashMap<Box<[u8]>, Arc<ServedFile>>>,
    /// The size of all served filters.
    used: AtomicU64,
    seen: Mutex<HashMap<String, FileVersion>>,
}

impl ServedFiles {
    pub(crate) fn new(folder: &Path, secret: SipKey, limits: Limits) -> Self {
        Self {
            folder: folder.to_owned(),
            secret,
            max_bytes: AtomicU64::new(limits.max_bytes),
            has_any: AtomicBool::new(false),
            served: RwLock::default(),
            used: AtomicU64::new(0),
            seen: Mutex::default(),
        }
    }

    /// Applies the setting. Files that were rejected for their size are tried again.
    pub(crate) fn set_max_bytes(&self, most: u64) {
        if self.max_bytes.swap(most, Ordering::Relaxed) < most {
            let served: HashSet<String> = {
                let served = self.served.read();
                served.values().map(|served| served.file.clone()).collect()
            };
            self.seen.lock().retain(|name, _| served.contains(name));
        }
    }

    /// Whether any file is served. Usually there is none, and callers need not look further.
    #[inline]
    pub(crate) fn has_any(&self) -> bool {
        self.has_any.load(Ordering::Relaxed)
    }

    pub(crate) fn contains(&self, name: &[u8]) -> bool {
        self.has_any() && self.get(name).is_some()
    }

    /// The filter of this name, which may end with a key type.
    pub(crate) fn get(&self, name: &[u8]) -> Option<Arc<ServedFile>> {
        self.get_with_key_type(name).map(|(served, _)| served)
    }

    fn get_with_key_type(&self, name: &[u8]) -> Option<(Arc<ServedFile>, Option<KeyType>)> {
        let served = self.served.read();
        if let Some(found) = served.get(name) {
            return Some((Arc::clone(found), None));
        }
        let (name, key_type) = split_key_type(name)?;
        Some((Arc::clone(served.get(name)?), Some(key_type)))
    }

    pub(crate) fn names(&self) -> Vec<Box<[u8]>> {
        if !self.has_any() {
            return Vec::new();
        }
        self.served.read().keys().cloned().collect()
    }

    /// All names, in order.
    pub(crate) fn all(&self) -> Vec<(String, Arc<ServedFile>)> {
        let served = self.served.read();
        let mut all: Vec<_> = served
            .iter()
            .map(|(name, served)| {
                (
                    String::from_utf8_lossy(name).into_owned(),
                    Arc::clone(served),
                )
            })
            .collect();
        all.sort_by(|one, other| one.0.cmp(&other.0));
        all
    }

    /// Bytes of memory that served files take.
    pub(crate) fn used_bytes(&self) -> u64 {
        self.used.load(Ordering::Relaxed)
    }

    /// Bytes of memory that one file takes now.
    fn bytes_of(&self, file: &str) -> u64 {
        let served = self.served.read();
        let of_file = served.iter().filter(|(_, served)| served.file == file);
        // A filter with two names counts once.
        let sizes: HashMap<_, _> = of_file
            .map(|(_, served)| (Arc::as_ptr(served), served.description.stats.size_bytes))
            .collect();
        sizes.values().sum()
    }

    /// Whether a file of this name and size can be served. `room` is the memory that files and keys may still take.
    pub(crate) fn check_room(&self, name: &str, bytes: u64, room: u64) -> Result<(), String> {
        let needed = bytes.saturating_sub(self.bytes_of(name));
        if needed > room {
            return Err(format!(
                "the file {name} would be served from the data folder and take {needed} bytes, and {room} are left of 'maxmemory'"
            ));
        }
        Ok(())
    }

    /// Scans the folder for new, replaced and removed files. `room` returns the memory that files and keys may still take.
    pub(crate) fn scan(&self, room: impl Fn() -> u64) {
        let mut seen = self.seen.lock();
        let found = self.changed_files();
        let gone: Vec<String> = seen
            .keys()
            .filter(|name| !found.contains_key(*name))
            .cloned()
            .collect();
        for name in gone {
            seen.remove(&name);
            self.swap(&name, Vec::new());
        }
        for (name, mark) in found {
            if seen.get(&name) == Some(&mark) {
                continue;
            }
            let read = self
                .check_room(&name, mark.length, room())
                .and_then(|()| self.read(&name));
            match read {
                Ok(filters) => self.swap(&name, filters),
                Err(error) => {
                    crate::report(&format!("{name} in the data folder is not served: {error}"));
                }
            }
            seen.insert(name, mark);
        }
    }

    fn changed_files(&self) -> HashMap<String, FileVersion> {
        let mut found = HashMap::new();
        let Ok(entries) = fs::read_dir(&self.folder) else {
            return found;
        };
        for entry in entries.flatten() {
            let name = entry.file_name().to_string_lossy().into_owned();
            let is_unfinished = name.starts_with('.') || name.ends_with('~') || is_temporary(&name);
            if is_unfinished {
                continue;
            }
            // Follows symbolic links.
            if let Ok(metadata) = fs::metadata(entry.path())
                && metadata.is_file()
            {
                found.insert(name, FileVersion::from_metadata(&metadata));
            }
        }
        found
    }

    fn read(&self, name: &str) -> Result<Named, String> {
        let path = self.folder.join(name);
        let length = fs::metadata(&path)
            .map_err(|error| error.to_string())?
            .len();
        let limits = Limits {
            max_bytes: self.max_bytes.load(Ordering::Relaxed),
        };
        if length > limits.max_bytes {
            return Err(format!(
                "it has {length} bytes, and one filter may take {}: set mayhap-max-filter-bytes",
                limits.max_bytes
            ));
        }
        let bytes = fs::read(&path).map_err(|error| error.to_string())?;
        let opening = OpenOptions {
            key: Some(self.secret),
            file_name: Some(name.to_owned()),
            limits,
            ..OpenOptions::default()
        };
        let mut filters = open(&bytes, &opening).map_err(|error| error.to_string())?;
        for found in &filters {
            let checked = found.filter.check_keys();
            checked.map_err(|error| error.to_string())?;
        }
        if filters.len() == 1 {
            return Ok(vec![(name.as_bytes().into(), filters.remove(0))]);
        }
        // A filter in a container is named by its position.
        let named = filters.into_iter().map(|found| {
            let place = match &found.location.key {
                Some(key) => key.clone(),
                None => found.location.to_string().into_bytes(),
            };
            let name = [name.as_bytes(), b":", &place].concat();
            (name.into(), found)
        });
        Ok(named.collect())
    }

    /// Replaces the filters of a file.
    fn swap(&self, file: &str, filters: Named) {
        let mut served = self.served.write();
        served.retain(|_, served| served.file != file);
        for (name, opened) in filters {
            let one = Arc::new(ServedFile {
                file: file.to_owned(),
                description: opened.filter.describe(),
                items: FileItems::new(&opened),
                filter: opened.filter,
            });
            // `bad.mayhap` is also served as `bad`, unless that name is taken.
            if let Some(stem) = Path::new(file).file_stem()
                && *name == *file.as_bytes()
            {
                let stem: Box<[u8]> = stem.to_string_lossy().as_bytes().into();
                served.entry(stem).or_insert_with(|| Arc::clone(&one));
            }
            served.insert(name, one);
        }
        self.has_any.store(!served.is_empty(), Ordering::Relaxed);
        let all: HashMap<_, _> = served
            .values()
            .map(|served| (Arc::as_ptr(served), served.description.stats.size_bytes))
            .collect();
        self.used.store(all.values().sum(), Ordering::Relaxed);
    }

    /// Replies to a query on a file; `None` if there is no such file.
    pub(crate) fn query(&self, query: &Query<'_>) -> Option<Reply> {
        let (served, key_type) = self.get_with_key_type(query.key())?;
        let Some(generic) = query.as_generic() else {
            return Some(Reply::error(
                "ERR this is a filter file in the data folder: query it with EXISTS, MEXISTS, CARD and INFO",
            ));
        };
        let reply = match generic {
            GenericQuery::Contains(item) => served
                .contains_each(&[item], key_type)
                .map(|found| Reply::Boolean(found[0])),
            GenericQuery::ContainsEach(items) => {
                served.contains_each(items, key_type).map(Reply::Booleans)
            }
            GenericQuery::Count(item) => served
                .contains_each(&[item], key_type)
                .map(|found| Reply::Integer(found[0].into())),
            GenericQuery::Items => {
                let keys = served.description.stats.estimated_keys.unwrap_or(0);
                Ok(Reply::Integer(i64::try_from(keys).unwrap_or(i64::MAX)))
            }
            GenericQuery::Info => Ok(info(&served)),
        };
        Some(reply.unwrap_or_else(|error| Reply::Error(error.into())))
    }
}

impl ServedFile {
    fn contains_each(
        &self,
        items: &[&[u8]],
        key_type: Option<KeyType>,
    ) -> Result<Vec<bool>, String> {
        let mut found = vec![false; items.len()];
        match self.items.keys(items, key_type)? {
            None => self.filter.contains_each(items, &mut found),
            Some(keys) => self.filter.contains_each(&keys, &mut found),
        }
        Ok(found)
    }
}

fn info(served: &ServedFile) -> Reply {
    let description = &served.description;
    let stats = &description.stats;
    let key_type = match served.items.key_type() {
        Some(key_type) => Reply::Bulk(key_type.name().into()),
        None => Reply::Null,
    };
    let number = |number: Option<u64>| match number {
        Some(number) => Reply::Integer(i64::try_from(number).unwrap_or(i64::MAX)),
        None => Reply::Null,
    };
    let share = |share: Option<f64>| match share {
        Some(share) => Reply::Bulk(share.to_string().into_bytes()),
        None => Reply::Null,
    };
    Reply::Fields(vec![
        ("Format", Reply::Bulk(description.format.name().into())),
        ("Kind", Reply::Bulk(stats.kind.name().into())),
        ("Capacity", number(stats.capacity)),
        ("Size", number(Some(stats.size_bytes))),
        ("Number of items inserted", number(stats.estimated_keys)),
        ("Error rate", share(stats.false_positive_rate)),
        ("Error rate now", share(stats.estimated_rate)),
        ("Fill", share(stats.fill)),
        ("Key type", key_type),
    ])
}
