//! The server as a process, in a folder that outlives it.

use mayhap_testkit::client::Client;
use std::fs::{self, File};
use std::io::{BufRead, BufReader};
use std::net::SocketAddr;
use std::path::PathBuf;
use std::process::{Child, Command, ExitStatus, Stdio};
use tempfile::TempDir;

/// A folder with the data, and beside them what the server says.
pub(crate) struct Home(TempDir);

impl Home {
    pub(crate) fn new() -> Self {
        Self(tempfile::tempdir().expect("a folder"))
    }

    pub(crate) fn data(&self) -> PathBuf {
        self.0.path().join("data")
    }

    pub(crate) fn store(&self) -> PathBuf {
        self.data().join("store")
    }

    /// The stderr of the last server in this folder.
    pub(crate) fn stderr_text(&self) -> String {
        let stderr_text = fs::read(self.0.path().join("stderr.txt")).unwrap_or_default();
        String::from_utf8_lossy(&stderr_text).into_owned()
    }

    /// Files of the log, in order of their names.
    pub(crate) fn files(&self) -> Vec<String> {
        let names = fs::read_dir(self.store()).into_iter().flatten().flatten();
        let names = names.map(|entry| entry.file_name().to_string_lossy().into_owned());
        let mut names: Vec<String> = names.collect();
        names.sort();
        names
    }

    /// The program with arguments, in front of which others may stand.
    pub(crate) fn command(&self, before: &[&str], words: &str) -> Command {
        let program = env!("CARGO_BIN_EXE_mayhap");
        let mut line = before.iter().copied().chain([program, "serve"]);
        let mut command = Command::new(line.next().unwrap_or(program));
        let stderr_text = File::create(self.0.path().join("stderr.txt")).expect("a file");
        command
            .args(line)
            .args(["--port", "0", "--threads", "2", "--dir"])
            .arg(self.data())
            .args(words.split_whitespace())
            .env_remove("MAYHAP_PASSWORD")
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(stderr_text);
        command
    }

    /// A listening server, or the stderr of one that did not start.
    pub(crate) fn try_start(&self, words: &str) -> Result<Server<'_>, String> {
        self.try_start_behind(&[], words)
    }

    pub(crate) fn try_start_behind(
        &self,
        before: &[&str],
        words: &str,
    ) -> Result<Server<'_>, String> {
        let mut child = self.command(before, words).spawn().expect("it starts");
        let mut out = BufReader::new(child.stdout.take().expect("a pipe"));
        let mut line = String::new();
        let _ = out.read_line(&mut line);
        let address = line.split(" listens on ").nth(1);
        let address = address.and_then(|rest| rest.split(',').next()?.parse().ok());
        let Some(address) = address else {
            let status = child.wait().expect("it ends");
            return Err(format!("{}{line}({status})", self.stderr_text()));
        };
        Ok(Server {
            home: self,
            child,
            address,
            actual: line,
            _out: out,
        })
    }

    #[track_caller]
    pub(crate) fn start(&self, words: &str) -> Server<'_> {
        match self.try_start(words) {
            Ok(server) => server,
            Err(stderr_text) => panic!("the server does not start: {stderr_text}"),
        }
    }
}

pub(crate) struct Server<'h> {
    home: &'h Home,
    child: Child,
    pub(crate) address: SocketAddr,
    /// Its first line.
    pub(crate) actual: String,
    /// Kept, so that it can go on telling.
    _out: BufReader<std::process::ChildStdout>,
}

impl Server<'_> {
    pub(crate) fn id(&self) -> u32 {
        self.child.id()
    }

    #[track_caller]
    pub(crate) fn client(&self) -> Client {
        Client::connect(self.address).expect("it listens")
    }

    /// SIGKILL; it is gone when this returns.
    pub(crate) fn kill(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
        self.assert_calm();
    }

    pub(crate) fn signal(&self, name: &str) {
        signal(self.id(), name);
    }

    /// Waits for its end.
    pub(crate) fn ended(&mut self) -> ExitStatus {
        let status = self.child.wait().expect("it ends");
        self.assert_calm();
        status
    }

    fn assert_calm(&self) {
        let stderr_text = self.home.stderr_text();
        assert!(!stderr_text.contains("panicked"), "{stderr_text}");
    }

    /// Bytes in memory now, and the most there were.
    pub(crate) fn resident(&self) -> (u64, u64) {
        let status = fs::read_to_string(format!("/proc/{}/status", self.id())).unwrap_or_default();
        let field = |name: &str| {
            let line = status.lines().find_map(|line| line.strip_prefix(name));
            let number = line.map(|line| line.trim().trim_end_matches(" kB").parse::<u64>());
            number.and_then(Result::ok).unwrap_or(0) << 10
        };
        (field("VmRSS:"), field("VmHWM:"))
    }
}

impl Drop for Server<'_> {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

pub(crate) fn signal(id: u32, name: &str) {
    let sent = Command::new("bash")
        .args(["-c", &format!("kill -{name} {id}")])
        .status();
    assert!(sent.is_ok_and(|status| status.success()));
}
