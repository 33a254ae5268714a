//! grep's manners: streams, exit codes, closed pipes, help that teaches.

use super::{mayhap, run, stderr, stdout};
use std::fs::OpenOptions;
use std::io::Read;
use std::process::{Command, Stdio};

#[test]
fn without_a_subcommand_help_goes_to_stderr() {
    let output = run("");
    assert_eq!(output.status.code(), Some(2));
    assert_eq!(stdout(&output), "");
    assert!(stderr(&output).contains("Examples:"));
}

#[test]
fn help_teaches_by_examples() {
    for (words, example) in [
        ("--help", "mayhap plan --keys"),
        ("-h", "mayhap bench"),
        ("help", "mayhap bench"),
        ("bench --help", "mayhap bench --kind bloom"),
        ("plan --help", "mayhap plan --memory"),
        ("join --help", "mayhap join --left"),
    ] {
        let output = run(words);
        assert_eq!(output.status.code(), Some(0), "{words}");
        assert_eq!(stderr(&output), "", "{words}");
        let help = stdout(&output);
        assert!(
            help.contains("Examples:") && help.contains(example),
            "{help}"
        );
        assert!(!help.contains('\u{1b}'), "no colours in a pipe");
    }
}

#[test]
fn the_examples_of_plan_work() {
    let output = run("plan --help");
    let examples = stdout(&output)
        .lines()
        .filter_map(|line| line.trim().strip_prefix("mayhap plan "))
        .map(|line| line.split("  ").next().unwrap_or(line))
        // What is drawn would stay here; it has a test of its own.
        .filter(|line| line.starts_with("--") && !line.contains("--plot"))
        .collect::<Vec<_>>();
    assert!(examples.len() >= 6, "{examples:?}");
    for example in examples {
        let output = run(&format!("plan {example}"));
        assert_eq!(
            output.status.code(),
            Some(0),
            "{example}: {}",
            stderr(&output)
        );
    }
}

#[test]
fn version_is_one_line() {
    let output = run("--version");
    assert_eq!(output.status.code(), Some(0));
    assert_eq!(
        stdout(&output),
        concat!("mayhap ", env!("CARGO_PKG_VERSION"), "\n")
    );
}

#[test]
fn a_closed_stdout_is_not_an_error() {
    for words in [
        "bench --keys 1k,2k",
        "bench --keys 1k --json",
        "plan --keys 1M --fpr 1%",
        "--help",
    ] {
        let mut child = mayhap(words)
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        drop(child.stdout.take());
        let output = child.wait_with_output().unwrap();
        assert_eq!(output.status.code(), Some(0), "{words}");
        assert_eq!(stderr(&output), "", "{words}");
    }
}

#[test]
fn a_reader_that_takes_one_line_gets_it() {
    let mut child = mayhap("bench --keys 1k,2k")
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let mut first = [0; 7];
    child.stdout.take().unwrap().read_exact(&mut first).unwrap();
    assert_eq!(&first, b"mayhap ");
    let output = child.wait_with_output().unwrap();
    assert_eq!(output.status.code(), Some(0));
    assert_eq!(stderr(&output), "");
}

#[test]
fn a_full_disk_is_an_error() {
    // Linux has a device for this; elsewhere there is nothing to test with.
    for words in ["plan --keys 1M --fpr 1%", "bench --keys 1k", "--help"] {
        let Ok(full) = OpenOptions::new().write(true).open("/dev/full") else {
            return;
        };
        let output = mayhap(words).stdout(full).output().unwrap();
        assert_eq!(output.status.code(), Some(2), "{words}");
        let stderr_text = stderr(&output);
        assert!(
            stderr_text.starts_with("mayhap: standard output") && stderr_text.lines().count() == 1,
            "{stderr_text}"
        );
    }
}

#[test]
fn the_progress_bar_is_for_terminals() {
    // script(1) runs a command on a terminal of its own; stdout goes away, so that what it records is stderr.
    let command = format!(
        "{} bench --keys 10k --json >/dev/null",
        env!("CARGO_BIN_EXE_mayhap")
    );
    let mut script = Command::new("script");
    script
        .args(["-q", "-e", "-c", &command, "/dev/null"])
        .stdin(Stdio::null());
    super::folder::in_plain_surroundings(&mut script);
    match script.output() {
        Ok(output) if output.status.success() => {
            let stderr_text = String::from_utf8_lossy(&output.stdout);
            assert!(stderr_text.contains("10k keys at 1 %"), "{stderr_text}");
        }
        other => eprintln!("not run, script(1) does not work here: {other:?}"),
    }
}
