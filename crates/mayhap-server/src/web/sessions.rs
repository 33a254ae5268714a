//! Who has logged in: random tokens in memory, which the browser keeps in a cookie.

use parking_lot::Mutex;
use std::collections::HashMap;
use std::net::IpAddr;
use std::time::{Duration, Instant};

/// The maximum number of sessions; the one that was used least recently ends first.
const MAX_SESSIONS: usize = 256;
/// A session that is not used for so long ends.
const IDLE: Duration = Duration::from_secs(60 * 60);
/// Every session ends after this time.
const MAX_AGE: Duration = Duration::from_secs(12 * 60 * 60);
/// Wrong passwords of an address that cost nothing: people mistype.
const FREE_FAILURES: u32 = 4;
/// The longest delay after a wrong password.
const MAX_DELAY: Duration = Duration::from_secs(30);
/// The maximum number of addresses that are remembered for their wrong passwords.
const MAX_ADDRESSES: usize = 4096;

#[derive(Default)]
pub(super) struct Sessions(Mutex<SessionState>);

#[derive(Default)]
struct SessionState {
    /// The password that the sessions were created with. Another one ends them.
    password: Vec<u8>,
    sessions: HashMap<String, SessionTimes>,
    failures: HashMap<IpAddr, Failures>,
}

struct SessionTimes {
    created: Instant,
    used: Instant,
}

impl SessionTimes {
    fn is_valid(&self, now: Instant) -> bool {
        now.duration_since(self.created) < MAX_AGE && now.duration_since(self.used) < IDLE
    }
}

struct Failures {
    count: u32,
    /// No password is checked before this.
    until: Instant,
}

impl SessionState {
    fn forget_if_changed(&mut self, password: &[u8]) {
        if self.password != password {
            self.sessions.clear();
            self.password = password.to_vec();
        }
    }
}

impl Sessions {
    /// Whether there is such a session. Using it keeps it alive.
    pub(super) fn is_valid(&self, token: &str, password: &[u8], now: Instant) -> bool {
        let mut state = self.0.lock();
        state.forget_if_changed(password);
        // Tokens are random, so the time of a lookup reveals nothing that helps to guess one.
        let Some(session) = state.sessions.get_mut(token) else {
            return false;
        };
        if !session.is_valid(now) {
            state.sessions.remove(token);
            return false;
        }
        session.used = now;
        true
    }

    /// Creates a session and returns its token.
    ///
    /// # Errors
    /// If the system has no random bytes.
    pub(super) fn create(&self, password: &[u8], now: Instant) -> Result<String, String> {
        let mut token = [0; 32];
        getrandom::fill(&mut token).map_err(|error| format!("no random bytes: {error}"))?;
        let token = data_encoding::HEXLOWER.encode(&token);
        let mut state = self.0.lock();
        state.forget_if_changed(password);
        state.sessions.retain(|_, session| session.is_valid(now));
        if state.sessions.len() >= MAX_SESSIONS {
            let sessions = state.sessions.iter();
            let oldest = sessions.min_by_key(|(_, session)| session.used);
            if let Some(oldest) = oldest.map(|(token, _)| token.clone()) {
                state.sessions.remove(&oldest);
            }
        }
        let times = SessionTimes {
            created: now,
            used: now,
        };
        state.sessions.insert(token.clone(), times);
        Ok(token)
    }

    pub(super) fn end(&self, token: &str) {
        self.0.lock().sessions.remove(token);
    }

    /// How long an address has to wait until a password of it is checked again.
    pub(super) fn delay(&self, peer: IpAddr, now: Instant) -> Option<Duration> {
        let state = self.0.lock();
        let until = state.failures.get(&network(peer))?.until;
        let left = until.saturating_duration_since(now);
        (!left.is_zero()).then_some(left)
    }

    /// Records a wrong password. Each doubles the delay before the next one is checked.
    pub(super) fn record_failure(&self, peer: IpAddr, now: Instant) {
        let mut state = self.0.lock();
        if state.failures.len() >= MAX_ADDRESSES {
            state
                .failures
                .retain(|_, failures| now < failures.until + MAX_DELAY);
            if state.failures.len() >= MAX_ADDRESSES {
                state.failures.clear();
            }
        }
        let failures = state.failures.entry(network(peer)).or_insert(Failures {
            count: 0,
            until: now,
        });
        // After a quiet time it starts again.
        if now.saturating_duration_since(failures.until) > 2 * MAX_DELAY {
            failures.count = 0;
        }
        failures.count = failures.count.saturating_add(1);
        let doublings = failures.count.saturating_sub(FREE_FAILURES).min(8);
        let delay = if doublings == 0 {
            Duration::ZERO
        } else {
            Duration::from_millis(250 << doublings).min(MAX_DELAY)
        };
        failures.until = now + delay;
    }

    pub(super) fn record_success(&self, peer: IpAddr) {
        self.0.lock().failures.remove(&network(peer));
    }
}

/// A client can have all addresses of an IPv6 network.
fn network(peer: IpAddr) -> IpAddr {
    match peer.to_canonical() {
        IpAddr::V6(address) => {
            let bits = address.to_bits() >> 64 << 64;
            IpAddr::V6(bits.into())
        }
        address @ IpAddr::V4(_) => address,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_session_ends_with_time_logout_and_a_new_password() {
        let (sessions, now) = (Sessions::default(), Instant::now());
        let token = sessions.create(b"one", now).unwrap();
        assert_eq!(token.len(), 64);
        assert!(sessions.is_valid(&token, b"one", now));
        assert!(!sessions.is_valid("", b"one", now));
        assert!(!sessions.is_valid(&token[1..], b"one", now));
        // Used every half hour, it lives until its maximum age.
        let step = Duration::from_secs(30 * 60);
        for steps in 1..24 {
            assert!(sessions.is_valid(&token, b"one", now + steps * step));
        }
        assert!(!sessions.is_valid(&token, b"one", now + 24 * step));
        let token = sessions.create(b"one", now).unwrap();
        assert!(!sessions.is_valid(&token, b"one", now + IDLE));
        let token = sessions.create(b"one", now).unwrap();
        sessions.end(&token);
        assert!(!sessions.is_valid(&token, b"one", now));
        let token = sessions.create(b"one", now).unwrap();
        assert!(!sessions.is_valid(&token, b"two", now));
        assert!(!sessions.is_valid(&token, b"one", now));
    }

    #[test]
    fn sessions_are_bounded() {
        let (sessions, now) = (Sessions::default(), Instant::now());
        let first = sessions.create(b"p", now).unwrap();
        for number in 1..=MAX_SESSIONS {
            let later = now + Duration::from_millis(number as u64);
            let token = sessions.create(b"p", later).unwrap();
            assert!(sessions.is_valid(&token, b"p", later));
        }
        assert!(!sessions.is_valid(&first, b"p", now));
        assert_eq!(sessions.0.lock().sessions.len(), MAX_SESSIONS);
    }

    #[test]
    fn guessing_becomes_slow() {
        let (sessions, mut now) = (Sessions::default(), Instant::now());
        let (peer, other) = (IpAddr::from([10, 0, 0, 1]), IpAddr::from([10, 0, 0, 2]));
        let start = now;
        for _ in 0..20 {
            sessions.record_failure(peer, now);
            now += sessions.delay(peer, now).unwrap_or_default();
        }
        assert!(now - start > Duration::from_secs(200));
        assert_eq!(sessions.delay(other, now), None);
        sessions.record_failure(peer, now);
        assert!(sessions.delay(peer, now).is_some());
        sessions.record_success(peer);
        assert_eq!(sessions.delay(peer, now), None);
    }

    #[test]
    fn many_addresses_do_not_fill_the_memory() {
        let (sessions, now) = (Sessions::default(), Instant::now());
        for address in 0..10_000_u32 {
            sessions.record_failure(IpAddr::V4(address.into()), now);
        }
        assert!(sessions.0.lock().failures.len() <= MAX_ADDRESSES);
        let near = |last: u16| IpAddr::from([1, 2, 3, 4, 5, 6, 7, last]);
        assert_eq!(network(near(1)), network(near(2)));
    }
}
