//! A folder of its own for each test, and the program started in it.

use std::fs;
use std::io::Write;
use std::ops::Range;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};

pub(crate) struct Folder(tempfile::TempDir);

impl Folder {
    pub(crate) fn new() -> Self {
        Self(tempfile::tempdir().expect("a folder"))
    }

    /// A folder with files in it.
    pub(crate) fn with(files: &[(&str, &str)]) -> Self {
        let folder = Self::new();
        for (name, contents) in files {
            folder.write(name, contents);
        }
        folder
    }

    pub(crate) fn path(&self) -> &Path {
        self.0.path()
    }

    pub(crate) fn join(&self, name: &str) -> PathBuf {
        self.0.path().join(name)
    }

    pub(crate) fn write(&self, name: &str, contents: impl AsRef<[u8]>) {
        fs::write(self.join(name), contents).expect("a file");
    }

    pub(crate) fn read(&self, name: &str) -> Vec<u8> {
        fs::read(self.join(name)).unwrap_or_else(|error| panic!("{name}: {error}"))
    }

    /// All names in it, hidden ones too.
    pub(crate) fn names(&self) -> Vec<String> {
        let mut names: Vec<String> = fs::read_dir(self.path())
            .expect("the folder")
            .map(|entry| entry.expect("an entry").file_name())
            .map(|name| name.to_string_lossy().into_owned())
            .collect();
        names.sort();
        names
    }

    /// The program with arguments given as one line of words, without input.
    pub(crate) fn mayhap(&self, words: &str) -> Command {
        let mut command = super::mayhap(words);
        command.current_dir(self.path());
        command
    }

    pub(crate) fn run(&self, words: &str) -> Output {
        self.mayhap(words).output().expect("the program starts")
    }

    /// Runs it and wants success.
    pub(crate) fn done(&self, words: &str) -> Output {
        let output = self.run(words);
        assert_eq!(code(&output), 0, "{words}: {}", stderr_text(&output));
        output
    }

    /// Runs it with bytes on standard input.
    pub(crate) fn feed(&self, words: &str, input: impl AsRef<[u8]>) -> Output {
        feed(self.mayhap(words), input)
    }

    /// A line of bash, in which `mayhap` is the program under test.
    pub(crate) fn shell(&self, line: &str) -> Output {
        self.bash(line).output().expect("bash starts")
    }

    pub(crate) fn bash(&self, line: &str) -> Command {
        let program = PathBuf::from(env!("CARGO_BIN_EXE_mayhap"));
        let mut path = program.parent().expect("a folder").as_os_str().to_owned();
        path.push(":");
        path.push(std::env::var_os("PATH").unwrap_or_default());
        let mut command = Command::new("bash");
        command
            .args(["-c", line])
            .env("PATH", path)
            .stdin(Stdio::null())
            .current_dir(self.path());
        in_plain_surroundings(&mut command);
        command
    }
}

/// A test means the same on a desk and in CI: what decides about colours comes from the test alone.
pub(crate) fn in_plain_surroundings(command: &mut Command) {
    for name in ["CI", "NO_COLOR", "CLICOLOR", "CLICOLOR_FORCE", "COLORTERM"] {
        command.env_remove(name);
    }
    command.env("TERM", "xterm");
}

/// Runs a command with bytes on standard input.
pub(crate) fn feed(mut command: Command, input: impl AsRef<[u8]>) -> Output {
    command
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped());
    let mut child = command.spawn().expect("the program starts");
    let mut stdin = child.stdin.take().expect("a pipe");
    let input = input.as_ref().to_vec();
    // It may have enough before it has read all.
    let writer = std::thread::spawn(move || stdin.write_all(&input));
    let output = child.wait_with_output().expect("it ends");
    let _ = writer.join();
    output
}

/// Lines that are a prefix and a number each.
pub(crate) fn numbered(prefix: &str, numbers: Range<u32>) -> String {
    let mut text = String::new();
    for number in numbers {
        text.push_str(prefix);
        text.push_str(&number.to_string());
        text.push('\n');
    }
    text
}

/// The exit code; a signal is a bug.
pub(crate) fn code(output: &Output) -> i32 {
    output.status.code().expect("it ended by itself")
}

/// Its stderr as text.
pub(crate) fn stderr_text(output: &Output) -> String {
    String::from_utf8_lossy(&output.stderr).into_owned()
}

/// Lines that it printed.
pub(crate) fn lines(output: &Output) -> Vec<String> {
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    text.lines().map(str::to_owned).collect()
}

/// Status 2, nothing on stdout, and one line that has all these words.
pub(crate) fn assert_refused(what: &str, output: &Output, words: &[&str]) {
    let stderr_text = stderr_text(output);
    assert_eq!(code(output), 2, "{what}: {stderr_text}");
    assert!(output.stdout.is_empty(), "{what}");
    assert!(stderr_text.starts_with("mayhap: "), "{what}: {stderr_text}");
    assert!(
        stderr_text.ends_with('\n') && stderr_text.lines().count() == 1,
        "{what}: {stderr_text}"
    );
    assert!(!stderr_text.contains("panicked"), "{what}: {stderr_text}");
    for word in words {
        assert!(
            stderr_text.contains(word),
            "{what}: no {word:?} in {stderr_text}"
        );
    }
}
