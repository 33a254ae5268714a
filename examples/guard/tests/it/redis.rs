//! A redis-server of the test's own with mayhap's module, behind a socket in a temporary folder; it can be killed and comes back.

use std::io::{BufRead, BufReader};
use std::path::Path;
use std::process::{Child, ChildStdout, Command, Stdio};
use tempfile::TempDir;

pub(crate) struct Redis {
    folder: TempDir,
    process: Option<(Child, BufReader<ChildStdout>)>,
}

impl Redis {
    pub(crate) fn start() -> Self {
        let mut redis = Self {
            folder: tempfile::tempdir().expect("a folder"),
            process: None,
        };
        redis.start_with_what_it_saved();
        redis
    }

    pub(crate) fn start_empty(&mut self) {
        let _ = std::fs::remove_file(self.folder.path().join("dump.rdb"));
        self.start_with_what_it_saved();
    }

    /// It listens when this returns.
    pub(crate) fn start_with_what_it_saved(&mut self) {
        let mut command = redis_with_module(self.folder.path());
        let child = command.stdin(Stdio::null()).stdout(Stdio::piped()).spawn();
        let mut child = child.expect("redis-server, which tools/install-postgres.sh installs");
        let mut log = BufReader::new(child.stdout.take().expect("a pipe"));
        let mut said = String::new();
        while !said.contains("eady to accept connections") {
            let length = log.read_line(&mut said).expect("a line");
            assert!(length > 0, "it has ended: {said}");
        }
        // Kept open, so that it can go on telling.
        self.process = Some((child, log));
    }

    /// SIGKILL; it is gone when this returns.
    pub(crate) fn kill(&mut self) {
        if let Some((mut child, _)) = self.process.take() {
            let _ = child.kill();
            let _ = child.wait();
        }
    }

    pub(crate) fn url(&self) -> String {
        format!(
            "redis+unix://{}",
            self.folder.path().join("socket").display()
        )
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

/// A Redis that saves when it is told to.
fn redis_with_module(folder: &Path) -> Command {
    let target = Path::new(env!("CARGO_TARGET_TMPDIR")).parent();
    let module = target.expect("a folder").join("debug/libmayhap_module.so");
    let built = module.exists();
    assert!(
        built,
        "`cargo build --workspace` builds {}",
        module.display()
    );
    let mut command = Command::new("redis-server");
    command.args(["--port", "0", "--save", "", "--appendonly", "no"]);
    command.arg("--dir").arg(folder);
    command.arg("--unixsocket").arg(folder.join("socket"));
    command.arg("--loadmodule").arg(module);
    command
}
