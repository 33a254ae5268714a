//! A disk that is full: changes are refused, questions answered, and when there is room again it goes on.

use crate::serve::process::Home;
use mayhap_testkit::client::{Client, ParsedReply, words};
use std::fs;
use std::path::Path;
use std::process::Command;

/// A small disk over a folder, unmounted in the end.
struct Disk<'p>(&'p Path);

impl<'p> Disk<'p> {
    /// None where one may not mount.
    fn mount(path: &'p Path, options: &str) -> Option<Self> {
        fs::create_dir_all(path).expect("a folder");
        let mount = Command::new("mount")
            .args(["-t", "tmpfs", "-o", options, "tmpfs"])
            .arg(path)
            .output();
        match mount {
            Ok(output) if output.status.success() => Some(Self(path)),
            actual => {
                eprintln!("not run, a small disk cannot be mounted here: {actual:?}");
                None
            }
        }
    }
}

impl Drop for Disk<'_> {
    fn drop(&mut self) {
        let _ = Command::new("umount").arg("-l").arg(self.0).status();
    }
}

/// What was acknowledged: strings and items by their numbers.
#[derive(Default)]
struct Known(Vec<u32>);

fn text(number: u32) -> String {
    format!("{number:08}").repeat(1000)
}

impl Known {
    /// Inserts until an error, at most so often, and returns the error.
    fn add(&mut self, client: &mut Client, from: u32, most: u32) -> Option<ParsedReply> {
        for number in from..from + most {
            let name = format!("s{number}");
            let set = client
                .call(&["SET", &name, &text(number)])
                .expect("a reply");
            if !set.is_ok() {
                return Some(set);
            }
            let added = client.call_line(&format!("BF.ADD bloom {number}"));
            if added.number().is_none() {
                return Some(added);
            }
            self.0.push(number);
        }
        None
    }

    fn verify(&self, client: &mut Client) {
        for number in &self.0 {
            let actual = client.call_line(&format!("GET s{number}"));
            assert_eq!(
                actual,
                ParsedReply::Bulk(text(*number).into_bytes()),
                "s{number}"
            );
            let actual = client.call_line(&format!("BF.EXISTS bloom {number}"));
            assert_eq!(actual.number(), Some(1), "{number}");
        }
    }
}

/// Sends writes together with others that change nothing, until the disk is full. A reply that nothing changed depends on the
/// log as well, so it becomes an error too.
fn refused_as_a_whole(client: &mut Client) {
    for number in 0.. {
        let set = ["SET", &format!("full{number}"), &text(number)].map(Vec::from);
        let requests = [
            set.to_vec(),
            words("DEL nothing"),
            words("BF.RESERVE bloom 0.01 100"),
            words("EXPIRE nothing 10"),
            words("GET s0"),
        ];
        let replies = client.pipeline(&requests).expect("replies");
        assert!(matches!(replies[4], ParsedReply::Bulk(_)), "{replies:?}");
        if replies[0].is_ok() {
            assert_eq!(replies[1].number(), Some(0));
            assert!(replies[2].is_error("ERR item exists"), "{replies:?}");
            continue;
        }
        for reply in &replies[..4] {
            assert!(reply.is_error("MISCONF"), "{replies:?}");
        }
        return;
    }
}

/// Whether INFO says so.
fn info_has(client: &mut Client, line: &str) -> bool {
    client.call_line("INFO persistence").text().contains(line)
}

#[test]
fn a_full_disk_takes_nothing_and_loses_nothing() {
    for fsync in ["always", "everysec"] {
        let home = Home::new();
        let data = home.data();
        let Some(_disk) = Disk::mount(&data, "size=7m") else {
            return;
        };
        // Without it there is room for a snapshot beside the log.
        let ballast = data.join("ballast");
        fs::write(&ballast, vec![1; 4 << 20]).expect("ballast");
        let options = format!("--fsync {fsync}");
        let mut known = Known::default();
        let mut server = home.start(&options);
        let mut client = server.client();

        let refusal = known
            .add(&mut client, 0, 10_000)
            .expect("the disk gets full");
        assert!(refusal.is_error("MISCONF"), "{refusal:?}");
        assert!(known.0.len() > 50, "{}", known.0.len());
        for line in [
            "BF.ADD bloom x",
            "CF.ADD c x",
            "SET s x",
            "DEL s0",
            "RENAME s0 s1",
            "FLUSHALL",
            "EXPIRE s0 1",
        ] {
            let reply = client.call_line(line);
            assert!(reply.is_error("MISCONF"), "{line}: {reply:?}");
        }
        assert!(info_has(&mut client, "aof_last_write_status:err"));
        known.verify(&mut client);

        // Killed as it is, and started where nothing can be written.
        server.kill();
        drop(server);
        let mut server = home.start(&options);
        let mut client = server.client();
        known.verify(&mut client);
        refused_as_a_whole(&mut client);
        let refusal = known
            .add(&mut client, 20_000, 10_000)
            .expect("it is still full");
        assert!(refusal.is_error("MISCONF"), "{refusal:?}");

        // With room, a snapshot heals the log by and by, without a word from anybody.
        fs::remove_file(&ballast).expect("removed");
        while client.call_line("BF.ADD bloom again").number().is_none() {}
        assert!(info_has(&mut client, "aof_last_write_status:ok"));
        assert_eq!(known.add(&mut client, 40_000, 20), None);
        known.verify(&mut client);
        server.kill();
        drop(server);
        let server = home.start(&options);
        known.verify(&mut server.client());
    }
}
