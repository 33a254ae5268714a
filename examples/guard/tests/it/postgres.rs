//! A PostgreSQL of the test's own: in a temporary folder, behind a socket in it, without a port.

use postgres::{Client, NoTls};
use std::ffi::OsStr;
use std::fmt::Write as _;
use std::io::Write as _;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

const SCHEMA: &str = include_str!("../../schema.sql");

pub(crate) struct Postgres {
    programs: PathBuf,
    folder: PathBuf,
}

impl Postgres {
    /// A new cluster with `users` rows: `user-0`, `user-1`, ...
    pub(crate) fn with_users(users: u64) -> Self {
        // Not in TMPDIR, which may be root's own, or too long for the name of a socket.
        let folder = output(as_postgres("mktemp").args(["-d", "/tmp/guard-XXXXXX"]));
        let postgres = Self {
            programs: programs(),
            folder: PathBuf::from(folder.trim()),
        };
        let data = postgres.folder.join("data");
        output(postgres.run("initdb").arg("-D").arg(&data).args([
            "--username=postgres",
            "--auth=trust",
            "--encoding=UTF8",
            "--locale=C",
            "--no-sync",
        ]));
        let socket = format!("-k {}", postgres.folder.display());
        let options = format!("{socket} -c listen_addresses= -c fsync=off -c autovacuum=off");
        let mut start = postgres.run("pg_ctl");
        start
            .arg("-D")
            .arg(&data)
            .arg("-l")
            .arg(postgres.folder.join("log"));
        output(start.args(["--wait", "-o", &options, "start"]));
        postgres.load(users);
        postgres
    }

    fn load(&self, users: u64) {
        let mut client = self.client();
        client.batch_execute(SCHEMA).expect("a table");
        let mut rows = client.copy_in("COPY users FROM STDIN").expect("COPY");
        let mut lines = String::new();
        for number in 0..users {
            let _ = writeln!(lines, "user-{number}\t{number}@example.org");
            if lines.len() > 1 << 16 || number + 1 == users {
                rows.write_all(lines.as_bytes()).expect("rows");
                lines.clear();
            }
        }
        rows.finish().expect("COPY");
        client
            .batch_execute("VACUUM ANALYZE users")
            .expect("VACUUM");
    }

    pub(crate) fn address(&self) -> String {
        format!("host={} user=postgres", self.folder.display())
    }

    pub(crate) fn client(&self) -> Client {
        Client::connect(&self.address(), NoTls).expect("PostgreSQL answers")
    }

    /// How often the primary key was searched, after every session of the service has ended: sessions report when they end, and leave
    /// the list after that.
    pub(crate) fn index_scans(&self) -> u64 {
        let mut client = self.client();
        let mut number = |query: &str| -> i64 {
            let row = client.query_one(query, &[]).expect("a row");
            row.get(0)
        };
        let sessions = "SELECT count(*) FROM pg_stat_activity WHERE application_name = 'guard'";
        while number(sessions) > 0 {}
        let scans = "SELECT idx_scan FROM pg_stat_user_tables WHERE relname = 'users'";
        number(scans).try_into().expect("a count")
    }

    fn run(&self, program: &str) -> Command {
        as_postgres(self.programs.join(program))
    }
}

impl Drop for Postgres {
    fn drop(&mut self) {
        let mut stop = self.run("pg_ctl");
        stop.arg("-D").arg(self.folder.join("data"));
        let _ = stop.args(["--mode=immediate", "--wait", "stop"]).output();
        let _ = as_postgres("rm").arg("-rf").arg(&self.folder).status();
    }
}

/// The newest of Debian's versions, which are not in the path, or else what is.
fn programs() -> PathBuf {
    let versions = Path::new("/usr/lib/postgresql").read_dir();
    let versions = versions.into_iter().flatten().flatten();
    let programs = versions.map(|version| version.path().join("bin"));
    let newest = programs.filter(|bin| bin.join("initdb").exists()).max();
    newest
        .unwrap_or_else(|| PathBuf::from(output(Command::new("pg_config").arg("--bindir")).trim()))
}

/// PostgreSQL refuses to be run by root.
fn as_postgres(program: impl AsRef<OsStr>) -> Command {
    let is_root = std::fs::metadata("/proc/self").is_ok_and(|this| this.uid() == 0);
    let mut command = if is_root {
        let mut command = Command::new("runuser");
        command.args(["-u", "postgres", "--"]).arg(program);
        command
    } else {
        Command::new(program)
    };
    command.current_dir("/").stdin(Stdio::null());
    command
}

#[track_caller]
fn output(command: &mut Command) -> String {
    let output = command.output();
    let output =
        output.unwrap_or_else(|error| panic!("{command:?}: {error}; tools/install-postgres.sh"));
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{command:?}: {said}");
    String::from_utf8_lossy(&output.stdout).into_owned()
}
