//! The options of a server.

use mayhap_log::Fsync;
use std::net::{IpAddr, Ipv4Addr, SocketAddr};
use std::path::PathBuf;

/// The options of a server.
#[derive(Clone, Debug)]
pub struct ServerOptions {
    /// The data folder; created if it is missing.
    pub folder: PathBuf,
    /// The addresses to listen on.
    pub bind: Vec<IpAddr>,
    /// The port; 0 means any free port.
    pub port: u16,
    /// TLS, on its own port.
    pub tls: Option<TlsOptions>,
    /// The address for the page, metrics and health over HTTP.
    pub http: Option<SocketAddr>,
    /// Who may use it, and for what.
    pub http_options: HttpOptions,
    /// The password; empty means none.
    pub password: Vec<u8>,
    /// Accept connections from other machines without a password.
    pub is_open_to_all: bool,
    /// When changes are on the disk.
    pub fsync: Fsync,
    /// The number of worker threads; 0 means one per core, up to 8.
    pub workers: usize,
    /// The maximum number of connections.
    pub max_clients: usize,
    /// The memory limit for all keys; `None` means three quarters of the machine's memory.
    pub max_memory: Option<u64>,
    /// Further settings, as for `CONFIG SET`.
    pub settings: Vec<(String, String)>,
    /// Start even if the log is damaged, and lose what follows the damage.
    pub accepts_loss: bool,
}

/// Who may use the page, and for what.
#[derive(Clone, Debug, Default)]
pub struct HttpOptions {
    /// Names under which browsers may reach it, besides addresses and `localhost`.
    pub hosts: Vec<String>,
    /// The page may change nothing.
    pub is_read_only: bool,
    /// HTTPS with the certificate of [`ServerOptions::tls`], which it needs.
    pub uses_tls: bool,
}

/// TLS files and port.
#[derive(Clone, Debug)]
pub struct TlsOptions {
    /// The port; 0 means any free port.
    pub port: u16,
    /// The certificate chain in PEM, the server's own first.
    pub certificate: PathBuf,
    /// The private key in PEM.
    pub key: PathBuf,
    /// If given, clients need a certificate signed by one of these.
    pub client_authorities: Option<PathBuf>,
}

impl ServerOptions {
    /// The defaults: local connections only.
    pub fn new(folder: impl Into<PathBuf>) -> Self {
        Self {
            folder: folder.into(),
            bind: vec![IpAddr::V4(Ipv4Addr::LOCALHOST)],
            port: 6380,
            tls: None,
            http: None,
            http_options: HttpOptions::default(),
            password: Vec::new(),
            is_open_to_all: false,
            fsync: Fsync::EverySecond,
            workers: 0,
            max_clients: 10_000,
            max_memory: None,
            settings: Vec::new(),
            accepts_loss: false,
        }
    }
}
