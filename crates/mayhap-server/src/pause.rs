//! `CLIENT PAUSE`: commands wait until a time. Their workers retry them, so no lock is held meanwhile.

use std::sync::atomic::{AtomicU64, Ordering};

/// The end in milliseconds since 1970 and, in the lowest bit, whether reads are paused too. 0 means no pause.
#[derive(Default)]
pub(crate) struct Pause(AtomicU64);

impl Pause {
    /// Of two overlapping pauses, the longer time and the stricter mode apply.
    pub(crate) fn begin(&self, now: u64, until: u64, is_for_all: bool) {
        let update = |old: u64| {
            let is_over = old >> 1 <= now;
            let old = if is_over { 0 } else { old };
            let until = until.min(u64::MAX >> 1);
            Some((old >> 1).max(until) << 1 | old & 1 | u64::from(is_for_all))
        };
        let _ = self
            .0
            .fetch_update(Ordering::SeqCst, Ordering::SeqCst, update);
    }

    pub(crate) fn end(&self) {
        self.0.store(0, Ordering::SeqCst);
    }

    /// Whether a command has to wait.
    #[inline]
    pub(crate) fn is_paused(&self, now: u64, is_change: impl FnOnce() -> bool) -> bool {
        let pause = self.0.load(Ordering::Relaxed);
        pause != 0 && pause >> 1 > now && (pause & 1 == 1 || is_change())
    }

    /// `none`, `write` or `all`.
    pub(crate) fn name(&self, now: u64) -> &'static str {
        let pause = self.0.load(Ordering::Relaxed);
        match (pause >> 1 > now, pause & 1) {
            (false, _) => "none",
            (true, 0) => "write",
            (true, _) => "all",
        }
    }
}

#[cfg(test)]
mod tests {
    use super::Pause;

    #[test]
    fn the_longer_and_the_stricter_hold() {
        let pause = Pause::default();
        assert!(!pause.is_paused(100, || true));
        pause.begin(100, 200, false);
        assert!(pause.is_paused(199, || true) && !pause.is_paused(199, || false));
        assert!(!pause.is_paused(200, || true));
        pause.begin(150, 160, true);
        assert!(pause.is_paused(199, || false) && !pause.is_paused(200, || false));
        // An expired pause does not make the next one stricter.
        pause.begin(300, 400, false);
        assert!(pause.is_paused(399, || true) && !pause.is_paused(399, || false));
        pause.end();
        assert!(!pause.is_paused(399, || true));
    }
}
