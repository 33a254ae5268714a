//! `uniq --state` on a pipe that stays open: for weeks, until a signal.

use super::disk::signal;
use super::folder::{Folder, code, lines, numbered, stderr_text};
use std::io::{BufRead, BufReader, Read, Write};
use std::process::{Child, ChildStdin, ChildStdout, Stdio};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::sleep;
use std::time::Duration;

/// A run with a pipe on both sides.
struct Stream {
    child: Child,
    to: ChildStdin,
    from: BufReader<ChildStdout>,
}

impl Stream {
    fn start(folder: &Folder, words: &str) -> Self {
        let mut child = folder
            .mayhap(words)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .expect("the program starts");
        let to = child.stdin.take().expect("a pipe");
        let from = BufReader::new(child.stdout.take().expect("a pipe"));
        Self { child, to, from }
    }

    /// Writes lines, and waits until the last of them is printed.
    fn pass(&mut self, text: &str) {
        self.to.write_all(text.as_bytes()).expect("it reads");
        let last = text.lines().last().unwrap_or_default();
        let mut line = String::new();
        while line.trim_end() != last {
            line.clear();
            let read = self.from.read_line(&mut line).expect("it answers");
            assert!(read > 0, "{last} was not printed");
        }
    }

    /// Its exit code, the rest of its output, and stderr. The input stays open.
    fn end(mut self) -> (Option<i32>, String, String) {
        let (mut rest, mut errors) = (String::new(), String::new());
        self.from.read_to_string(&mut rest).expect("text");
        let stderr = self.child.stderr.take();
        stderr
            .expect("a pipe")
            .read_to_string(&mut errors)
            .expect("text");
        (self.child.wait().expect("it ends").code(), rest, errors)
    }
}

#[test]
fn a_signal_saves_what_was_printed_while_the_input_is_silent() {
    for (name, status) in [("INT", 130), ("TERM", 143), ("HUP", 129)] {
        for words in ["", "-j 1", "-j 4", "--window 1h", "--save-every 7d"] {
            let folder = Folder::with(&[("old", "old\n")]);
            folder.done(&format!("uniq --state s.mayhap {words} old"));
            let mut stream = Stream::start(&folder, &format!("uniq --state s.mayhap {words}"));
            stream.pass("old\nnew-1\nnew-2\n");
            // A line without its end was not printed.
            stream.to.write_all(b"unfinished").expect("it reads");
            signal(&stream.child, name);
            let (code, rest, errors) = stream.end();
            assert_eq!(code, Some(status), "{name} {words}: {errors}");
            assert_eq!((rest.as_str(), errors.as_str()), ("", ""), "{name} {words}");
            let again = folder.feed(
                "uniq --state s.mayhap",
                "new-2\nunfinished\nold\nnew-1\nnew-3\n",
            );
            assert_eq!(lines(&again), ["unfinished", "new-3"], "{name} {words}");
            assert_eq!(folder.names(), ["old", "s.mayhap"], "{name} {words}");
        }
    }
}

#[test]
fn everything_that_was_read_is_printed_before_a_signal_ends_it() {
    let folder = Folder::new();
    folder.write("many", numbered("https://example.org/", 0..2_000_000));
    for step in 1..7_u64 {
        folder.write("out", "");
        let mut child = folder
            .bash("exec mayhap uniq --state s.mayhap many > out")
            .spawn()
            .expect("bash starts");
        sleep(Duration::from_millis(40 * step * step));
        signal(&child, "TERM");
        let status = child.wait().expect("it ends").code();
        assert!(matches!(status, Some(0 | 1 | 143) | None), "{status:?}");
        // What was printed is in the state, and what is in the state was printed.
        let printed = String::from_utf8_lossy(&folder.read("out")).lines().count();
        if printed > 0 {
            assert_eq!(
                code(&folder.run("check -v -q s.mayhap out")),
                1,
                "step {step}"
            );
        }
        let left = lines(&folder.run("uniq -c --state s.mayhap many"));
        let left: usize = left[0].parse().expect("a number");
        // Two lines may look alike, at one in a million.
        assert!(
            (1_999_970..=2_000_000).contains(&(printed + left)),
            "step {step}: {printed} and {left}"
        );
        folder.shell("rm -f s.mayhap out");
    }
}

#[test]
fn a_line_that_was_read_when_a_signal_came_is_printed() {
    const LINE_BYTES: usize = 16;
    for round in 0..20_u64 {
        let folder = Folder::new();
        let (mut pipe, mut to) = std::io::pipe().expect("a pipe");
        let words = ["", "-j 1", "-j 4"][round as usize % 3];
        let mut child = folder
            .mayhap(&format!("uniq --state s.mayhap {words}"))
            .stdin(pipe.try_clone().expect("a pipe"))
            .stdout(Stdio::piped())
            .spawn()
            .expect("the program starts");
        let is_done = Arc::new(AtomicBool::new(false));
        let writer = std::thread::spawn({
            let is_done = Arc::clone(&is_done);
            // Whole lines at once, and slower than uniq, so that it often has nothing else to do when a line comes.
            move || {
                let mut written = 0_u64;
                while !is_done.load(Ordering::Relaxed) {
                    let line = format!("{written:0width$}\n", width = LINE_BYTES - 1);
                    to.write_all(line.as_bytes()).expect("a reader");
                    written += 1;
                    std::thread::yield_now();
                }
                written
            }
        });
        let mut from = child.stdout.take().expect("a pipe");
        let printer = std::thread::spawn(move || {
            let mut printed = String::new();
            from.read_to_string(&mut printed).expect("text");
            printed
        });
        sleep(Duration::from_millis(50 + round));
        signal(&child, "TERM");
        assert_eq!(child.wait().expect("it ends").code(), Some(143));
        is_done.store(true, Ordering::Relaxed);
        let mut all = printer.join().expect("text");
        // What uniq has not read is still in the pipe, and follows without a gap.
        let rest = std::thread::spawn(move || {
            let mut rest = String::new();
            pipe.read_to_string(&mut rest).expect("text");
            rest
        });
        let written = writer.join().expect("it ends");
        all += &rest.join().expect("text");
        // A new line is taken for an old one at a rate of one in a million.
        let lost = written - all.lines().count() as u64;
        assert!(lost <= 1, "round {round}: {lost} lines of {written}");
    }
}

#[test]
fn an_idle_pipe_is_saved_at_the_interval() {
    let folder = Folder::new();
    let mut stream = Stream::start(&folder, "uniq --state s.mayhap --save-every 50ms");
    for round in 0..3 {
        let line = format!("line-{round}\n");
        stream.pass(&line);
        // No more input comes until the state has the line.
        folder.write("line", &line);
        while !folder.join("s.mayhap").exists() || code(&folder.run("check -q s.mayhap line")) != 0
        {
            sleep(Duration::from_millis(20));
        }
    }
    // Killed, it has lost nothing.
    stream.child.kill().expect("it runs");
    stream.end();
    let again = folder.feed("uniq --state s.mayhap", "line-0\nline-1\nline-2\nline-3\n");
    assert_eq!(lines(&again), ["line-3"]);
}

#[test]
fn a_busy_pipe_is_saved_at_the_interval() {
    let folder = Folder::new();
    let mut child = folder
        .mayhap("uniq --state s.mayhap --save-every 50ms")
        .stdin(Stdio::piped())
        .stdout(Stdio::null())
        .spawn()
        .expect("the program starts");
    let mut to = child.stdin.take().expect("a pipe");
    let writer = std::thread::spawn(move || {
        let mut begin = 0;
        // Until the pipe is closed.
        while to
            .write_all(numbered("", begin..begin + 1000).as_bytes())
            .is_ok()
        {
            begin += 1000;
        }
    });
    while !folder.join("s.mayhap").exists() {
        sleep(Duration::from_millis(20));
    }
    signal(&child, "TERM");
    assert_eq!(child.wait().expect("it ends").code(), Some(143));
    writer.join().expect("it ends with the pipe");
    folder.write("first", numbered("", 0..1000));
    assert_eq!(code(&folder.run("check -v -q s.mayhap first")), 1);
}

#[test]
fn a_save_that_fails_is_reported_once_and_tried_again() {
    let folder = Folder::new();
    folder.shell("mkdir states");
    let mut stream = Stream::start(&folder, "uniq --state states/s.mayhap --save-every 30ms");
    stream.pass("one\n");
    while !folder.join("states/s.mayhap").exists() {
        sleep(Duration::from_millis(20));
    }
    folder.shell("mv states away");
    stream.pass("two\n");
    sleep(Duration::from_millis(300));
    folder.shell("mv away states");
    folder.write("two", "two\n");
    while code(&folder.run("check -q states/s.mayhap two")) != 0 {
        sleep(Duration::from_millis(20));
    }
    signal(&stream.child, "TERM");
    let (code, _, errors) = stream.end();
    assert_eq!(code, Some(143));
    assert!(
        errors.lines().count() == 1 && errors.contains("uniq tries again"),
        "{errors}"
    );
}

#[test]
fn a_second_signal_ends_it_at_once() {
    let folder = Folder::new();
    folder.write("many", numbered("https://example.org/", 0..100_000));
    // Nobody reads the output, so it cannot be flushed.
    let stream = Stream::start(&folder, "uniq --state s.mayhap many");
    sleep(Duration::from_millis(300));
    signal(&stream.child, "TERM");
    sleep(Duration::from_millis(300));
    signal(&stream.child, "INT");
    let mut child = stream.child;
    assert_eq!(child.wait().expect("it ends").code(), Some(130));
    assert_eq!(folder.names(), ["many"]);
}

#[test]
fn an_error_after_some_lines_saves_those_that_were_printed() {
    let folder = Folder::with(&[("keys", "1\n2\n")]);
    let output = folder.run("uniq --state s.mayhap keys missing");
    assert_eq!((code(&output), lines(&output).len()), (2, 2));
    assert!(
        stderr_text(&output).contains("missing"),
        "{}",
        stderr_text(&output)
    );
    assert_eq!(code(&folder.run("uniq --state s.mayhap keys")), 1);
}

#[test]
fn the_count_so_far_is_printed_when_a_signal_comes() {
    let folder = Folder::new();
    let mut stream = Stream::start(&folder, "uniq -c -v --state s.mayhap --save-every 50ms");
    stream.to.write_all(b"1\n2\n1\n").expect("it reads");
    while !folder.join("s.mayhap").exists() {
        sleep(Duration::from_millis(20));
    }
    signal(&stream.child, "INT");
    let (code, rest, errors) = stream.end();
    assert_eq!((code, rest.as_str()), (Some(130), "2\n"));
    assert!(errors.contains("2 new, 1 repeated"), "{errors}");
}
