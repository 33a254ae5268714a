//! Tests of the module in redis-server. `cargo build --workspace` builds it first.

mod alike;
mod hostile;
mod limits;
mod transcripts;

use mayhap_testkit::raw_client::RawClient;
use std::fs::File;
use std::io::{Read, Write};
use std::net::{Ipv4Addr, SocketAddr, TcpListener, TcpStream};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::Duration;
use tempfile::TempDir;

/// A redis-server with the module, for one test.
struct Engine {
    process: Child,
    address: SocketAddr,
    folder: TempDir,
}

/// The path of the built module.
fn module() -> PathBuf {
    let target = option_env!("CARGO_TARGET_DIR").map_or_else(
        || Path::new(env!("CARGO_MANIFEST_DIR")).join("../../target"),
        PathBuf::from,
    );
    let path = target.join("debug/libmayhap_module.so");
    path.canonicalize().unwrap_or_else(|_| {
        panic!(
            "{} is missing: run `cargo build --workspace`",
            path.display()
        )
    })
}

impl Engine {
    /// Starts it with arguments of the module, and options of redis-server.
    fn start(words: &[&str], options: &[&str]) -> Self {
        let folder = tempfile::tempdir().expect("a folder");
        // Another process may take the port first.
        for _ in 0..20 {
            let free = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).expect("a port");
            let address = free.local_addr().expect("a port");
            drop(free);
            let log = File::create(folder.path().join("log")).expect("a file");
            let mut process = Command::new("redis-server")
                .args(["--port", &address.port().to_string(), "--dir"])
                .arg(folder.path())
                .args(["--save", "", "--loadmodule"])
                .arg(module())
                .args(words)
                .args(options)
                .stderr(Stdio::from(log.try_clone().expect("a file")))
                .stdout(Stdio::from(log))
                .spawn()
                .expect("redis-server is installed: `apt-get install redis-server`");
            loop {
                if answers(address) {
                    return Self {
                        process,
                        address,
                        folder,
                    };
                }
                if process.try_wait().expect("a process").is_some() {
                    break;
                }
                std::thread::sleep(Duration::from_millis(10));
            }
        }
        panic!("redis-server does not start: {}", log_of(folder.path()));
    }

    fn client(&self) -> RawClient {
        RawClient::connect(self.address)
    }

    /// A field of `INFO`.
    fn info(&self, name: &str) -> u64 {
        let told = self.client().call("INFO everything");
        let mut lines = told.lines();
        let value = lines.find_map(|line| line.strip_prefix(name)?.strip_prefix(':'));
        value
            .and_then(|value| value.parse().ok())
            .unwrap_or_else(|| panic!("no {name} in {told}"))
    }

    /// Checks that it still answers and has logged no bug report.
    #[track_caller]
    fn expect_health(&self) {
        self.client().expect("PING", "+PONG\r\n");
        let log = log_of(self.folder.path());
        assert!(
            !log.contains("panicked") && !log.contains("crashed"),
            "{log}"
        );
    }
}

/// Whether it answers. The socket exists before the module is loaded.
fn answers(address: SocketAddr) -> bool {
    let Ok(mut stream) = TcpStream::connect(address) else {
        return false;
    };
    let mut reply = [0; 7];
    let asked = stream.write_all(b"PING\r\n");
    asked.and_then(|()| stream.read_exact(&mut reply)).is_ok() && reply == *b"+PONG\r\n"
}

fn log_of(folder: &Path) -> String {
    std::fs::read_to_string(folder.join("log")).unwrap_or_default()
}

impl Drop for Engine {
    fn drop(&mut self) {
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}
