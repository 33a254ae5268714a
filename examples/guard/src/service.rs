//! The threads: workers that answer, and a keeper that builds the filter when a worker misses it.

use crate::Config;
use crate::failure::Failure;
use crate::guard::{Guard, Stage};
use crate::http;
use crate::metrics::Metrics;
use crate::rebuild::{When, rebuild};
use std::net::SocketAddr;
use std::sync::{Arc, Condvar, Mutex, PoisonError};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};
use tiny_http::Server;

/// How long the keeper waits at least after a build that failed.
const RETRY: Duration = Duration::from_millis(500);

/// A service that runs.
pub struct Service {
    server: Arc<Server>,
    address: SocketAddr,
    shared: Arc<Shared>,
    threads: Vec<JoinHandle<()>>,
}

struct Shared {
    metrics: Metrics,
    keeper: Mutex<Keeper>,
    wake: Condvar,
}

#[derive(Default)]
struct Keeper {
    wanted: bool,
    stopped: bool,
}

impl Service {
    /// Listens, and answers at once: from the database alone until there is a filter.
    ///
    /// # Errors
    /// When nobody can listen there. The stores may be away.
    pub fn start(config: &Config) -> Result<Self, Failure> {
        let server = Server::http(&config.listen).map_err(|error| {
            Failure::Service(format!("cannot listen on {}: {error}", config.listen))
        })?;
        let address = server.server_addr().to_ip();
        let address = address.ok_or_else(|| Failure::Service("not an IP address".to_owned()))?;
        let mut service = Self {
            server: Arc::new(server),
            address,
            shared: Arc::new(Shared {
                metrics: Metrics::default(),
                keeper: Mutex::default(),
                wake: Condvar::new(),
            }),
            threads: Vec::new(),
        };
        for _ in 0..config.workers.max(1) {
            let (server, shared) = (service.server.clone(), service.shared.clone());
            let guard = Guard::new(config);
            let worker = thread::spawn(move || work(&server, guard, &shared));
            service.threads.push(worker);
        }
        if config.guarded {
            let (config, shared) = (config.clone(), service.shared.clone());
            let keeper = thread::spawn(move || shared.keep(&config));
            service.threads.push(keeper);
            service.shared.want_filter();
        }
        Ok(service)
    }

    /// Where it listens.
    pub fn address(&self) -> SocketAddr {
        self.address
    }

    /// Ends after what is being answered; all sessions with the stores are closed.
    pub fn stop(self) {
        self.shared.change(|keeper| keeper.stopped = true);
        for _ in &self.threads {
            self.server.unblock();
        }
        self.wait();
    }

    /// Waits until every thread has ended, which without [`Self::stop`] is never.
    pub fn wait(self) {
        for thread in self.threads {
            // A thread that panicked has said so.
            let _ = thread.join();
        }
    }
}

fn work(server: &Server, mut guard: Guard, shared: &Shared) {
    // An error is the call to end.
    while let Ok(mut request) = server.recv() {
        let answer = http::answer(&mut request, &mut guard, &shared.metrics);
        if let Some(stage) = answer.stage {
            shared.metrics.answered(stage);
            if stage == Stage::DatabaseAlone {
                shared.want_filter();
            }
        }
        answer.send(request);
    }
}

impl Shared {
    fn change(&self, change: impl FnOnce(&mut Keeper)) {
        change(&mut self.keeper.lock().unwrap_or_else(PoisonError::into_inner));
        self.wake.notify_all();
    }

    fn want_filter(&self) {
        self.change(|keeper| keeper.wanted = true);
    }

    /// Builds the filter whenever it is missed, until it is there.
    fn keep(&self, config: &Config) {
        loop {
            let keeper = self.keeper.lock().unwrap_or_else(PoisonError::into_inner);
            let idle = |keeper: &mut Keeper| !keeper.wanted && !keeper.stopped;
            let waited = self.wake.wait_while(keeper, idle);
            let mut keeper = waited.unwrap_or_else(PoisonError::into_inner);
            if keeper.stopped {
                return;
            }
            keeper.wanted = false;
            drop(keeper);
            let started = Instant::now();
            match rebuild(config, When::Untrusted) {
                Ok(true) => self.metrics.built(),
                Ok(false) => {}
                Err(failure) => {
                    eprintln!("filter=not-built reason={:?}", failure.to_string());
                    // Reading all rows again and again must not take more than half of the time.
                    self.pause(started.elapsed().max(RETRY));
                    self.want_filter();
                }
            }
        }
    }

    /// Waits for a moment, or for the end.
    fn pause(&self, time: Duration) {
        let keeper = self.keeper.lock().unwrap_or_else(PoisonError::into_inner);
        let runs = |keeper: &mut Keeper| !keeper.stopped;
        drop(self.wake.wait_timeout_while(keeper, time, runs));
    }
}
