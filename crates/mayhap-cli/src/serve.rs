//! `mayhap serve`: a Redis-compatible filter server.

use crate::error::CliError;
use crate::interrupt::on_signals;
use clap::Args;
use mayhap_server::{Fsync, HttpOptions, Server, ServerOptions, TlsOptions};
use std::fs;
use std::io::Write;
use std::net::{IpAddr, SocketAddr};
use std::path::{Path, PathBuf};
use std::process::ExitCode;

pub(crate) const EXAMPLES: &str = "\
Examples:
  mayhap serve                                  listen on localhost:6380, data in ./mayhap-data
  redis-cli -p 6380 BF.ADD seen apple           use it with any Redis client
  mayhap serve --fsync always                   sync every change before it is acknowledged
  mayhap serve --layout redisbloom              new filters are byte-exact with RedisBloom
  cp bad.mayhap mayhap-data/                    serve a filter file of any format under its name
  mayhap serve --http 127.0.0.1:9380            a page to watch and change filters, /metrics and /health";

#[derive(Args, Debug)]
#[expect(
    clippy::struct_excessive_bools,
    reason = "each is an option of its own"
)]
pub(crate) struct ServeArgs {
    /// Port to listen on; 0 chooses a free port and prints it
    #[arg(long, value_name = "N", default_value_t = 6380)]
    port: u16,
    /// Data folder; created if it is missing
    #[arg(long, value_name = "D", default_value = "mayhap-data")]
    dir: PathBuf,
    /// When changes are synced to disk: before they are acknowledged, every second, or when the system decides
    #[arg(long, value_name = "M", default_value = "everysec", value_parser = ["always", "everysec", "no"])]
    fsync: String,
    /// Layout of new filters: our own, or byte-exact with RedisBloom
    #[arg(long, value_name = "L", default_value = "native", value_parser = ["native", "redisbloom"])]
    layout: String,
    /// Address to listen on; may be repeated
    #[arg(long, value_name = "ADDRESS", default_value = "127.0.0.1")]
    bind: Vec<IpAddr>,
    // Not a doc comment: that would need backticks, which look odd in help texts.
    #[arg(
        long,
        value_name = "FILE",
        help = "File with the password that clients must give; or the environment variable MAYHAP_PASSWORD"
    )]
    password_file: Option<PathBuf>,
    /// Accept connections from other machines without a password
    #[arg(long)]
    open_to_all: bool,
    /// Port with TLS
    #[arg(long, value_name = "N", requires = "tls_cert", requires = "tls_key")]
    tls_port: Option<u16>,
    /// Certificate of the server, PEM
    #[arg(long, value_name = "FILE", requires = "tls_port")]
    tls_cert: Option<PathBuf>,
    /// Its key, PEM
    #[arg(long, value_name = "FILE", requires = "tls_port")]
    tls_key: Option<PathBuf>,
    /// Require client certificates signed by one of these, PEM
    #[arg(long, value_name = "FILE", requires = "tls_port")]
    tls_ca: Option<PathBuf>,
    /// Address for the page, its API, /metrics and /health
    #[arg(long, value_name = "ADDRESS:PORT", value_parser = http_address)]
    http: Option<SocketAddr>,
    /// Name under which browsers may reach the page, besides addresses and localhost; may be repeated
    #[arg(long, value_name = "NAME", requires = "http", value_parser = host_name)]
    http_host: Vec<String>,
    /// The page can change nothing
    #[arg(long, requires = "http")]
    http_read_only: bool,
    /// HTTPS instead of HTTP, with the certificate of --tls-cert
    #[arg(long, requires = "http", requires = "tls_port")]
    http_tls: bool,
    /// Worker threads [default: one per core, up to 8]
    #[arg(long, value_name = "N", default_value_t = 0)]
    threads: usize,
    /// Connections at a time
    #[arg(long, value_name = "N", default_value_t = 10_000)]
    max_clients: usize,
    /// Memory limit for all keys, such as 4gb; 0 means none [default: three quarters of the machine's memory]
    #[arg(long, value_name = "SIZE")]
    max_memory: Option<String>,
    /// Setting as for CONFIG SET; may be repeated
    #[arg(long, value_name = "NAME=VALUE")]
    set: Vec<String>,
    /// Start even if the log is damaged, with the data before the damage
    #[arg(long)]
    accept_loss: bool,
}

pub(crate) fn run(args: &ServeArgs, out: &mut impl Write) -> Result<ExitCode, CliError> {
    let server = Server::start(&options(args)?).map_err(CliError::message)?;
    let handle = server.stop_handle();
    on_signals(move |_| handle.stop())
        .map_err(|error| CliError::message(format!("cannot wait for Ctrl-C: {error}")))?;
    print_banner(args, &server, out)?;
    server.run().map_err(CliError::message)?;
    Ok(ExitCode::SUCCESS)
}

fn print_banner(args: &ServeArgs, server: &Server, out: &mut impl Write) -> Result<(), CliError> {
    let addresses: Vec<String> = server.addresses().iter().map(ToString::to_string).collect();
    writeln!(
        out,
        "mayhap {} listens on {}, data in {} ({})",
        env!("CARGO_PKG_VERSION"),
        addresses.join(" and "),
        args.dir.display(),
        server.recovered(),
    )?;
    if let Some(address) = server.http_address() {
        let scheme = if args.http_tls { "https" } else { "http" };
        let at = format!("{scheme}://{address}");
        writeln!(out, "page on {at}/")?;
        writeln!(out, "metrics on {at}/metrics, health on {at}/health")?;
    }
    let port = server.addresses().first().map_or(0, SocketAddr::port);
    writeln!(out, "try:  redis-cli -p {port} BF.ADD seen apple")?;
    writeln!(out, "      redis-cli -p {port} BF.MEXISTS seen apple pear")?;
    out.flush()?;
    Ok(())
}

fn options(args: &ServeArgs) -> Result<ServerOptions, CliError> {
    let fsync = match args.fsync.as_str() {
        "always" => Fsync::Always,
        "no" => Fsync::No,
        _ => Fsync::EverySecond,
    };
    let mut settings = vec![("mayhap-layout".to_owned(), args.layout.clone())];
    for setting in &args.set {
        let (name, value) = setting.split_once('=').ok_or_else(|| {
            CliError::message(format!(
                "--set {setting}: expected NAME=VALUE, such as bf-error-rate=0.001"
            ))
        })?;
        settings.push((name.to_owned(), value.to_owned()));
    }
    if let Some(size) = &args.max_memory {
        settings.push(("maxmemory".to_owned(), size.clone()));
    }
    let tls = match (args.tls_port, &args.tls_cert, &args.tls_key) {
        (Some(port), Some(certificate), Some(key)) => Some(TlsOptions {
            port,
            certificate: certificate.clone(),
            key: key.clone(),
            client_authorities: args.tls_ca.clone(),
        }),
        _ => None,
    };
    Ok(ServerOptions {
        bind: args.bind.clone(),
        port: args.port,
        tls,
        http: args.http,
        http_options: HttpOptions {
            hosts: args.http_host.clone(),
            is_read_only: args.http_read_only,
            uses_tls: args.http_tls,
        },
        password: password(args.password_file.as_deref())?,
        is_open_to_all: args.open_to_all,
        fsync,
        workers: args.threads,
        max_clients: args.max_clients,
        settings,
        accepts_loss: args.accept_loss,
        ..ServerOptions::new(&args.dir)
    })
}

/// `localhost` is an address here too: it is what users type into a browser.
fn http_address(text: &str) -> Result<SocketAddr, &'static str> {
    let local = text.strip_prefix("localhost:");
    let local = local.map(|port| format!("127.0.0.1:{port}"));
    let address = local.as_deref().unwrap_or(text).parse();
    address.map_err(|_| "give an address and a port, such as 127.0.0.1:8080")
}

/// A name that no request could have would silently allow nothing.
fn host_name(text: &str) -> Result<String, &'static str> {
    let is_name = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'.' | b'_');
    if text.is_empty() || !text.bytes().all(is_name) {
        return Err("give a name without scheme and port, such as filters.example.com");
    }
    Ok(text.to_owned())
}

/// From the first line of a file, or from the environment. Not an argument, because other users can see those.
fn password(file: Option<&Path>) -> Result<Vec<u8>, CliError> {
    let Some(path) = file else {
        let given = std::env::var_os("MAYHAP_PASSWORD").unwrap_or_default();
        return Ok(given.into_encoded_bytes());
    };
    let bytes = fs::read(path)
        .map_err(|error| CliError::message(format!("{}: {error}", path.display())))?;
    let line = bytes
        .split(|byte| *byte == b'\n')
        .next()
        .unwrap_or_default();
    let line = line.strip_suffix(b"\r").unwrap_or(line);
    if line.is_empty() {
        let path = path.display();
        return Err(CliError::message(format!(
            "{path} is empty or begins with an empty line: its first line must be the password"
        )));
    }
    Ok(line.to_vec())
}

#[cfg(test)]
mod tests {
    use super::{host_name, http_address};

    #[test]
    fn an_http_address_is_an_address_or_localhost() {
        for (text, expected) in [
            ("127.0.0.1:8080", Some("127.0.0.1:8080")),
            ("localhost:8080", Some("127.0.0.1:8080")),
            ("[::1]:80", Some("[::1]:80")),
            ("0.0.0.0:0", Some("0.0.0.0:0")),
            ("8080", None),
            (":8080", None),
            ("localhost", None),
            ("localhost:x", None),
            ("example.com:80", None),
        ] {
            let address = http_address(text).ok().map(|address| address.to_string());
            assert_eq!(address.as_deref(), expected, "{text}");
        }
    }

    #[test]
    fn a_host_name_has_no_port() {
        assert!(host_name("filters.example.com").is_ok());
        for text in ["", "a b", "example.com:80", "http://example.com", "[::1]"] {
            assert!(host_name(text).is_err(), "{text}");
        }
    }
}
