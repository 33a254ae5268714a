//! The programs in `samples/`.

use crate::{crate_folder, library_folder, run};
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

/// How a sample is linked and run.
#[derive(Clone, Copy, PartialEq, Debug)]
enum Build {
    Shared,
    Static,
    /// Linked statically, with the address sanitizer in the C code and around `malloc`.
    Sanitized,
    Valgrind,
}

const BUILDS: [Build; 4] = [
    Build::Shared,
    Build::Static,
    Build::Sanitized,
    Build::Valgrind,
];

/// Compiles a sample.
fn compile(name: &str, build: Build, folder: &Path) -> PathBuf {
    let program = folder.join(format!("{name}-{build:?}"));
    let libraries = library_folder();
    let mut command = Command::new("cc");
    command
        .args([
            "-std=c11",
            "-D_GNU_SOURCE",
            "-g",
            "-Wall",
            "-Wextra",
            "-Werror",
            "-pedantic",
            "-I",
        ])
        .arg(crate_folder().join("include"))
        .arg(crate_folder().join(format!("samples/{name}.c")))
        .arg("-o")
        .arg(&program);
    if build == Build::Shared || build == Build::Valgrind {
        // Programs load the library by the name in it.
        let shared = folder.join("libmayhap_c.so.0");
        if !shared.exists() {
            std::os::unix::fs::symlink(libraries.join("libmayhap_c.so"), &shared).expect("a link");
        }
        command
            .arg("-L")
            .arg(&libraries)
            .args(["-lmayhap_c", "-Wl,-rpath,$ORIGIN"]);
    } else {
        if build == Build::Sanitized {
            command.args(["-fsanitize=address,undefined", "-fno-sanitize-recover=all"]);
        }
        command
            .arg(libraries.join("libmayhap_c.a"))
            .args(["-lpthread", "-ldl", "-lm"]);
    }
    run(&mut command);
    program
}

/// The command that runs a compiled sample.
fn command(program: &Path, build: Build) -> Command {
    if build != Build::Valgrind {
        let mut command = Command::new(program);
        // Without it, the sanitizer ends programs that ask for too much memory.
        command.env("ASAN_OPTIONS", "allocator_may_return_null=1");
        return command;
    }
    let mut command = Command::new("valgrind");
    command
        .args([
            "--quiet",
            "--error-exitcode=9",
            "--leak-check=full",
            "--errors-for-leak-kinds=definite",
        ])
        .arg(program);
    command
}

/// Runs a sample in every build, with the path of a file that it may write.
fn outputs(name: &str) -> Vec<String> {
    let folder = tempfile::tempdir().expect("a folder");
    let run_one = |build| {
        let program = compile(name, build, folder.path());
        run(command(&program, build).arg(folder.path().join("sample.mayhap")))
    };
    BUILDS.map(run_one).into()
}

#[test]
fn batches_answer_as_single_calls_for_every_kind() {
    for output in outputs("batches") {
        let lines: Vec<&str> = output.lines().collect();
        assert_eq!(lines.len(), 8, "{output}");
        for line in lines {
            let found = line.rsplit(' ').nth(1).and_then(|word| word.parse().ok());
            let found: u32 = found.expect("a number");
            // 3000 keys, and three of the other 3000 at most, and five standard deviations.
            assert!((3000..3000 + 3 + 9).contains(&found), "{line}");
        }
    }
}

#[test]
fn changes_and_errors_are_as_documented() {
    for output in outputs("changes") {
        assert!(output.ends_with("all as expected\n"), "{output}");
    }
}

#[test]
fn threads_fill_one_filter() {
    for output in outputs("threads") {
        assert_eq!(output, "80000 keys by 4 threads\n");
    }
}

#[test]
fn a_file_that_c_has_saved_is_mapped_and_read_by_rust() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("words.mayhap");
    for build in BUILDS {
        let program = compile("seen", build, folder.path());
        let mut child = command(&program, build)
            .arg(&path)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .expect("it starts");
        let words: Vec<String> = (0..5000).map(|word| (word % 2000).to_string()).collect();
        let mut stdin = child.stdin.take().expect("a pipe");
        stdin
            .write_all(words.join("\n").as_bytes())
            .expect("it reads");
        drop(stdin);
        let output = child.wait_with_output().expect("it ends");
        assert!(output.status.success(), "{build:?}: {output:?}");
        let text = String::from_utf8(output.stdout).expect("text");
        let lines: Vec<&str> = text.lines().collect();
        assert_eq!(lines[0].split(' ').next(), Some("5000"));
        assert_eq!(lines[1], "first line found: 1");
        assert!(lines[3].contains(r#""kind":"growing""#), "{text}");
        let filter: mayhap::GrowingBloom = mayhap::load(&path).expect("a filter");
        assert!((0..2000).all(|word| filter.contains(word.to_string())));
    }
}

#[test]
fn an_installed_library_is_found_by_pkg_config_and_the_program_of_the_guide_runs() {
    let folder = tempfile::tempdir().expect("a folder");
    let prefix = folder.path().join("prefix");
    let repository = crate_folder().join("../..");
    run(Command::new(repository.join("tools/install-c-library.sh"))
        .arg(&prefix)
        .env("MAYHAP_PROFILE", "installed")
        .env("CARGO_TARGET_DIR", installed(folder.path())));
    let guide = std::fs::read_to_string(repository.join("docs/guide/c.md")).expect("the guide");
    let program = guide
        .split("```c\n")
        .nth(1)
        .and_then(|rest| rest.split("```").next());
    let source = folder.path().join("guide.c");
    std::fs::write(&source, program.expect("a program")).expect("a file");
    for linking in ["", "--static"] {
        let flags = run(Command::new("pkg-config")
            .args(["--cflags", "--libs", "mayhap"])
            .args((!linking.is_empty()).then_some(linking))
            .env("PKG_CONFIG_PATH", prefix.join("lib/pkgconfig")));
        let binary = folder.path().join(format!("guide{linking}"));
        run(Command::new("cc")
            .arg(&source)
            .args(flags.split_whitespace())
            .arg("-o")
            .arg(&binary));
        let output = run(Command::new(&binary)
            .current_dir(folder.path())
            .env("LD_LIBRARY_PATH", prefix.join("lib")));
        assert_eq!(output, "1\n0\n");
    }
}

/// A target folder with the libraries that the tests have, under the name of a profile that the script does not build.
fn installed(folder: &Path) -> PathBuf {
    let target = folder.join("target");
    std::fs::create_dir(&target).expect("a folder");
    std::os::unix::fs::symlink(library_folder(), target.join("installed")).expect("a link");
    target
}
