//! Server-sent events: one thread computes the figures once per second for all listeners, and only while there are any.

use super::figures::FigureSampler;
use crate::engine::Engine;
use crate::net::http::EventSource;
use parking_lot::{Condvar, Mutex};
use std::sync::Arc;
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

/// The maximum number of streams. Each has a thread that sleeps.
const MAX_LISTENERS: usize = 64;
const INTERVAL: Duration = Duration::from_secs(1);

#[derive(Default)]
pub(super) struct EventHub {
    state: Mutex<HubState>,
    bell: Condvar,
}

#[derive(Default)]
struct HubState {
    listeners: usize,
    /// The number of the newest event; starts at 1.
    number: u64,
    newest: Option<(Instant, Arc<[u8]>)>,
    is_closed: bool,
}

impl EventHub {
    /// Adds a listener; `None` if there are too many. `may_listen` is asked before each event.
    pub(super) fn listen(
        self: &Arc<Self>,
        may_listen: Box<dyn Fn() -> bool + Send>,
    ) -> Option<EventListener> {
        let mut state = self.state.lock();
        if state.listeners >= MAX_LISTENERS {
            return None;
        }
        state.listeners += 1;
        let is_fresh = |at: Instant| at.elapsed() < 2 * INTERVAL;
        let seen = match &state.newest {
            // The newest event is sent at once.
            Some((at, _)) if is_fresh(*at) => state.number - 1,
            _ => state.number,
        };
        drop(state);
        self.bell.notify_all();
        Some(EventListener {
            hub: Arc::clone(self),
            seen,
            may_listen,
        })
    }

    pub(super) fn listeners(&self) -> usize {
        self.state.lock().listeners
    }

    /// Ends all streams and the thread.
    pub(super) fn close(&self) {
        self.state.lock().is_closed = true;
        self.bell.notify_all();
    }

    /// Starts the thread that computes the figures.
    pub(super) fn start(self: &Arc<Self>, engine: &Arc<Engine>) -> std::io::Result<JoinHandle<()>> {
        let (hub, engine) = (Arc::clone(self), Arc::clone(engine));
        let thread = thread::Builder::new().name("figures".to_owned());
        thread.spawn(move || hub.run(&engine))
    }

    fn run(&self, engine: &Engine) {
        while self.wait_for_listener() {
            // The first figures after a pause have no rates, because nothing is known of the last second.
            let mut sampler = FigureSampler::default();
            let mut next = Instant::now();
            loop {
                let event = sampler.event(engine, self.listeners());
                let mut state = self.state.lock();
                state.number += 1;
                state.newest = Some((Instant::now(), event));
                self.bell.notify_all();
                next = (next + INTERVAL).max(Instant::now());
                while !state.is_closed && Instant::now() < next {
                    self.bell.wait_until(&mut state, next);
                }
                if state.is_closed || state.listeners == 0 {
                    state.newest = None;
                    break;
                }
            }
        }
    }

    fn wait_for_listener(&self) -> bool {
        let mut state = self.state.lock();
        while !state.is_closed && state.listeners == 0 {
            self.bell.wait(&mut state);
        }
        !state.is_closed
    }
}

/// A stream of events.
pub(super) struct EventListener {
    hub: Arc<EventHub>,
    /// The number of the last event that was sent.
    seen: u64,
    may_listen: Box<dyn Fn() -> bool + Send>,
}

impl EventSource for EventListener {
    /// A listener that was too slow for some events gets the newest.
    fn next(&mut self) -> Option<Arc<[u8]>> {
        let mut state = self.hub.state.lock();
        while !state.is_closed && state.number == self.seen {
            self.hub.bell.wait(&mut state);
        }
        let event = state.newest.as_ref().map(|(_, event)| Arc::clone(event));
        self.seen = state.number;
        let is_closed = state.is_closed;
        drop(state);
        event.filter(|_| !is_closed && (self.may_listen)())
    }
}

impl Drop for EventListener {
    fn drop(&mut self) {
        self.hub.state.lock().listeners -= 1;
    }
}
