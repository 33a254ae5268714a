//! The settings of `CONFIG`.

use crate::net::Timeouts;
use crate::pattern;
use mayhap_command::{Config, NAMES};
use mayhap_log::Fsync;
use std::path::PathBuf;
use std::time::Duration;
use subtle::ConstantTimeEq;

/// All settings; [`Settings::set`] changes those that can be changed at run time.
#[derive(Clone, Debug)]
pub(crate) struct Settings {
    pub(crate) filters: Config,
    /// The password; empty means none.
    pub(crate) password: Vec<u8>,
    /// The memory limit for all keys; 0 means none.
    pub(crate) max_memory: u64,
    pub(crate) max_clients: usize,
    /// The number of clients that the sockets are prepared for.
    pub(crate) clients_at_start: usize,
    pub(crate) fsync: Fsync,
    /// In microseconds; negative means never.
    pub(crate) slow_from: i64,
    pub(crate) slow_kept: usize,
    /// An idle client is closed after this time; 0 means never.
    pub(crate) idle_timeout_seconds: u64,
    /// The TCP keepalive interval; 0 means none.
    pub(crate) keepalive_seconds: u64,
    /// A client that has not authenticated by then is closed; 0 means never.
    pub(crate) auth_timeout_seconds: u64,
    /// A snapshot starts when the log exceeds this size and that of the last snapshot.
    pub(crate) snapshot_after: u64,
    pub(crate) folder: PathBuf,
    pub(crate) port: u16,
    pub(crate) bind: String,
    pub(crate) tls_port: u16,
}

/// The maximum that Linux accepts for keepalive.
const MAX_KEEPALIVE: u64 = 32_767;
/// As in Redis.
const MAX_TIMEOUT: u64 = 2_147_483_647;

const NOT_A_NUMBER: &str = "argument couldn't be parsed into an integer";

/// The server's own settings.
const SERVER_SETTINGS: [&str; 20] = [
    "appendfsync",
    "appendonly",
    "bind",
    "databases",
    "dir",
    "latency-monitor-threshold",
    "mayhap-auth-timeout",
    "mayhap-snapshot-after",
    "maxclients",
    "maxmemory",
    "maxmemory-policy",
    "port",
    "proto-max-bulk-len",
    "requirepass",
    "save",
    "slowlog-log-slower-than",
    "slowlog-max-len",
    "timeout",
    "tcp-keepalive",
    "tls-port",
];

impl Settings {
    /// Whether this is the password. Takes the same time for all guesses of a length.
    pub(crate) fn is_password(&self, guess: &[u8]) -> bool {
        is_same(&self.password, guess)
    }

    /// The names and values of all settings that match one of the patterns.
    pub(crate) fn matching(&self, patterns: &[&[u8]]) -> Vec<(&'static str, String)> {
        let names = NAMES.iter().chain(&SERVER_SETTINGS).copied();
        names
            .filter(|name| {
                patterns.iter().any(|pattern| {
                    let pattern = pattern.to_ascii_lowercase();
                    let plain = pattern.strip_prefix(b"mayhap.").unwrap_or(&pattern);
                    Self::canonical_name(&pattern) == Some(name)
                        || pattern::matches(plain, name.as_bytes())
                        || plain.strip_prefix(b"mayhap-") == Some(name.as_bytes())
                })
            })
            .filter_map(|name| Some((name, self.get(name)?)))
            .collect()
    }

    fn get(&self, name: &str) -> Option<String> {
        Some(match name {
            "appendfsync" => fsync_name(self.fsync).to_owned(),
            "appendonly" => "yes".to_owned(),
            "bind" => self.bind.clone(),
            "databases" => "1".to_owned(),
            "dir" => self.folder.display().to_string(),
            // Latency by event is not tracked; SLOWLOG has the slow commands.
            "latency-monitor-threshold" => "0".to_owned(),
            "mayhap-auth-timeout" => self.auth_timeout_seconds.to_string(),
            "mayhap-snapshot-after" => self.snapshot_after.to_string(),
            "maxclients" => self.max_clients.to_string(),
            "maxmemory" => self.max_memory.to_string(),
            "maxmemory-policy" => "noeviction".to_owned(),
            "port" => self.port.to_string(),
            "proto-max-bulk-len" => (512_u64 << 20).to_string(),
            "requirepass" => String::from_utf8_lossy(&self.password).into_owned(),
            "save" => String::new(),
            "slowlog-log-slower-than" => self.slow_from.to_string(),
            "slowlog-max-len" => self.slow_kept.to_string(),
            "timeout" => self.idle_timeout_seconds.to_string(),
            "tcp-keepalive" => self.keepalive_seconds.to_string(),
            "tls-port" => self.tls_port.to_string(),
            name => return self.filters.get(name),
        })
    }

    /// Changes a setting.
    ///
    /// # Errors
    /// What is wrong, as `CONFIG SET` says it behind the name.
    pub(crate) fn set(&mut self, name: &str, value: &[u8]) -> Result<(), String> {
        let text = String::from_utf8_lossy(value).into_owned();
        let number = || text.parse().map_err(|_| NOT_A_NUMBER.to_owned());
        let size = || bytes(&text).ok_or_else(|| "argument must be a memory value".to_owned());
        match name {
            "appendfsync" => {
                self.fsync = parse_fsync(&text).ok_or_else(|| {
                    "argument(s) must be one of the following: everysec, always, no".to_owned()
                })?;
            }
            "maxmemory" => {
                self.max_memory = size()?;
            }
            "mayhap-snapshot-after" => {
                self.snapshot_after = size()?;
            }
            "maxclients" => {
                let most: usize = number()?;
                if !(1..=self.clients_at_start).contains(&most) {
                    let start = self.clients_at_start;
                    return Err(format!(
                        "argument must be between 1 and {start}, which --max-clients said"
                    ));
                }
                self.max_clients = most;
            }
            "requirepass" => self.password = value.to_vec(),
            "slowlog-log-slower-than" => {
                self.slow_from = text.parse().map_err(|_| NOT_A_NUMBER.to_owned())?;
            }
            "slowlog-max-len" => self.slow_kept = number()?,
            "timeout" => self.idle_timeout_seconds = seconds(&text, MAX_TIMEOUT)?,
            "tcp-keepalive" => self.keepalive_seconds = seconds(&text, MAX_KEEPALIVE)?,
            "mayhap-auth-timeout" => self.auth_timeout_seconds = seconds(&text, MAX_TIMEOUT)?,
            "mayhap-max-filter-bytes" => {
                return self.filters.set(name, size()?.to_string().as_bytes());
            }
            name if SERVER_SETTINGS.contains(&name) => return self.set_own(name, &text),
            name => return self.filters.set(name, value),
        }
        Ok(())
    }

    /// A fixed setting may be set to its current value, as some clients and scripts do. Any other value is an error.
    fn set_own(&self, name: &str, text: &str) -> Result<(), String> {
        let reason = match name {
            "save" => {
                "snapshots are taken when the log is long: set mayhap-snapshot-after, and leave this empty"
            }
            "maxmemory-policy" => {
                "argument(s) must be one of the following: noeviction. A filter that lost keys would be wrong"
            }
            "appendonly" => "there always is a log: only yes is possible",
            "latency-monitor-threshold" => {
                "latencies are not tracked by event: only 0 is possible. SLOWLOG has the commands that took long"
            }
            _ => return Err("can't set immutable config".to_owned()),
        };
        let is_same = self
            .get(name)
            .is_some_and(|held| held.eq_ignore_ascii_case(text));
        is_same.then_some(()).ok_or_else(|| reason.to_owned())
    }

    /// Applies the timeouts to the sockets.
    pub(crate) fn apply_timeouts(&self, timeouts: &Timeouts) {
        timeouts.set_idle(Duration::from_secs(self.idle_timeout_seconds));
        timeouts.set_keepalive(Duration::from_secs(self.keepalive_seconds));
    }

    /// The canonical name of a setting, without any prefix.
    pub(crate) fn canonical_name(given: &[u8]) -> Option<&'static str> {
        let given = String::from_utf8_lossy(given).to_ascii_lowercase();
        let plain = given
            .strip_prefix("mayhap.")
            .or_else(|| given.strip_prefix("bf."))
            .unwrap_or(&given);
        let names = || NAMES.iter().chain(&SERVER_SETTINGS).copied();
        names().find(|name| *name == plain).or_else(|| {
            // `mayhap.layout` and `mayhap-layout`, `mayhap.bf-error-rate` and `mayhap-bf-error-rate`.
            names().find(|name| {
                name.strip_prefix("mayhap-") == Some(plain)
                    || plain.strip_prefix("mayhap-") == Some(name)
            })
        })
    }
}

/// Takes the same time for all guesses of a length, whatever the length of the password.
fn is_same(password: &[u8], guess: &[u8]) -> bool {
    let has_length = password.len().ct_eq(&guess.len());
    let pairs = guess.iter().zip(password.iter().cycle());
    pairs
        .fold(has_length, |same, (one, other)| same & one.ct_eq(other))
        .into()
}

pub(crate) fn fsync_name(fsync: Fsync) -> &'static str {
    match fsync {
        Fsync::Always => "always",
        Fsync::EverySecond => "everysec",
        Fsync::No => "no",
    }
}

pub(crate) fn parse_fsync(text: &str) -> Option<Fsync> {
    [Fsync::Always, Fsync::EverySecond, Fsync::No]
        .into_iter()
        .find(|fsync| fsync_name(*fsync).eq_ignore_ascii_case(text))
}

fn seconds(text: &str, most: u64) -> Result<u64, String> {
    let number: i64 = text.parse().map_err(|_| NOT_A_NUMBER.to_owned())?;
    let number = u64::try_from(number).ok().filter(|number| *number <= most);
    number.ok_or_else(|| format!("argument must be between 0 and {most} inclusive"))
}

/// Sizes as in Redis: `100`, `64mb`, `1g`.
pub(crate) fn bytes(text: &str) -> Option<u64> {
    let digits = text.len() - text.trim_start_matches(|c: char| c.is_ascii_digit()).len();
    let unit: u64 = match text[digits..].to_ascii_lowercase().as_str() {
        "" | "b" => 1,
        "k" => 1000,
        "kb" => 1 << 10,
        "m" => 1_000_000,
        "mb" => 1 << 20,
        "g" => 1_000_000_000,
        "gb" => 1 << 30,
        _ => return None,
    };
    text[..digits].parse::<u64>().ok()?.checked_mul(unit)
}

#[cfg(test)]
mod tests {
    use super::{Settings, bytes, is_same};

    #[test]
    fn only_the_password_is_the_password() {
        assert!(is_same(b"secret", b"secret"));
        for guess in [
            &b""[..],
            b"s",
            b"secres",
            b"secre",
            b"secrets",
            b"secretsecret",
        ] {
            assert!(!is_same(b"secret", guess), "{}", guess.escape_ascii());
        }
    }

    #[test]
    fn sizes_are_read_as_redis_does() {
        assert_eq!(bytes("64mb"), Some(64 << 20));
        assert_eq!(bytes("1G"), Some(1_000_000_000));
        assert_eq!(bytes("7"), Some(7));
        for bad in [
            "",
            "mb",
            "-1",
            "1.5gb",
            "1x",
            "99999999999999999999",
            "99999999999gb",
        ] {
            assert_eq!(bytes(bad), None, "{bad}");
        }
    }

    #[test]
    fn a_setting_has_one_name_under_all_prefixes() {
        for given in [
            "mayhap-layout",
            "mayhap.layout",
            "MAYHAP.LAYOUT",
            "mayhap.mayhap-layout",
        ] {
            assert_eq!(
                Settings::canonical_name(given.as_bytes()),
                Some("mayhap-layout")
            );
        }
        for given in [
            "bf-error-rate",
            "mayhap.bf-error-rate",
            "mayhap-bf-error-rate",
        ] {
            assert_eq!(
                Settings::canonical_name(given.as_bytes()),
                Some("bf-error-rate")
            );
        }
        assert_eq!(Settings::canonical_name(b"nonsense"), None);
    }
}
