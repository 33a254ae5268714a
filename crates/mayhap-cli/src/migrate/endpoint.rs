//! SOURCE and TARGET: URLs of servers, or an RDB file; passwords and certificates.

use super::MigrateArgs;
use crate::error::CliError;
use redis::{ConnectionAddr, ConnectionInfo, IntoConnectionInfo, ProtocolVersion, TlsCertificates};
use std::env;
use std::ffi::OsStr;
use std::fs;
use std::path::{Path, PathBuf};

/// Where filters come from.
pub(super) enum SourcePlace {
    Server(Box<Endpoint>),
    File(PathBuf),
}

/// A server and how to connect to it.
#[derive(Clone)]
pub(super) struct Endpoint {
    pub(super) info: ConnectionInfo,
    pub(super) certificates: Option<TlsCertificates>,
    /// Whether the URL names a database.
    pub(super) names_database: bool,
}

const SOURCE_PASSWORD: &str = "MAYHAP_SOURCE_PASSWORD";
const TARGET_PASSWORD: &str = "MAYHAP_TARGET_PASSWORD";

const EXPECTED: &str =
    "give redis://[[USER]:PASSWORD@]HOST[:PORT][/DATABASE], rediss:// for TLS, or unix:///PATH";

pub(super) fn source(args: &MigrateArgs) -> Result<SourcePlace, CliError> {
    match url(&args.source) {
        Some(_) if args.db.is_some() => Err(CliError::message(
            "--db is for RDB files: name the database of a server in its URL, as in redis://HOST:PORT/2",
        )),
        Some(text) => Endpoint::parse("SOURCE", text, SOURCE_PASSWORD, args)
            .map(|endpoint| SourcePlace::Server(Box::new(endpoint))),
        None if may_have_password(&args.source) && !Path::new(&args.source).exists() => Err(
            CliError::message(format!("SOURCE is neither a file nor a URL: {EXPECTED}")),
        ),
        None => Ok(SourcePlace::File(PathBuf::from(&args.source))),
    }
}

pub(super) fn target(args: &MigrateArgs) -> Result<Endpoint, CliError> {
    match url(&args.target) {
        Some(text) => Endpoint::parse("TARGET", text, TARGET_PASSWORD, args),
        None if may_have_password(&args.target) => Err(CliError::message(format!(
            "TARGET is not a URL: {EXPECTED}"
        ))),
        None => Err(CliError::message(format!(
            "TARGET {} is not a URL: {EXPECTED}",
            args.target.display()
        ))),
    }
}

/// Whether it looks like a URL whose beginning was forgotten, so that errors do not repeat it.
fn may_have_password(argument: &OsStr) -> bool {
    argument.as_encoded_bytes().contains(&b'@')
}

/// The argument, if it is a URL and not a path.
fn url(argument: &OsStr) -> Option<&str> {
    argument.to_str().filter(|text| text.contains("://"))
}

impl Endpoint {
    fn parse(role: &str, text: &str, password: &str, args: &MigrateArgs) -> Result<Self, CliError> {
        // The text may have a password, so that errors do not repeat it.
        let invalid =
            |why: String| CliError::message(format!("{role} is not valid ({why}): {EXPECTED}"));
        let mut info = text
            .into_connection_info()
            .map_err(|error| invalid(super::node::describe(&error)))?;
        if let ConnectionAddr::TcpTls {
            host,
            port,
            insecure,
            tls_params,
        } = info.addr().clone()
        {
            let insecure = insecure || args.insecure;
            info = info.set_addr(ConnectionAddr::TcpTls {
                host,
                port,
                insecure,
                tls_params,
            });
        }
        // The replies are read as RESP2, whatever the URL says.
        let mut settings = info
            .redis_settings()
            .clone()
            .set_protocol(ProtocolVersion::RESP2);
        // As in redis-cli, an empty variable is none.
        if let Some(password) = env::var_os(password).filter(|text| !text.is_empty()) {
            let password = password
                .into_string()
                .map_err(|_| invalid("the password in the environment is not UTF-8".to_owned()))?;
            settings = settings.set_password(password);
        }
        info = info.set_redis_settings(settings);
        // A path is a database, except for sockets.
        let names_database = redis::parse_redis_url(text).is_some_and(|url| match info.addr() {
            ConnectionAddr::Unix(_) => url.query_pairs().any(|(name, _)| name == "db"),
            _ => !url.path().trim_matches('/').is_empty(),
        });
        let is_tls = matches!(info.addr(), ConnectionAddr::TcpTls { .. });
        Ok(Self {
            certificates: if is_tls { certificates(args)? } else { None },
            names_database,
            info,
        })
    }

    /// Host and port, without the password.
    pub(super) fn name(&self) -> String {
        name(self.info.addr())
    }

    /// The number of the database.
    pub(super) fn database(&self) -> i64 {
        self.info.redis_settings().db()
    }

    /// The same way to connect, to another node of the cluster.
    pub(super) fn at(&self, host: &str, port: u16) -> Self {
        let host = host.to_owned();
        let addr = match self.info.addr().clone() {
            ConnectionAddr::TcpTls {
                insecure,
                tls_params,
                ..
            } => ConnectionAddr::TcpTls {
                host,
                port,
                insecure,
                tls_params,
            },
            _ => ConnectionAddr::Tcp(host, port),
        };
        Self {
            info: self.info.clone().set_addr(addr),
            ..self.clone()
        }
    }

    /// The host of the URL: nodes of a cluster that do not know their own address are there.
    pub(super) fn host(&self) -> &str {
        match self.info.addr() {
            ConnectionAddr::Tcp(host, _) | ConnectionAddr::TcpTls { host, .. } => host,
            _ => "localhost",
        }
    }

    /// The same server with another database.
    pub(super) fn with_database(&self, database: i64) -> Self {
        let settings = self.info.redis_settings().clone().set_db(database);
        Self {
            info: self.info.clone().set_redis_settings(settings),
            ..self.clone()
        }
    }
}

fn name(addr: &ConnectionAddr) -> String {
    match addr {
        ConnectionAddr::Tcp(host, port) | ConnectionAddr::TcpTls { host, port, .. } => {
            if host.contains(':') {
                format!("[{host}]:{port}")
            } else {
                format!("{host}:{port}")
            }
        }
        other => other.to_string(),
    }
}

fn certificates(args: &MigrateArgs) -> Result<Option<TlsCertificates>, CliError> {
    let read =
        |path: &PathBuf| fs::read(path).map_err(|error| crate::input::cannot_read(path, &error));
    let root_cert = args.cacert.as_ref().map(read).transpose()?;
    let client_tls = match (&args.cert, &args.cert_key) {
        (Some(cert), Some(key)) => Some(redis::ClientTlsConfig {
            client_cert: read(cert)?,
            client_key: read(key)?,
        }),
        _ => None,
    };
    Ok(
        (root_cert.is_some() || client_tls.is_some()).then_some(TlsCertificates {
            client_tls,
            root_cert,
        }),
    )
}
