//! What cannot be done ends with status 2 and one line that says what to do next.

use super::folder::{Folder, assert_refused, numbered};

fn folder() -> Folder {
    let folder = Folder::with(&[
        ("keys", "one\ntwo\n"),
        ("empty", ""),
        ("noise", "\u{1}\u{2}\u{3}\u{4}"),
    ]);
    folder.shell("mkdir dir");
    folder.write("numbers", numbered("", 0..1000));
    folder.done("build -o f.mayhap keys");
    folder.done("build -o full.mayhap numbers");
    folder.done("build -o ribbon.mayhap --kind ribbon keys");
    folder.done("build -o cuckoo.mayhap --kind cuckoo keys");
    folder.done("build -o big.mayhap --capacity 5000 keys");
    folder.done("build -o users.guava --format guava keys");
    folder.done("build -o tokens.bin --format clickhouse-tokenbf --bits 800 --probes 3 keys");
    folder
}

fn assert_all_refused(table: &[(&str, &[&str])]) {
    let folder = folder();
    let before = folder.names();
    for (words, expected) in table {
        assert_refused(words, &folder.run(words), expected);
    }
    assert_eq!(folder.names(), before, "nothing was made");
}

#[test]
fn flags_that_are_wrong() {
    assert_all_refused(&[
        ("build --frob keys", &["--frob", "--help"]),
        (
            "build --kind blom keys",
            &["--kind", "blom", "give one of", "bloom"],
        ),
        (
            "build --format gauva keys",
            &["--format", "gauva", "give one of", "guava"],
        ),
        (
            "build --key-type text64 keys",
            &["--key-type", "text64", "give one of", "uuid"],
        ),
        (
            "build --capacity many keys",
            &["--capacity", "many", "such as"],
        ),
        ("build --capacity -5 keys", &["--capacity", "-5", "such as"]),
        ("build --fpr 0 keys", &["--fpr", "such as"]),
        ("build --fpr 100% keys", &["--fpr", "100%", "such as"]),
        ("build --bits 0 --probes 3 keys", &["--bits", "such as"]),
        ("build --bits 100 --probes many keys", &["--probes", "many"]),
        ("build -j 0 keys", &["-j", "1 to 1024"]),
        ("build --window soon keys", &["--window", "soon", "24h"]),
        ("build --window 0s keys", &["--window", "24h"]),
        (
            "build --on-conflict maybe --except keys keys",
            &["--on-conflict", "block or allow"],
        ),
        (
            "check",
            &["not provided: <FILTER>", "`mayhap check --help`"],
        ),
        (
            "check f.mayhap --row-group first keys",
            &["--row-group", "first"],
        ),
        ("fold f.mayhap -o g.mayhap", &["--fpr", "--help"]),
        ("info", &["FILE", "--help"]),
        ("merge -o g.mayhap", &["FILTER", "--help"]),
        (
            "verify f.mayhap --repair zeros -o g.mayhap",
            &["--repair", "ones"],
        ),
        ("completions tcsh", &["tcsh", "bash", "zsh"]),
        ("completions", &["SHELL"]),
    ]);
}

#[test]
fn flags_that_do_not_go_together() {
    assert_all_refused(&[
        ("build -0 --crlf keys", &["--null", "--crlf"]),
        (
            "build --keyed --key-file k keys",
            &["--keyed", "--key-file"],
        ),
        ("build --on-conflict block keys", &["--except"]),
        (
            "build --bits 100 keys",
            &["--bits and --probes need each other"],
        ),
        (
            "build --probes 3 keys",
            &["--bits and --probes need each other"],
        ),
        (
            "build --kind ribbon --bits 100 --probes 3 keys",
            &["ribbon", "--capacity and --fpr"],
        ),
        ("build --kind window keys", &["--window 24h"]),
        (
            "build --kind bloom --window 1h keys",
            &["--kind window", "give both"],
        ),
        (
            "build --format guava --kind ribbon keys",
            &["--kind", "guava", "omit one"],
        ),
        (
            "build --format guava --except keys keys",
            &["--except", "guava"],
        ),
        ("build --format guava --keyed keys", &["--keyed", "guava"]),
        (
            "build --format guava --window 1h keys",
            &["--window", "guava"],
        ),
        ("build --kind retouched keys", &["-P false_positives=FILE"]),
        ("build -P strategy=mitz64 keys", &["strategy", "mayhap"]),
        (
            "build --format guava -P strategy=best keys",
            &["strategy", "mitz64"],
        ),
        ("build --format guava -P colour=red keys", &["colour"]),
        ("build --format guava -P strategy keys", &["strategy", "="]),
        ("verify f.mayhap --repair ones", &["--output"]),
        ("verify f.mayhap -o g.mayhap", &["--repair"]),
    ]);
}

#[test]
fn inputs_that_cannot_be_read() {
    assert_all_refused(&[
        ("build -o g.mayhap missing", &["missing: no such file"]),
        (
            "build -o g.mayhap --capacity 9 missing",
            &["missing: no such file"],
        ),
        ("build -o g.mayhap keys missing", &["missing: no such file"]),
        (
            "build -o g.mayhap dir",
            &["dir is a folder: give the files in it"],
        ),
        (
            "build -o g.mayhap --except missing keys",
            &["missing: no such file"],
        ),
        ("uniq missing", &["missing: no such file"]),
        ("uniq dir", &["dir is a folder"]),
        ("uniq --state s.mayhap missing", &["missing: no such file"]),
        (
            "check -c f.mayhap missing",
            &["missing: no such file; if it is a key, give -k missing"],
        ),
        ("check missing keys", &["missing: no such file"]),
        ("check dir keys", &["dir is a folder"]),
        ("info missing", &["missing: no such file"]),
        ("info dir", &["dir is a folder"]),
        ("verify missing", &["missing: no such file"]),
        ("add missing keys", &["missing: no such file"]),
        (
            "add f.mayhap missing",
            &["missing: no such file; if it is a key, give -k missing"],
        ),
        (
            "remove cuckoo.mayhap missing",
            &["missing: no such file; if it is a key, give -k missing"],
        ),
        (
            "merge f.mayhap missing -o g.mayhap",
            &["missing: no such file"],
        ),
        ("convert missing -o g.mayhap", &["missing: no such file"]),
        (
            "fold missing --fpr 1% -o g.mayhap",
            &["missing: no such file"],
        ),
    ]);
}

#[test]
fn files_that_are_not_filters() {
    assert_all_refused(&[
        (
            "check keys keys",
            &["keys is text", "the filter first", "--from"],
        ),
        ("info keys", &["keys is text", "mayhap build", "--from"]),
        ("info empty", &["empty", "--from"]),
        ("check empty keys", &["empty"]),
        ("info noise", &["noise"]),
        ("info users.guava --from spark", &["users.guava", "spark"]),
        ("check f.mayhap --from guava keys", &["f.mayhap", "guava"]),
        (
            "check tokens.bin --from clickhouse-tokenbf keys",
            &["tokens.bin", "--probes"],
        ),
        (
            "check tokens.bin --from clickhouse keys",
            &["tokens.bin", "--fpr"],
        ),
        ("add keys keys", &["is an input and the output"]),
        ("add noise keys", &["noise"]),
        ("uniq --state noise keys", &["noise"]),
    ]);
}

#[test]
fn places_that_cannot_be_written() {
    assert_all_refused(&[
        (
            "build -o dir keys",
            &["dir is a folder: give the name of a file"],
        ),
        (
            "build --force -o dir keys",
            &["dir is a folder: give the name of a file"],
        ),
        (
            "build -o nowhere/g.mayhap keys",
            &["nowhere is not a folder: create it first"],
        ),
        ("build -o keys/g.mayhap keys", &["keys is not a folder"]),
        (
            "merge f.mayhap -o nowhere/g.mayhap",
            &["nowhere is not a folder"],
        ),
        (
            "uniq --state nowhere/s.mayhap keys",
            &["nowhere is not a folder"],
        ),
        (
            "info f.mayhap --plot nowhere/f.svg",
            &["nowhere/f.svg cannot be written", "--plot"],
        ),
        ("info f.mayhap --plot dir", &["dir"]),
        (
            "plan --keys 1M --fpr 1% --plot nowhere/f.svg",
            &["nowhere/f.svg cannot be written"],
        ),
        (
            "build --key-file nowhere/key -o g.mayhap keys",
            &["nowhere/key cannot be written"],
        ),
        ("man --dir keys", &["keys cannot be written"]),
    ]);
}

#[test]
fn unsupported_operations_are_errors() {
    assert_all_refused(&[
        (
            "add ribbon.mayhap keys",
            &["ribbon.mayhap", "ribbon", "build"],
        ),
        ("remove ribbon.mayhap keys", &["ribbon.mayhap", "ribbon"]),
        ("remove f.mayhap keys", &["f.mayhap", "bloom", "cuckoo"]),
        ("remove users.guava keys", &["users.guava"]),
        (
            "merge f.mayhap big.mayhap -o g.mayhap",
            &["f.mayhap and big.mayhap cannot be merged", "differ in"],
        ),
        (
            "merge f.mayhap cuckoo.mayhap -o g.mayhap",
            &["cannot be merged"],
        ),
        (
            "merge f.mayhap users.guava -o g.mayhap",
            &["cannot be merged"],
        ),
        (
            "merge ribbon.mayhap ribbon.mayhap -o g.mayhap",
            &["cannot be merged"],
        ),
        (
            "fold ribbon.mayhap --fpr 1% -o g.mayhap",
            &["not a native bloom filter"],
        ),
        (
            "fold users.guava --fpr 1% -o g.mayhap",
            &["not a native bloom filter"],
        ),
        ("fold full.mayhap --fpr 1e-9 -o g.mayhap", &["higher --fpr"]),
        (
            "convert f.mayhap -o g.guava --format guava",
            &["f.mayhap", "guava"],
        ),
        (
            "convert users.guava -o g.bin --format redisbloom",
            &["another hash function", "build a new filter"],
        ),
        (
            "verify users.guava --repair ones -o g.mayhap",
            &["users.guava"],
        ),
        ("info cuckoo.mayhap --plot g.svg", &["no bits to plot"]),
        (
            "check f.mayhap --column x keys",
            &["f.mayhap has no such filter"],
        ),
    ]);
}

#[test]
fn more_than_any_machine_has() {
    assert_all_refused(&[
        (
            "build -o g.mayhap --capacity 1e17 keys",
            &["--capacity", "give"],
        ),
        (
            "build -o g.mayhap --kind cuckoo --capacity 1e17 keys",
            &["--capacity", "give"],
        ),
        (
            "build -o g.mayhap --capacity 1e13 keys",
            &["not enough memory", "a smaller --capacity", "--fpr"],
        ),
        (
            "build -o g.mayhap --bits 100 --probes 5000 keys",
            &["--probes 5000", "give 1 to"],
        ),
        ("build -o g.mayhap --fpr 1e-300 keys", &["--fpr", "give"]),
        ("uniq --capacity 1e17 keys", &["--capacity", "give"]),
        ("uniq --fpr 1e-300 keys", &["--fpr", "give"]),
    ]);
}

#[test]
fn errors_come_after_the_answers_before_them() {
    let folder = folder();
    let output = folder.run("check f.mayhap keys missing");
    assert_eq!(output.stdout, b"one\ntwo\n");
    assert_eq!(output.status.code(), Some(2));
    let output = folder.run("uniq -q keys missing");
    assert_eq!(output.stdout, b"one\ntwo\n");
    assert_eq!(output.status.code(), Some(2));
}

#[test]
fn names_in_errors_cannot_draw_on_the_terminal() {
    let folder = folder();
    let output = folder.shell("mayhap uniq $'evil\\e[31m\\nname'");
    assert_refused("a name with colours", &output, &["evil"]);
    assert!(!super::stderr(&output).contains('\u{1b}'));
}

#[test]
fn missing_permissions_are_reported() {
    let folder = Folder::with(&[("open", "one\n"), ("closed", "one\n")]);
    folder.shell("chmod 755 . && chmod 000 closed");
    // Root may read everything, so it becomes nobody; a program below a closed home cannot be started then.
    let become_nobody = match folder.shell("id -u").stdout.as_slice() {
        b"0\n" => "setpriv --reuid 65534 --clear-groups ",
        _ => "",
    };
    let nobody = |words: &str| folder.shell(&format!("{become_nobody}mayhap {words}"));
    if nobody("--version").status.code() != Some(0) {
        eprintln!("not run, the program cannot be started as nobody here");
        return;
    }
    let output = nobody("uniq closed");
    assert_refused(
        "read",
        &output,
        &["closed cannot be read", "permission to read"],
    );
    if !become_nobody.is_empty() {
        let output = nobody("build -o f.mayhap open");
        assert_refused(
            "write",
            &output,
            &["f.mayhap cannot be written", "folder that you may write to"],
        );
    }
}

/// A program of its own made them, by hashes that no other knows.
#[test]
fn filters_of_hashes_that_only_their_maker_knows() {
    let folder = folder();
    let filters: [(&str, mayhap_core::AnyFilter); 3] = [
        (
            "hashes.mayhap",
            mayhap_core::Bloom::for_hashes(10, 0.01).unwrap().into(),
        ),
        // Large enough to be asked in place.
        (
            "large.mayhap",
            mayhap_core::Bloom::for_hashes(40_000_000, 0.01)
                .unwrap()
                .into(),
        ),
        (
            "state.mayhap",
            mayhap_core::GrowingBloom::for_hashes(10, 0.01)
                .unwrap()
                .into(),
        ),
    ];
    for (name, filter) in filters {
        folder.write(name, mayhap_codec::native::encode(&filter).unwrap());
    }
    for words in [
        "check hashes.mayhap keys",
        "check large.mayhap keys",
        "add hashes.mayhap keys",
        "add state.mayhap keys",
        "remove hashes.mayhap keys",
        "uniq --state state.mayhap keys",
    ] {
        assert_refused(words, &folder.run(words), &["for_hashes", "mayhap"]);
    }
    folder.done("info hashes.mayhap");
}
