//! The server through its sockets, as clients see it.

mod admin;
mod backup;
mod concurrent_clients;
mod expected;
mod filter_files;
mod generic;
mod golden;
mod memory;
mod net;
mod requests;
mod restart;
mod tools;
mod transcripts;
mod unauthenticated;
mod web;

use mayhap_server::{Server, ServerOptions, StopHandle};
use mayhap_testkit::raw_client::RawClient;
use std::net::SocketAddr;
use std::thread::JoinHandle;
use tempfile::TempDir;

/// A server of its own for a test, on a port of its own.
struct Running {
    address: SocketAddr,
    http: Option<SocketAddr>,
    stop: StopHandle,
    thread: Option<JoinHandle<Result<(), String>>>,
}

impl Running {
    fn with(options: &ServerOptions) -> Self {
        let server = Server::start(options).expect("it starts");
        Self {
            address: server.addresses()[0],
            http: server.http_address(),
            stop: server.stop_handle(),
            thread: Some(std::thread::spawn(move || server.run())),
        }
    }

    fn client(&self) -> RawClient {
        RawClient::connect(self.address)
    }

    /// Ends it in an orderly way.
    fn end(mut self) {
        self.stop.stop();
        let thread = self.thread.take().expect("it runs");
        thread
            .join()
            .expect("no panic")
            .expect("everything is written");
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        self.stop.stop();
        if let Some(thread) = self.thread.take() {
            let _ = thread.join();
        }
    }
}

/// A folder, and the options for it.
fn folder() -> (TempDir, ServerOptions) {
    let folder = tempfile::tempdir().expect("a folder");
    let options = ServerOptions {
        port: 0,
        workers: 2,
        ..ServerOptions::new(folder.path())
    };
    (folder, options)
}

fn redisbloom(options: &mut ServerOptions) {
    let layout = ("mayhap-layout".to_owned(), "redisbloom".to_owned());
    options.settings.push(layout);
}
