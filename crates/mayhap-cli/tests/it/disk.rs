//! Disks that are full, folders that are read-only, and programs that are stopped: nothing half stays.

use super::folder::{Folder, assert_refused, code, lines, numbered, stderr_text};
use std::process::{Child, Command, Stdio};
use std::thread::sleep;
use std::time::Duration;

/// A disk of its own, as small or as read-only as a test wants it; unmounted in the end.
struct Disk<'a> {
    folder: &'a Folder,
    name: &'static str,
}

impl<'a> Disk<'a> {
    /// None where one may not mount.
    fn mount(folder: &'a Folder, name: &'static str, options: &str) -> Option<Self> {
        let output = folder.shell(&format!(
            "mkdir -p {name} && mount -t tmpfs -o {options} tmpfs {name}"
        ));
        if output.status.success() {
            return Some(Self { folder, name });
        }
        eprintln!(
            "not run, a small disk cannot be mounted here: {}",
            stderr_text(&output)
        );
        None
    }

    fn remount(&self, options: &str) {
        let output = self
            .folder
            .shell(&format!("mount -o remount,{options} {}", self.name));
        assert_eq!(code(&output), 0, "{}", stderr_text(&output));
    }
}

impl Drop for Disk<'_> {
    fn drop(&mut self) {
        self.folder.shell(&format!("umount {}", self.name));
    }
}

#[test]
fn a_full_disk_leaves_what_was_there() {
    let folder = Folder::new();
    folder.write("few", "one\ntwo\n");
    folder.write("many", numbered("", 0..200_000));
    let Some(_disk) = Disk::mount(&folder, "disk", "size=1m") else {
        return;
    };
    folder.done("build -o disk/f.mayhap few");
    folder.done("uniq -q --state disk/seen.mayhap few");
    let before = folder.shell("cd disk && sha256sum * && ls -A").stdout;
    for words in [
        "build -o disk/f.mayhap --capacity 10M many",
        "build -o disk/f.mayhap --capacity 10M few",
        "build -o disk/new.mayhap --capacity 10M many",
        "build -o disk/new.guava --format guava --capacity 10M many",
        "build -o disk/new.mayhap --kind ribbon --fpr 1e-9 many",
    ] {
        assert_refused(
            words,
            &folder.run(words),
            &["cannot be written", "free some space"],
        );
    }
    let output = folder.run("uniq -q --state disk/seen.mayhap many");
    assert_eq!(code(&output), 2, "{}", stderr_text(&output));
    assert!(
        stderr_text(&output).contains("free some space"),
        "{}",
        stderr_text(&output)
    );
    let after = folder.shell("cd disk && sha256sum * && ls -A").stdout;
    assert_eq!(
        String::from_utf8_lossy(&after),
        String::from_utf8_lossy(&before)
    );
}

#[test]
fn a_read_only_folder_is_reported_before_the_work() {
    let folder = Folder::with(&[("keys", "one\ntwo\n")]);
    let Some(disk) = Disk::mount(&folder, "disk", "size=1m") else {
        return;
    };
    folder.done("build -o disk/f.mayhap --kind cuckoo keys");
    folder.done("uniq -q --state disk/seen.mayhap keys");
    disk.remount("ro");
    for words in [
        "build -o disk/f.mayhap -",
        "build -o disk/new.mayhap keys",
        "add disk/f.mayhap keys",
        "remove disk/f.mayhap keys",
        "uniq -q --state disk/seen.mayhap keys",
        "uniq -q --state disk/new.mayhap keys",
        "man --dir disk/man",
    ] {
        let output = folder.run(words);
        assert_eq!(code(&output), 2, "{words}");
        assert!(
            stderr_text(&output).contains("folder that you may write to"),
            "{words}: {}",
            stderr_text(&output)
        );
    }
    // Asking needs no place to write.
    assert_eq!(lines(&folder.run("check -c disk/f.mayhap keys")), ["2"]);
}

#[test]
fn a_full_standard_output_is_an_error() {
    let folder = Folder::with(&[("keys", "one\ntwo\n")]);
    folder.done("build -o f.mayhap keys");
    for words in [
        "check f.mayhap keys",
        "check -c f.mayhap keys",
        "uniq -q keys",
        "uniq -q -c keys",
        "build keys",
        "info f.mayhap",
        "convert f.mayhap",
        "verify f.mayhap",
        "completions bash",
        "man",
        "uniq -q --state seen.mayhap keys",
    ] {
        let output = folder.shell(&format!(
            "test -e /dev/full || exit 9; mayhap {words} > /dev/full"
        ));
        if code(&output) == 9 {
            eprintln!("not run, there is no /dev/full");
            return;
        }
        assert_refused(words, &output, &["standard output cannot be written"]);
    }
    // What did not get out was not seen.
    assert!(!folder.join("seen.mayhap").exists());
}

/// A program that works until it is stopped, in a folder with a pipe to hold it.
fn start(folder: &Folder, words: &str) -> Child {
    folder
        .mayhap(words)
        .stdin(Stdio::piped())
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()
        .expect("the program starts")
}

pub(crate) fn signal(child: &Child, name: &str) {
    let sent = Command::new("bash")
        .args(["-c", &format!("kill -{name} {}", child.id())])
        .status();
    assert!(sent.is_ok_and(|status| status.success()));
}

#[test]
fn an_interrupted_build_leaves_nothing() {
    for (name, status) in [("INT", 130), ("TERM", 143)] {
        for words in [
            "build -o f.mayhap -",
            "build -o f.mayhap --capacity 1M -",
            "uniq --state f.mayhap -",
            "build -o f.guava --format guava -",
        ] {
            let folder = Folder::new();
            let mut child = start(&folder, words);
            // Open until the end: an input that ends would let it finish.
            let _stdin = child.stdin.take();
            sleep(Duration::from_millis(150));
            signal(&child, name);
            let ended = child.wait().expect("it ends");
            assert_eq!(ended.code(), Some(status), "{words}");
            assert_eq!(folder.names(), [""; 0], "{words}");
        }
    }
}

#[test]
fn a_save_that_is_interrupted_leaves_the_old_file() {
    // Large enough that some signals arrive while the file is being written.
    let folder = Folder::with(&[("keys", "one\ntwo\n")]);
    folder.done("build -o f.mayhap keys");
    let old = folder.read("f.mayhap");
    for step in 0..12_u64 {
        let mut child = start(&folder, "build -o f.mayhap --capacity 30M keys");
        sleep(Duration::from_millis(3 * step * step));
        signal(&child, "INT");
        let code = child.wait().expect("it ends").code();
        let mut names = folder.names();
        names.retain(|name| name != "f.mayhap" && name != "keys");
        assert_eq!(names, [""; 0], "after {step}");
        if code == Some(0) {
            break;
        }
        // Before the handler stands, the signal itself ends the program.
        assert!(matches!(code, Some(130) | None), "{code:?}");
        assert!(
            folder.read("f.mayhap") == old || code_of_check(&folder) == 0,
            "after {step}"
        );
    }
}

fn code_of_check(folder: &Folder) -> i32 {
    code(&folder.run("verify f.mayhap"))
}

#[test]
fn a_killed_save_leaves_a_complete_state() {
    let folder = Folder::new();
    folder.write("first", numbered("first-", 0..1000));
    folder.write("second", numbered("second-", 0..1_000_000));
    folder.done("uniq -q --state seen.mayhap first");
    let mut is_saved = false;
    for step in 0..40_u64 {
        let mut child = start(&folder, "uniq -q --state seen.mayhap second");
        sleep(Duration::from_millis(step * 15));
        let _ = child.kill();
        let status = child.wait().expect("it ends");
        folder.done("verify seen.mayhap");
        let left = lines(&folder.run("check -v -c seen.mayhap first"));
        assert_eq!(left, ["0"], "after {step}");
        if status.success() {
            is_saved = true;
            break;
        }
    }
    // A lock of one that was killed does not stand in the way.
    let output = folder.run("uniq -q -c --state seen.mayhap second");
    assert!(code(&output) < 2, "{}", stderr_text(&output));
    assert!(!is_saved || lines(&output) == ["0"]);
    assert_eq!(lines(&folder.run("check -v -c seen.mayhap second")), ["0"]);
}
