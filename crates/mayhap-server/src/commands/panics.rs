//! A command that panics, for tests of panics. Only test builds have it.

use super::ServerCommand;
use super::long::RunsLong;
use super::table::KeyspaceAccess;
use crate::call::{Call, CommandResult};
use crate::keyspace::{KeyEntry, Value};
use crate::net::AfterReply;
use mayhap_command::{Arity, Categories, CommandSpec, Flags, KeyPositions};

/// `TEST.PANIC READ|WRITE key`.
pub(super) static PANIC: ServerCommand = ServerCommand {
    spec: CommandSpec {
        name: "test.panic",
        arity: Arity::exactly(3),
        flags: Flags::WRITE,
        categories: Categories::NONE,
        keys: KeyPositions::at(2),
        group: "test",
        summary: "Panics.",
        complexity: "",
        since: "0.1.0",
        arguments: &[],
    },
    keyspace_access: KeyspaceAccess::Shared,
    run: panic,
    subcommands: &[],
    locked_keys: KeyPositions::at(2),
    replaced_key: None,
    runs_long: RunsLong::Never,
    after_reply: AfterReply::GoOn,
};

fn panic(call: &mut Call<'_>) -> CommandResult {
    let key = call.args[2];
    if call.is(1, "read") {
        call.engine
            .keys
            .read(key, call.now, |_| panic!("while it was read"));
    } else {
        call.engine.keys.replace(key, |body| {
            *body = Some(KeyEntry::new(Value::Text((*b"half").into())));
            panic!("while it was changed");
        });
    }
    Ok(())
}

mod tests {
    use crate::{Server, ServerOptions};
    use std::io::{BufRead, BufReader, Write};
    use std::net::TcpStream;

    struct Client(BufReader<TcpStream>);

    impl Client {
        fn to(server: &Server) -> Self {
            let stream = TcpStream::connect(server.addresses()[0]).expect("it listens");
            Self(BufReader::new(stream))
        }

        fn send(&mut self, line: &str) -> String {
            let stream = self.0.get_mut();
            let _ = stream.write_all(format!("{line}\r\n").as_bytes());
            let mut reply = String::new();
            let _ = self.0.read_line(&mut reply);
            reply.trim().to_owned()
        }
    }

    /// A panic of a command that reads is an error reply. After a panic of a command that writes the server shuts down without further
    /// replies, and the next start restores everything that was acknowledged.
    #[test]
    fn a_panic_is_an_error_and_nothing_that_was_acknowledged_is_lost() {
        let folder = tempfile::tempdir().expect("a folder");
        let options = ServerOptions {
            port: 0,
            workers: 2,
            ..ServerOptions::new(folder.path())
        };
        let server = Server::start(&options).expect("it starts");
        let (mut client, mut other) = (Client::to(&server), Client::to(&server));
        for key in 0..100 {
            assert_eq!(client.send(&format!("BF.ADD k{key} x")), ":1");
        }
        let reply = client.send("TEST.PANIC READ k7");
        assert!(
            reply.starts_with("-ERR internal error in test.panic: while it was read"),
            "{reply}"
        );
        assert_eq!(client.send("BF.EXISTS k7 x"), ":1");
        assert_eq!(other.send("BF.ADD k7 y"), ":1");
        let reply = client.send("TEST.PANIC WRITE k7");
        assert!(reply.starts_with("-ERR internal error"), "{reply}");
        // Either there is no reply, or an error.
        let reply = other.send("BF.EXISTS k7 x");
        assert!(
            reply.is_empty() || reply.starts_with("-ERR internal error"),
            "{reply}"
        );
        let ended = server.run().expect_err("it does not pretend to be well");
        assert!(ended.contains("internal error"), "{ended}");
        let server = Server::start(&options).expect("it starts");
        let mut client = Client::to(&server);
        for key in 0..100 {
            assert_eq!(client.send(&format!("BF.EXISTS k{key} x")), ":1", "k{key}");
        }
        assert_eq!(client.send("BF.EXISTS k7 y"), ":1");
        server.stop_handle().stop();
        server.run().expect("it ends well");
    }
}
