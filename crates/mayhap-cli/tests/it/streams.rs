//! Pipes, closed streams and terminals.

use super::folder::{Folder, assert_refused, code, lines, numbered, stderr_text};
use std::fs::File;
use std::io::{BufRead, BufReader, Write};
use std::process::Stdio;

fn many(folder: &Folder) {
    let text: String = numbered("https://example.org/", 0..300_000);
    folder.write("many", text);
}

#[test]
fn a_reader_that_disconnects_is_not_an_error() {
    let folder = Folder::new();
    many(&folder);
    folder.done("build -o f.mayhap many");
    for words in [
        "uniq -q many",
        "uniq -q -j 1 many",
        "check f.mayhap many",
        "check -j 2 f.mayhap many",
        "check f.mayhap < many",
        "build many",
        "completions zsh",
        "man",
        "help build",
    ] {
        let output = folder.shell(&format!(
            "mayhap {words} | head -c 1 > /dev/null; echo ${{PIPESTATUS[0]}}"
        ));
        assert_eq!(lines(&output), ["0"], "{words}: {}", stderr_text(&output));
        assert_eq!(stderr_text(&output), "", "{words}");
    }
}

#[test]
fn lines_that_were_not_printed_do_not_count_as_seen() {
    let folder = Folder::with(&[("few", "https://example.org/1\n")]);
    many(&folder);
    folder.done("uniq -q --state seen.mayhap few");
    let before = folder.read("seen.mayhap");
    let output =
        folder.shell("mayhap uniq -q --state seen.mayhap many | head -1; echo ${PIPESTATUS[0]}");
    assert_eq!(
        lines(&output),
        ["https://example.org/0", "0"],
        "{}",
        stderr_text(&output)
    );
    assert!(folder.read("seen.mayhap") == before);
    assert_eq!(
        lines(&folder.run("uniq -q -c --state seen.mayhap many")),
        ["299999"]
    );
}

#[test]
fn closed_streams_are_no_panic() {
    let folder = Folder::with(&[("keys", "one\ntwo\n")]);
    for (line, status) in [
        ("mayhap uniq -q <&-", 1),
        ("mayhap build -o f.mayhap <&-", 0),
        ("mayhap uniq -q keys >&-", 0),
        ("mayhap uniq keys 2>&-", 0),
        ("mayhap uniq missing 2>&-", 2),
        ("mayhap --frob 2>&-", 2),
        ("mayhap 2>&-", 2),
        ("mayhap uniq missing 2> /dev/full", 2),
        ("mayhap build -o g.mayhap keys <&- >&- 2>&-", 0),
    ] {
        let output = folder.shell(line);
        assert_eq!(code(&output), status, "{line}: {}", stderr_text(&output));
    }
    folder.done("verify g.mayhap");
}

#[test]
fn lines_are_not_kept_waiting() {
    let folder = Folder::with(&[("keys", "one\ntwo\n")]);
    folder.done("build -o f.mayhap --fpr 1e-6 keys");
    for words in [
        "check --line-buffered f.mayhap",
        "uniq -q --line-buffered",
        "uniq -q -j 4 --line-buffered",
        // Lines of a pipe are printed as they arrive.
        "uniq",
        "uniq -j 1",
        "uniq -j 4 --state s.mayhap",
    ] {
        let mut child = folder
            .mayhap(words)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .expect("the program starts");
        let mut to = child.stdin.take().expect("a pipe");
        let mut from = BufReader::new(child.stdout.take().expect("a pipe"));
        for line in ["one\n", "two\n"] {
            // The next line goes in when the one before is out; kept back, this would wait for ever.
            to.write_all(line.as_bytes()).expect("it reads");
            let mut answer = String::new();
            from.read_line(&mut answer).expect("it answers");
            assert_eq!(answer, line, "{words}");
        }
        drop(to);
        assert!(child.wait().expect("it ends").success(), "{words}");
    }
}

#[test]
fn a_terminal_shows_lines_as_they_arrive() {
    let folder = Folder::with(&[("keys", "one\ntwo\n")]);
    folder.done("build -o f.mayhap --fpr 1e-6 keys");
    if on_a_terminal(&folder, "true").is_none() {
        return;
    }
    folder.shell("mkfifo pipe");
    for words in ["check f.mayhap", "uniq"] {
        let mut child = folder
            .bash(&format!(
                "script -q -e -c 'mayhap {words} < pipe' /dev/null"
            ))
            .stdout(Stdio::piped())
            .spawn()
            .expect("bash starts");
        let mut to = File::create(folder.join("pipe")).expect("it opens the pipe");
        let mut from = BufReader::new(child.stdout.take().expect("a pipe"));
        for line in ["one", "two"] {
            // The next line goes in when the one before is shown.
            writeln!(to, "{line}").expect("it reads");
            let mut shown = String::new();
            while !shown.contains(line) {
                shown.clear();
                let read = from.read_line(&mut shown).expect("it answers");
                assert!(read > 0, "{words}: {line} was not shown");
            }
        }
        drop(to);
        assert!(child.wait().expect("it ends").success(), "{words}");
    }
}

#[test]
fn standard_input_is_read_once() {
    let folder = Folder::with(&[("keys", "one\ntwo\n")]);
    folder.done("build -o f.mayhap keys");
    assert_eq!(
        lines(&folder.feed("uniq -q - keys", "zero\none\n")),
        ["zero", "one", "two"]
    );
    assert_eq!(
        lines(&folder.feed("check - keys", folder.read("f.mayhap"))),
        ["one", "two"]
    );
    for words in ["check -", "check - -", "check - keys -"] {
        let output = folder.feed(words, folder.read("f.mayhap"));
        assert_refused(words, &output, &["standard input", "give"]);
    }
    for words in ["add - keys", "remove - keys", "uniq --state - keys"] {
        assert_refused(
            words,
            &folder.run(words),
            &["standard input", "give the path of a filter file"],
        );
    }
    assert_eq!(folder.names(), ["f.mayhap", "keys"]);
}

/// Runs a line of bash on a terminal of its own, and gives what that shows; none where there is no script(1).
fn on_a_terminal(folder: &Folder, line: &str) -> Option<String> {
    folder.write("line", line);
    let output = folder.shell("script -q -e -c 'bash line' /dev/null");
    if output.status.success() {
        return Some(String::from_utf8_lossy(&output.stdout).into_owned());
    }
    eprintln!(
        "not run, script(1) does not work here: {}",
        stderr_text(&output)
    );
    None
}

/// Lines that come slowly: longer than a short work, and a second run of them.
const SLOW: &str = "(for i in 1 2 3 4 5 6 7 8 9 10 11 12; do echo $i; sleep 0.1; done)";

#[test]
fn long_work_shows_a_bar_on_a_terminal_and_nowhere_else() {
    let folder = Folder::with(&[("keys", "1\n2\n")]);
    folder.done("build -o f.mayhap keys");
    for words in [
        "build -o g.mayhap",
        "build -o g.mayhap --capacity 9",
        "build -o g.guava --format guava",
        "check f.mayhap > out",
        "uniq > out",
        "add f.mayhap",
    ] {
        let Some(shown) = on_a_terminal(&folder, &format!("{SLOW} | mayhap {words}")) else {
            return;
        };
        assert!(shown.contains("B/s"), "{words}: {shown:?}");
        let output = folder.shell(&format!("{SLOW} | mayhap {words}"));
        assert!(
            !stderr_text(&output).contains("B/s"),
            "{words}: {}",
            stderr_text(&output)
        );
        // Short work has none.
        let shown = on_a_terminal(&folder, &format!("mayhap {words} < keys")).unwrap_or_default();
        assert!(!shown.contains("B/s"), "{words}: {shown:?}");
    }
}

#[test]
fn the_progress_bar_is_cleared_before_messages() {
    let folder = Folder::new();
    let Some(shown) = on_a_terminal(&folder, &format!("{SLOW} | mayhap uniq > out")) else {
        return;
    };
    let last = shown
        .rsplit(['\r', '\n'])
        .find(|line| !line.trim().is_empty())
        .unwrap_or_default();
    assert!(last.contains("12 new, 0 repeated"), "{shown:?}");
    let after = shown.rsplit("12 new").next().unwrap_or_default();
    assert!(
        !after.contains("B/s") && !after.contains("\u{1b}[2K"),
        "{shown:?}"
    );
}

#[test]
fn no_bar_among_the_lines_that_a_person_reads() {
    let folder = Folder::with(&[("keys", "1\n2\n")]);
    folder.done("build -o f.mayhap keys");
    for words in ["uniq -q", "check f.mayhap"] {
        let Some(shown) = on_a_terminal(&folder, &format!("{SLOW} | mayhap {words}")) else {
            return;
        };
        assert!(
            !shown.contains("B/s") && shown.contains("2\r\n"),
            "{words}: {shown:?}"
        );
    }
}

#[test]
fn colours_are_for_terminals_without_no_color() {
    let folder = Folder::new();
    let colour = "\u{1b}[";
    let Some(shown) = on_a_terminal(&folder, "mayhap --help") else {
        return;
    };
    assert!(shown.contains("Examples:"), "{shown}");
    for line in [
        "NO_COLOR=1 mayhap --help",
        "NO_COLOR=1 mayhap uniq --help",
        "TERM=dumb mayhap --help",
        "mayhap --help | cat",
    ] {
        let shown = on_a_terminal(&folder, line).unwrap_or_default();
        assert!(
            shown.contains("Examples:") && !shown.contains(colour),
            "{line}: {shown:?}"
        );
    }
    for line in [
        "NO_COLOR=1 mayhap bench --keys 1k --json > /dev/null",
        "NO_COLOR=1 mayhap --frob || true",
    ] {
        let shown = on_a_terminal(&folder, line).unwrap_or_default();
        assert!(!shown.contains("\u{1b}[3"), "{line}: {shown:?}");
    }
}

#[test]
fn a_filter_does_not_go_to_a_terminal() {
    let folder = Folder::with(&[("keys", "1\n2\n")]);
    for words in ["build keys", "build -o - keys"] {
        let Some(shown) = on_a_terminal(&folder, &format!("mayhap {words}; echo status $?")) else {
            return;
        };
        assert!(
            shown.contains("is a terminal: use -o FILE") && shown.contains("status 2"),
            "{shown:?}"
        );
    }
}
