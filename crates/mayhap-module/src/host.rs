//! What the module keeps for itself: settings, and the secret of new filters.

use mayhap_command::{Config, NAMES};
use mayhap_core::SipKey;
use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, PoisonError, RwLock};

/// Where the secret is, in the engine's folder, unless `secret-file` says another place.
const SECRET: &str = "mayhap-secret.key";

/// What the module may be called in `MODULE LIST`: the first unless the argument `name` says another. Some clients look for RedisBloom's
/// name before they send its commands.
pub(crate) const NAMES_OF_MODULE: [&str; 2] = ["mayhap", "bf"];

/// Settings by the names that RedisBloom had before it could be configured while it runs.
const OLD_NAMES: [(&str, &str); 2] = [
    ("initial_size", "bf-initial-size"),
    ("error_rate", "bf-error-rate"),
];

pub(crate) struct Host {
    settings: RwLock<Arc<Settings>>,
    /// Whether settings have the names that RedisBloom gives them, and values are spelled as it spells them.
    has_free_names: AtomicBool,
    pub(crate) secret: SipKey,
}

pub(crate) struct Settings {
    pub(crate) config: Config,
    /// The same for commands that were accepted elsewhere.
    pub(crate) replaying: Config,
}

impl Settings {
    fn new(config: Config) -> Self {
        let replaying = config.replaying();
        Self { config, replaying }
    }
}

/// What the module is called, by the words after its path. The engine wants to know this before anything else.
///
/// # Errors
/// When that is not one of its names.
pub(crate) fn module_name(words: &[&[u8]]) -> Result<&'static str, String> {
    let mut name = NAMES_OF_MODULE[0];
    for pair in words.chunks_exact(2) {
        if pair[0].eq_ignore_ascii_case(b"name") {
            let known = NAMES_OF_MODULE.iter();
            let mut known = known.filter(|known| pair[1].eq_ignore_ascii_case(known.as_bytes()));
            name = known
                .next()
                .ok_or_else(|| format!("name must be one of: {}", NAMES_OF_MODULE.join(", ")))?;
        }
    }
    Ok(name)
}

/// Whether RedisBloom has a setting of this name too.
pub(crate) fn is_of_redisbloom(name: &str) -> bool {
    NAMES.contains(&name)
}

/// The names of all settings, without a prefix.
pub(crate) fn names() -> impl Iterator<Item = &'static str> {
    NAMES
        .iter()
        .map(|name| name.strip_prefix("mayhap-").unwrap_or(name))
}

impl Host {
    /// Reads the words after the module's path: pairs of a name and a value. The second result is what the user should know.
    ///
    /// # Errors
    /// What is wrong with them, or with the file of the secret.
    pub(crate) fn new(words: &[&[u8]]) -> Result<(Self, Option<String>), String> {
        let mut config = Config::default();
        let mut secret_file = None;
        if !words.len().is_multiple_of(2) {
            return Err("arguments are pairs of a name and a value".to_owned());
        }
        for pair in words.chunks_exact(2) {
            let name = String::from_utf8_lossy(pair[0]).to_ascii_lowercase();
            // Read before, by `module_name`.
            if name == "name" {
                continue;
            }
            if name == "secret-file" {
                let path = std::str::from_utf8(pair[1]);
                secret_file =
                    Some(PathBuf::from(path.map_err(|_| {
                        "the path of secret-file is not UTF-8".to_owned()
                    })?));
                continue;
            }
            let old = OLD_NAMES.iter().find(|(old, _)| *old == name);
            let name = old.map_or_else(|| name.replace('_', "-"), |(_, new)| (*new).to_owned());
            config.set(&name, pair[1])?;
        }
        let (secret, remark) = match secret_file {
            Some(path) => (mayhap_codec::read_key(path)?, None),
            None => secret_of_folder()?,
        };
        let settings = RwLock::new(Arc::new(Settings::new(config)));
        let host = Self {
            settings,
            has_free_names: AtomicBool::new(false),
            secret,
        };
        Ok((host, remark))
    }

    /// The settings as they are now. Nothing is locked while they are used: what a command sets off may change them.
    pub(crate) fn settings(&self) -> Arc<Settings> {
        let settings = self.settings.read().unwrap_or_else(PoisonError::into_inner);
        Arc::clone(&settings)
    }

    /// The engine sets all settings now, one after the other, those from its configuration and as the rest what was said behind the
    /// module's path. Each is checked against those before it, which must not be mixed with what will be overwritten.
    pub(crate) fn begin_anew(&self) {
        self.put(Config::default());
    }

    fn put(&self, config: Config) {
        let new = Arc::new(Settings::new(config));
        *self
            .settings
            .write()
            .unwrap_or_else(PoisonError::into_inner) = new;
    }

    pub(crate) fn set_free_names(&self, has_free_names: bool) {
        self.has_free_names.store(has_free_names, Ordering::Relaxed);
    }

    /// The value of a setting. RedisBloom spells a rate with six digits; so do we where its names are ours, but never with fewer digits
    /// than the rate has: `CONFIG REWRITE` writes this down.
    pub(crate) fn get(&self, name: &str) -> Option<String> {
        let value = self.settings().config.get(name)?;
        if name != "bf-error-rate" || !self.has_free_names.load(Ordering::Relaxed) {
            return Some(value);
        }
        let rate: f64 = value.parse().ok()?;
        let spelled = format!("{rate:.6}");
        let is_same = spelled.parse() == Ok(rate);
        Some(if is_same { spelled } else { value })
    }

    /// Changes a setting.
    ///
    /// # Errors
    /// What is wrong with the value.
    pub(crate) fn set(&self, name: &str, value: &[u8]) -> Result<(), String> {
        let mut config = self.settings().config.clone();
        config.set(name, value)?;
        self.put(config);
        Ok(())
    }
}

/// The engine's folder is where the module is loaded. Without a file there, filters are as safe, but those that are made after the
/// next start have another hash and cannot be merged with those made before.
fn secret_of_folder() -> Result<(SipKey, Option<String>), String> {
    let mut new = [0; 16];
    getrandom::fill(&mut new).map_err(|error| format!("no random bytes: {error}"))?;
    Ok(match mayhap_codec::read_or_make_key(SECRET, new) {
        Ok(secret) => (secret, None),
        Err(error) => (
            SipKey::new(new),
            Some(format!(
                "{error}. Filters made from now on cannot be merged with those made after the next start: give `secret-file PATH` behind the module's path"
            )),
        ),
    })
}
