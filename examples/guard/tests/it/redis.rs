//! A Redis of the test's own, which can be killed and comes back empty at the same address.

use std::io::{BufRead, BufReader};
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdout, Command, Stdio};
use tempfile::TempDir;

pub(crate) struct Redis {
    folder: TempDir,
    process: Option<(Child, BufReader<ChildStdout>)>,
    port: u16,
}

impl Redis {
    pub(crate) fn start() -> Self {
        let mut redis = Self {
            folder: tempfile::tempdir().expect("a folder"),
            process: None,
            port: 0,
        };
        redis.start_empty();
        redis
    }

    pub(crate) fn start_empty(&mut self) {
        let data = self.folder.path().join("data");
        let _ = std::fs::remove_dir_all(&data);
        let mut child = command(&data, self.port)
            .stdout(Stdio::piped())
            .spawn()
            .expect("it starts");
        let mut lines = BufReader::new(child.stdout.take().expect("a pipe"));
        let mut line = String::new();
        lines.read_line(&mut line).expect("a line");
        let address = line.split(" listens on 127.0.0.1:").nth(1);
        let port = address.and_then(|rest| rest.split(',').next()?.parse().ok());
        self.port = port.unwrap_or_else(|| panic!("no port in {line}"));
        self.process = Some((child, lines));
    }

    /// SIGKILL; it is gone when this returns.
    pub(crate) fn kill(&mut self) {
        if let Some((mut child, _)) = self.process.take() {
            let _ = child.kill();
            let _ = child.wait();
        }
    }

    pub(crate) fn url(&self) -> String {
        format!("redis://127.0.0.1:{}", self.port)
    }

    pub(crate) fn connection(&self) -> redis::Connection {
        let client = redis::Client::open(self.url()).expect("an address");
        client.get_connection().expect("Redis answers")
    }
}

impl Drop for Redis {
    fn drop(&mut self) {
        self.kill();
    }
}

fn command(data: &Path, port: u16) -> Command {
    let mut command = Command::new(built("mayhap"));
    command.arg("serve").arg("--dir").arg(data);
    command.args(["--threads", "1", "--port", &port.to_string()]);
    command
}

fn built(name: &str) -> PathBuf {
    let target = Path::new(env!("CARGO_TARGET_TMPDIR"))
        .parent()
        .expect("a folder");
    target.join("release").join(name)
}
