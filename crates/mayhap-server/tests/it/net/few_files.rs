//! A system that has no more files to give.

use super::service::{local, serve};
use std::fs::File;
use std::process::Command;

const CHILD: &str = "MAYHAP_TEST_FEW_FILES";

#[test]
fn a_server_out_of_file_descriptors_reports_it_and_recovers() {
    if std::env::var_os(CHILD).is_some() {
        return in_child();
    }
    let test = std::env::current_exe().unwrap();
    let name = "net::few_files::a_server_out_of_file_descriptors_reports_it_and_recovers";
    let shell = format!("ulimit -n 100; exec \"$0\" {name} --exact --nocapture");
    let child = Command::new("sh")
        .args(["-c", &shell])
        .arg(test)
        .env(CHILD, "1")
        .output();
    let output = child.unwrap();
    let errors = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{errors}");
    assert_eq!(
        errors.matches("accepting a connection").count(),
        1,
        "{errors}"
    );
    assert!(errors.contains("ulimit -n"), "{errors}");
}

fn in_child() {
    let server = serve(local());
    let mut before = server.client();
    assert_eq!(before.ask("PING"), "+PONG");
    let mut files = Vec::new();
    while let Ok(file) = File::open("/dev/null") {
        files.push(file);
    }
    // One for us, none for the server.
    files.pop();
    let mut client = server.client();
    client.send(b"PING\r\n");
    for _ in 0..1000 {
        assert_eq!(before.ask("PING"), "+PONG");
    }
    assert_eq!(server.running.clients(), 1);
    drop(files);
    assert_eq!(client.line(), "+PONG");
    server.stop();
}
