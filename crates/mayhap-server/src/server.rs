//! Starts a server from its options, runs it and shuts it down.

use crate::clients::Clients;
use crate::clock::Clock;
use crate::command_times::CommandTimes;
use crate::counters::Counters;
use crate::engine::Engine;
use crate::files::ServedFiles;
use crate::filter_table::FilterTable;
use crate::keyspace::Keyspace;
use crate::leases::Leases;
use crate::net::http::{HttpListener, HttpServer};
use crate::net::{self, ListenOptions, Running, Timeouts};
use crate::options::ServerOptions;
use crate::pause::Pause;
use crate::recovery::Replay;
use crate::settings::Settings;
use crate::slowlog::Slowlog;
use crate::snapshot::Snapshots;
use crate::stats_cache::StatsCache;
use crate::web::{EventStreams, Web};
use crate::{maintenance, secret, system};
use arc_swap::ArcSwap;
use crossbeam_utils::sync::ShardedLock;
use mayhap_codec::Limits;
use mayhap_command::Config;
use mayhap_log::{Folder, Journal, JournalError};
use parking_lot::Mutex;
use std::net::SocketAddr;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::JoinHandle;

/// The server's own files, apart from the filter files that people put into the folder.
const STORE: &str = "store";
/// A client with more unread bytes of replies is closed: more than the largest bulk string.
const MAX_OUTPUT: usize = 768 << 20;
/// Connections beyond `maxclients`, to send them an error or to close others in their favour.
const SPARE_CLIENTS: usize = 128;
/// Open files for logs, listeners and so on.
const RESERVED_FILES: u64 = 1024;
/// The time limit for authentication. Clients authenticate first, so this only matters on slow networks.
const AUTH_TIMEOUT_SECONDS: u64 = 10;
/// A shorter log is replayed in a second or two: 13 million items.
const SNAPSHOT_AFTER: u64 = 256 << 20;

/// A running server.
pub struct Server {
    engine: Arc<Engine>,
    running: Running,
    maintenance_threads: Vec<JoinHandle<()>>,
    http: Option<(HttpServer, EventStreams)>,
    recovered: String,
}

/// Stops a server from any thread.
#[derive(Clone)]
pub struct StopHandle(net::StopHandle);

impl StopHandle {
    /// Makes [`Server::run`] return.
    pub fn stop(&self) {
        self.0.stop();
    }
}

impl Server {
    /// Recovers the data folder and starts to listen.
    ///
    /// # Errors
    /// In one line, with what to do.
    pub fn start(options: &ServerOptions) -> Result<Self, String> {
        let is_local = options.bind.iter().all(std::net::IpAddr::is_loopback)
            && options
                .http
                .is_none_or(|address| address.ip().is_loopback());
        if !is_local && options.password.is_empty() && !options.is_open_to_all {
            return Err("without a password the server accepts only local connections: set one with MAYHAP_PASSWORD or --password-file, or give --open-to-all".to_owned());
        }
        let tls = match &options.tls {
            Some(tls) => {
                let config = net::tls::load(
                    &tls.certificate,
                    &tls.key,
                    tls.client_authorities.as_deref(),
                )
                .map_err(|error| error.to_string())?;
                let to = |ip: &_| SocketAddr::new(*ip, tls.port);
                Some((options.bind.iter().map(to).collect(), config))
            }
            None => None,
        };
        let http_tls = match &tls {
            Some((_, config)) if options.http_options.uses_tls => Some(Arc::clone(config)),
            None if options.http_options.uses_tls => {
                return Err("--http-tls needs the certificate and key of --tls-port, --tls-cert and --tls-key".to_owned());
            }
            _ => None,
        };
        raise_open_files(options.max_clients);
        let (engine, recovered) = open(options)?;
        let engine = Arc::new(engine);
        let defaults = ListenOptions::default();
        let to = |ip: &_| SocketAddr::new(*ip, options.port);
        let listening = ListenOptions {
            addresses: options.bind.iter().map(to).collect(),
            tls,
            workers: if options.workers == 0 {
                defaults.workers
            } else {
                options.workers
            },
            max_clients: options.max_clients.saturating_add(SPARE_CLIENTS),
            timeouts: Arc::clone(&engine.timeouts),
            hard_output_bytes: MAX_OUTPUT,
            ..defaults
        };
        let running = net::start(listening, Arc::clone(&engine)).map_err(|error| {
            format!(
                "cannot listen on port {}: {error}; give another by --port",
                options.port
            )
        })?;
        let port = running.addresses.first().map_or(0, SocketAddr::port);
        let set: Result<(), String> = engine.set(|settings| {
            settings.port = port;
            Ok(())
        });
        set?;
        let http = match options.http {
            Some(address) => Some(serve_web(
                &engine,
                (options, address),
                http_tls,
                running.stop_handle(),
            )?),
            None => None,
        };
        let maintenance_threads = maintenance::start(&engine)
            .map_err(|error| format!("cannot start a thread: {error}"))?;
        Ok(Self {
            engine,
            running,
            maintenance_threads,
            http,
            recovered,
        })
    }

    /// The addresses that it listens on, those without TLS first, with the actual ports.
    pub fn addresses(&self) -> &[SocketAddr] {
        &self.running.addresses
    }

    /// The address of the page, metrics and health.
    pub fn http_address(&self) -> Option<SocketAddr> {
        self.http.as_ref().map(|(http, _)| http.address)
    }

    /// What was recovered, as text.
    pub fn recovered(&self) -> &str {
        &self.recovered
    }

    /// A handle to stop it from another thread.
    pub fn stop_handle(&self) -> StopHandle {
        StopHandle(self.running.stop_handle())
    }

    /// Serves until it is stopped, then writes everything to the disk.
    ///
    /// # Errors
    /// When the last of it could not be written.
    pub fn run(self) -> Result<(), String> {
        self.running.wait();
        let stopped = self.running.stop();
        if let Some((http, events)) = self.http {
            events.end();
            http.stop();
        }
        self.engine.is_ending.store(true, Ordering::Relaxed);
        self.engine.snapshots.notify();
        for thread in self.maintenance_threads {
            let _ = thread.join();
        }
        self.engine
            .journal
            .finish()
            .map_err(|broken| format!("the last changes could not be written: {broken}"))?;
        if self.engine.keys.is_memory_damaged() {
            return Err("ended after an internal error, with everything that was acknowledged in the log: start it again".to_owned());
        }
        stopped.map_err(|error| error.to_string())
    }
}

/// Raises the limit of open files to the maximum number of clients.
fn raise_open_files(clients: usize) {
    let wanted = clients as u64 + RESERVED_FILES;
    let given = rlimit::increase_nofile_limit(wanted).unwrap_or(wanted);
    if given < wanted {
        crate::report(&format!(
            "the system allows {given} open files, which is too few for {clients} clients: raise it by `ulimit -n {wanted}`, or lower --max-clients"
        ));
    }
}

/// Starts to serve the page, metrics and health.
fn serve_web(
    engine: &Arc<Engine>,
    (options, address): (&ServerOptions, SocketAddr),
    tls: Option<Arc<rustls::ServerConfig>>,
    stop: net::StopHandle,
) -> Result<(HttpServer, EventStreams), String> {
    let listener = HttpListener::bind(address)
        .map_err(|error| format!("cannot listen on {address} for HTTP: {error}"))?;
    if tls.is_none() && !address.ip().is_loopback() {
        crate::report(&format!(
            "http://{address} is not encrypted: passwords and keys can be read on the network. Give --http-tls, or put a proxy with TLS before a local address"
        ));
    }
    let port = listener.address.port();
    let options = options.http_options.clone();
    let (web, events) = Web::start(engine, (options, port), Box::new(move || stop.stop()))
        .map_err(|error| format!("cannot start a thread: {error}"))?;
    let server = listener
        .serve(tls, web)
        .map_err(|error| format!("cannot start a thread: {error}"))?;
    Ok((server, events))
}

fn open(options: &ServerOptions) -> Result<(Engine, String), String> {
    let folder = options.folder.as_path();
    let store = folder.join(STORE);
    let _ = std::fs::create_dir_all(folder);
    // Logs contain hash keys, so only the owner may read them.
    let mut making = std::fs::DirBuilder::new();
    making.recursive(true);
    #[cfg(unix)]
    std::os::unix::fs::DirBuilderExt::mode(&mut making, 0o700);
    making.create(&store).map_err(|error| {
        format!(
            "cannot make the folder {}: {error}; give another by --dir",
            store.display()
        )
    })?;
    #[cfg(unix)]
    let _ = std::fs::set_permissions(&store, std::os::unix::fs::PermissionsExt::from_mode(0o700));
    let disk = Folder::open(&store).map_err(|error| format!("{}: {error}", store.display()))?;
    let secret = secret::load_or_create(&store)?;
    let settings = settings(options, folder)?;
    let keys = Keyspace::new();
    let mut replay = Replay::new(&keys, secret);
    let log_options = mayhap_log::JournalOptions::default()
        .fsync(settings.fsync)
        .accept_loss(options.accepts_loss);
    let (journal, summary) = Journal::open(disk, log_options, |recovered| {
        replay
            .take(&recovered)
            .map_err(mayhap_log::ReplayError::from)
    })
    .map_err(|error| format!("{}: {}", store.display(), startup_hint(&error)))?;
    let (entries, records) = (replay.entries, replay.records);
    let lost = replay
        .finish(options.accepts_loss)
        .map_err(|error| format!("{}: {error}", store.display()))?;
    let mut recovered = format!(
        "{} keys, {entries} from the snapshot and {records} records of the log",
        keys.len()
    );
    if let Some(torn) = &summary.torn {
        let bytes = torn.bytes;
        recovered = format!("{recovered}; {bytes} bytes that nobody was told of were cut off");
    }
    for loss in &summary.loss {
        let (file, offset, problem) = (&loss.file, loss.offset, &loss.problem);
        crate::report(&format!(
            "lost: all of {file} from byte {offset} on ({problem}); it is kept beside, in a file that ends in .lost"
        ));
    }
    let clock = Clock::new(summary.last_time);
    let snapshots = Snapshots::default();
    snapshots.set_last(clock.now());
    if lost > 0 {
        // Records that do not apply would be rejected at the next start, without the option to accept a loss.
        snapshots.request();
    }
    let limits = Limits {
        max_bytes: settings.filters.max_filter_bytes,
    };
    let files = ServedFiles::new(folder, secret, limits);
    let room = || match settings.max_memory {
        0 => u64::MAX,
        most => most.saturating_sub(keys.used_bytes() + files.used_bytes()),
    };
    files.scan(room);
    let slow = Slowlog::default();
    slow.apply_settings(&settings);
    let timeouts = Arc::default();
    settings.apply_timeouts(&timeouts);
    let engine = Engine {
        keys,
        leases: Leases::default(),
        journal,
        keyspace_lock: ShardedLock::new(()),
        settings: ArcSwap::from_pointee(settings),
        memory_lock: Mutex::new(()),
        settings_lock: Mutex::new(()),
        clock,
        secret,
        clients: Clients::default(),
        counters: Counters::default(),
        times: CommandTimes::default(),
        slowlog: slow,
        pause: Pause::default(),
        timeouts,
        snapshots,
        stats: StatsCache::default(),
        filter_table: FilterTable::default(),
        files,
        queued_bytes: Arc::default(),
        is_ending: AtomicBool::new(false),
        run_id: run_id(),
    };
    Ok((engine, recovered))
}

/// The log does not know the server's options.
fn startup_hint(error: &JournalError) -> String {
    match error {
        JournalError::Damaged {
            can_be_accepted: true,
            ..
        } => format!("{error}, by --accept-loss"),
        error => error.to_string(),
    }
}

fn settings(options: &ServerOptions, folder: &Path) -> Result<Settings, String> {
    let bind: Vec<String> = options.bind.iter().map(ToString::to_string).collect();
    let mut settings = Settings {
        filters: Config::default(),
        password: options.password.clone(),
        max_memory: options
            .max_memory
            // No limit if the system does not report its memory.
            .unwrap_or_else(|| system::memory_bytes() / 4 * 3),
        max_clients: options.max_clients,
        clients_at_start: options.max_clients,
        fsync: options.fsync,
        slow_from: 10_000,
        slow_kept: 128,
        idle_timeout_seconds: 0,
        keepalive_seconds: Timeouts::KEEPALIVE.as_secs(),
        auth_timeout_seconds: AUTH_TIMEOUT_SECONDS,
        snapshot_after: SNAPSHOT_AFTER,
        folder: folder.to_owned(),
        port: options.port,
        bind: bind.join(" "),
        tls_port: options.tls.as_ref().map_or(0, |tls| tls.port),
    };
    for (name, value) in &options.settings {
        let known = Settings::canonical_name(name.as_bytes())
            .ok_or_else(|| format!("there is no setting {name}"))?;
        settings
            .set(known, value.as_bytes())
            .map_err(|error| format!("{name}: {error}"))?;
    }
    Ok(settings)
}

fn run_id() -> String {
    let number = || getrandom::u64().unwrap_or(0);
    format!("{:016x}{:016x}{:08x}", number(), number(), number() as u32)
}
