//! The guide is run: every `$ command` in its blocks, in a folder of its own, with the output that stands under it.

use super::background::Servers;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

/// Blocks of one page share a folder and run from top to bottom.
fn run_page(page: &str) {
    let path = Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("../..")
        .join(page);
    let text = fs::read_to_string(&path).expect("the page");
    let folder = tempfile::tempdir().expect("a folder");
    let mut servers = Servers::new();
    let mut ran = 0;
    for block in text.split("```console\n").skip(1) {
        let block = block.split("```").next().unwrap_or_default();
        for (command, expected) in commands(block) {
            let ours = servers.to_ours(&command);
            let printed = match ours.strip_suffix(" &") {
                Some(server) => {
                    let bash = bash(&format!("exec {server}"), folder.path());
                    servers.start(server, bash, expected.trim_end().lines().count())
                }
                None => shell(&ours, folder.path()),
            };
            let printed = servers.to_named(&printed);
            assert!(
                matches(&expected, &printed),
                "{page}: $ {command}\nshould print\n{expected}\nand printed\n{printed}"
            );
            // It waits for a server that was shut down, which a command that could not run did not do.
            servers.after(&ours);
            ran += 1;
        }
    }
    assert!(ran > 0, "{page} has no commands");
    assert!(servers.are_ended(), "{page} leaves a server behind");
}

/// Commands and the lines under each; a command goes on where its line ends in a backslash.
fn commands(block: &str) -> Vec<(String, String)> {
    let mut commands: Vec<(String, String)> = Vec::new();
    let mut goes_on = false;
    for line in block.lines() {
        if let Some(command) = line.strip_prefix("$ ") {
            commands.push((command.to_owned(), String::new()));
            goes_on = line.ends_with('\\');
        } else if let Some((command, expected)) = commands.last_mut() {
            let part = if goes_on { command } else { expected };
            if !part.is_empty() {
                part.push('\n');
            }
            part.push_str(line);
            goes_on = goes_on && line.ends_with('\\');
        }
    }
    commands
}

/// What a command prints on both streams.
fn shell(command: &str, folder: &Path) -> String {
    let mut bash = bash(&format!("{{ {command}\n}} 2>&1"), folder);
    let output = bash.output().expect("bash starts");
    String::from_utf8_lossy(&output.stdout)
        .trim_end()
        .to_owned()
}

/// A shell that finds the program that is tested.
fn bash(script: &str, folder: &Path) -> Command {
    let program = PathBuf::from(env!("CARGO_BIN_EXE_mayhap"));
    let mut path = program.parent().expect("a folder").as_os_str().to_owned();
    path.push(":");
    path.push(std::env::var_os("PATH").unwrap_or_default());
    let mut bash = Command::new("bash");
    bash.args(["-c", script])
        .current_dir(folder)
        .env("PATH", path);
    super::folder::in_plain_surroundings(&mut bash);
    bash
}

/// Equal, but for `...`, which stands for anything within a line, or for lines when it is one.
fn matches(expected: &str, printed: &str) -> bool {
    let mut lines = printed.lines();
    let mut skips = false;
    for line in expected.trim_end().lines() {
        if line == "..." {
            skips = true;
        } else if skips {
            skips = false;
            if !lines.any(|printed| matches_line(line, printed)) {
                return false;
            }
        } else if !lines
            .next()
            .is_some_and(|printed| matches_line(line, printed))
        {
            return false;
        }
    }
    skips || lines.next().is_none()
}

fn matches_line(expected: &str, printed: &str) -> bool {
    let mut parts = expected.split("...");
    let Some(mut rest) = printed.strip_prefix(parts.next().unwrap_or_default()) else {
        return false;
    };
    let mut is_open = false;
    for part in parts {
        is_open = part.is_empty();
        match rest.find(part) {
            Some(at) => rest = &rest[at + part.len()..],
            None => return false,
        }
    }
    is_open || rest.is_empty()
}

#[test]
fn the_runner_can_fail() {
    assert!(matches("a\n...\nc", "a\nb\nb\nc") && matches("a ... c", "a b c"));
    for (expected, printed) in [
        ("a", "b"),
        ("a", "a\nb"),
        ("a\nb", "a"),
        ("a ... c", "a b d"),
    ] {
        assert!(!matches(expected, printed), "{expected} {printed}");
    }
}

#[test]
fn the_command_line_guide() {
    run_page("docs/guide/command-line.md");
}

#[test]
fn the_server_guide() {
    run_page("docs/guide/server.md");
}

#[test]
fn the_dashboard_guide() {
    run_page("docs/guide/dashboard.md");
}

#[test]
fn the_page_of_cassandra() {
    run_page("docs/formats/cassandra.md");
}

#[test]
fn both_readmes() {
    run_page("README.md");
    run_page("README.zh-CN.md");
}
