//! Servers that a page of the guide starts with `mayhap serve .. &` and ends with SHUTDOWN.

use std::io::{BufRead, BufReader};
use std::net::TcpListener;
use std::process::{Child, Command, Stdio};

/// The ports that pages name; tests that run beside each other need ports of their own.
const NAMED: [&str; 3] = ["6380", "6381", "9380"];

pub(crate) struct Servers {
    running: Vec<(String, Child)>,
    ports: Vec<String>,
}

impl Servers {
    pub(crate) fn new() -> Self {
        let listeners = NAMED.map(|_| TcpListener::bind("127.0.0.1:0").expect("a free port"));
        let port = |listener: &TcpListener| listener.local_addr().expect("a port").port();
        Self {
            running: Vec::new(),
            ports: listeners.iter().map(|one| port(one).to_string()).collect(),
        }
    }

    /// A command of the page with the ports that are ours.
    pub(crate) fn to_ours(&self, text: &str) -> String {
        let pairs = NAMED.iter().zip(&self.ports);
        pairs.fold(text.to_owned(), |text, (named, ours)| {
            text.replace(named, ours)
        })
    }

    /// What a command printed, with the ports that the page names.
    pub(crate) fn to_named(&self, text: &str) -> String {
        let pairs = NAMED.iter().zip(&self.ports);
        pairs.fold(text.to_owned(), |text, (named, ours)| {
            text.replace(ours, named)
        })
    }

    /// Starts one and waits for its first lines.
    pub(crate) fn start(&mut self, command: &str, mut bash: Command, lines: usize) -> String {
        bash.stdin(Stdio::null()).stdout(Stdio::piped());
        let mut child = bash.spawn().expect("bash starts");
        let output = child.stdout.take().expect("it is a pipe");
        self.running.push((command.to_owned(), child));
        let actual = BufReader::new(output).lines().take(lines);
        actual.map(|line| line.expect("a line") + "\n").collect()
    }

    /// Waits for those that a command has ended, so that the next may have their folder.
    pub(crate) fn after(&mut self, command: &str) {
        if !command.contains("SHUTDOWN") {
            return;
        }
        let is_named = |port: &&String| command.contains(*port);
        let port = self.ports.iter().find(is_named).expect("a port").clone();
        self.running.retain_mut(|(started, child)| {
            if started.contains(&port) {
                assert!(child.wait().expect("it ends").success(), "{started}");
            }
            !started.contains(&port)
        });
    }

    /// Whether the page has ended all that it started.
    pub(crate) fn are_ended(&self) -> bool {
        self.running.is_empty()
    }
}

impl Drop for Servers {
    fn drop(&mut self) {
        for (_, child) in &mut self.running {
            let _ = child.kill();
            let _ = child.wait();
        }
    }
}
