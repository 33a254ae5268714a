//! The state of the module: settings, and the secret of new filters.

use mayhap_command::{Config, NAMES};
use mayhap_core::SipKey;
use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, PoisonError, RwLock};

/// The file of the secret in the engine's folder, unless `secret-file` names another.
const SECRET_FILE: &str = "mayhap-secret.key";

/// The names that the module may have in `MODULE LIST`: the first by default, or the argument `name`. Some clients look for RedisBloom's name
/// before they send its commands.
pub(crate) const MODULE_NAMES: [&str; 2] = ["mayhap", "bf"];

/// RedisBloom's names of settings from before settings could be changed at run time.
const OLD_NAMES: [(&str, &str); 2] = [
    ("initial_size", "bf-initial-size"),
    ("error_rate", "bf-error-rate"),
];

pub(crate) struct Host {
    settings: RwLock<Arc<ModuleSettings>>,
    /// Whether settings have RedisBloom's names without a prefix, and its number format.
    has_no_prefix: AtomicBool,
    pub(crate) secret: SipKey,
}

pub(crate) struct ModuleSettings {
    pub(crate) config: Config,
    /// The same settings for commands from a primary or a log.
    pub(crate) replaying: Config,
}

impl ModuleSettings {
    fn new(config: Config) -> Self {
        let replaying = config.replaying();
        Self { config, replaying }
    }
}

/// The name of the module, from the arguments after its path. The engine needs it before anything else.
///
/// # Errors
/// If that is not one of its names.
pub(crate) fn module_name(args: &[&[u8]]) -> Result<&'static str, String> {
    let mut name = MODULE_NAMES[0];
    for pair in args.chunks_exact(2) {
        if pair[0].eq_ignore_ascii_case(b"name") {
            let known = MODULE_NAMES.iter();
            let mut known = known.filter(|known| pair[1].eq_ignore_ascii_case(known.as_bytes()));
            name = known
                .next()
                .ok_or_else(|| format!("name must be one of: {}", MODULE_NAMES.join(", ")))?;
        }
    }
    Ok(name)
}

/// Whether RedisBloom has this setting too.
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
    /// Parses the arguments after the module's path: pairs of a name and a value. The second result is a warning for the log.
    ///
    /// # Errors
    /// A message if an argument or the file of the secret is invalid.
    pub(crate) fn new(args: &[&[u8]]) -> Result<(Self, Option<String>), String> {
        let mut config = Config::default();
        let mut secret_file = None;
        if !args.len().is_multiple_of(2) {
            return Err("arguments are pairs of a name and a value".to_owned());
        }
        for pair in args.chunks_exact(2) {
            let name = String::from_utf8_lossy(pair[0]).to_ascii_lowercase();
            // `module_name` has parsed it.
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
        let (secret, warning) = match secret_file {
            Some(path) => (mayhap_codec::read_key(path)?, None),
            None => secret_from_folder()?,
        };
        let settings = RwLock::new(Arc::new(ModuleSettings::new(config)));
        let host = Self {
            settings,
            has_no_prefix: AtomicBool::new(false),
            secret,
        };
        Ok((host, warning))
    }

    /// The current settings. No lock is held while they are used, because a command may cause them to change.
    pub(crate) fn settings(&self) -> Arc<ModuleSettings> {
        let settings = self.settings.read().unwrap_or_else(PoisonError::into_inner);
        Arc::clone(&settings)
    }

    /// Resets all settings to their defaults, before the engine sets each of them from its configuration or the module's arguments. Each value
    /// is checked against the others, so the old values must not take part.
    pub(crate) fn reset(&self) {
        self.put(Config::default());
    }

    fn put(&self, config: Config) {
        let new = Arc::new(ModuleSettings::new(config));
        *self
            .settings
            .write()
            .unwrap_or_else(PoisonError::into_inner) = new;
    }

    pub(crate) fn set_no_prefix(&self, has_no_prefix: bool) {
        self.has_no_prefix.store(has_no_prefix, Ordering::Relaxed);
    }

    /// The value of a setting. RedisBloom formats the rate with six digits. So do we under its names, unless the rate has more digits:
    /// `CONFIG REWRITE` stores this value.
    pub(crate) fn get(&self, name: &str) -> Option<String> {
        let value = self.settings().config.get(name)?;
        if name != "bf-error-rate" || !self.has_no_prefix.load(Ordering::Relaxed) {
            return Some(value);
        }
        let rate: f64 = value.parse().ok()?;
        let formatted = format!("{rate:.6}");
        let is_same = formatted.parse() == Ok(rate);
        Some(if is_same { formatted } else { value })
    }

    /// Changes a setting.
    ///
    /// # Errors
    /// A message if the value is invalid.
    pub(crate) fn set(&self, name: &str, value: &[u8]) -> Result<(), String> {
        let mut config = self.settings().config.clone();
        config.set(name, value)?;
        self.put(config);
        Ok(())
    }
}

/// Reads or creates the secret in the engine's folder, the current folder. Without such a file filters are as safe, but those created after
/// the next start have another hash key and cannot be merged with older ones.
fn secret_from_folder() -> Result<(SipKey, Option<String>), String> {
    let mut new = [0; 16];
    getrandom::fill(&mut new).map_err(|error| format!("no random bytes: {error}"))?;
    Ok(match mayhap_codec::read_or_make_key(SECRET_FILE, new) {
        Ok(secret) => (secret, None),
        Err(error) => (
            SipKey::new(new),
            Some(format!(
                "{error}. Filters created from now on cannot be merged with those created after the next start: add `secret-file PATH` after the module's path"
            )),
        ),
    })
}
