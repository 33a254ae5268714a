//! How a server is started.

use mayhap_log::Fsync;
use std::net::{IpAddr, Ipv4Addr, SocketAddr};
use std::path::PathBuf;

/// How a server is started.
#[derive(Clone, Debug)]
pub struct ServerOptions {
    /// Everything is kept here; made if it is missing.
    pub folder: PathBuf,
    /// Where to listen.
    pub bind: Vec<IpAddr>,
    /// 0 is any that is free.
    pub port: u16,
    /// With encryption, on a port of its own.
    pub tls: Option<TlsOptions>,
    /// Metrics and health over HTTP.
    pub http: Option<SocketAddr>,
    /// Empty: nobody is asked for one.
    pub password: Vec<u8>,
    /// Listens to others than this machine without a password.
    pub is_open_to_all: bool,
    /// When changes are on the disk.
    pub fsync: Fsync,
    /// Threads; 0 is one for each core, up to 8.
    pub workers: usize,
    /// Connections at a time.
    pub max_clients: usize,
    /// What all keys may take; `None` is three quarters of the machine's memory.
    pub max_memory: Option<u64>,
    /// Names and values, as for CONFIG SET.
    pub settings: Vec<(String, String)>,
    /// Goes on without what is damaged in the log.
    pub accepts_loss: bool,
}

/// Where the certificate and its key are.
#[derive(Clone, Debug)]
pub struct TlsOptions {
    /// 0 is any that is free.
    pub port: u16,
    /// PEM, the server's first.
    pub certificate: PathBuf,
    /// PEM.
    pub key: PathBuf,
    /// Clients must have a certificate that one of these signed.
    pub client_authorities: Option<PathBuf>,
}

impl ServerOptions {
    /// The usual ones: this machine only.
    pub fn new(folder: impl Into<PathBuf>) -> Self {
        Self {
            folder: folder.into(),
            bind: vec![IpAddr::V4(Ipv4Addr::LOCALHOST)],
            port: 6380,
            tls: None,
            http: None,
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
