//! What cannot be done is refused with status 2 and one line that names the field, the value and what is accepted.

use super::{mayhap, run, stderr, stdout};
use std::process::Output;

fn assert_refused(words: &str, output: &Output, names: &[&str]) {
    let stderr_text = stderr(output);
    assert_eq!(output.status.code(), Some(2), "{words}: {stderr_text}");
    assert_eq!(stdout(output), "", "{words}");
    assert!(
        stderr_text.starts_with("mayhap: "),
        "{words}: {stderr_text}"
    );
    assert!(
        stderr_text.ends_with('\n') && stderr_text.lines().count() == 1,
        "{words}: {stderr_text}"
    );
    assert!(!stderr_text.contains("panicked"), "{words}: {stderr_text}");
    for name in names {
        assert!(
            stderr_text.contains(name),
            "{words}: no {name} in {stderr_text}"
        );
    }
}

#[test]
fn counts_that_are_none() {
    for value in [
        "0", "-1", "1.5", "1e30", "1e400", "NaN", "inf", "many", "10x", "10kB",
    ] {
        for words in [
            format!("plan --fpr 1% --keys {value}"),
            format!("bench --keys {value}"),
            format!("bench --keys 10k,{value}"),
        ] {
            assert_refused(&words, &run(&words), &["--keys", value, "such as"]);
        }
    }
}

#[test]
fn rates_that_are_none() {
    for value in [
        "0", "1", "2", "-1", "NaN", "inf", "1e400", "1e-400", "100%", "low",
    ] {
        for words in [
            format!("plan --keys 1M --fpr {value}"),
            format!("plan --memory 1GB --fpr {value}"),
            format!("bench --keys 10k --fpr {value}"),
        ] {
            assert_refused(&words, &run(&words), &["--fpr", value, "such as"]);
        }
    }
}

#[test]
fn sizes_that_are_none() {
    for value in ["0", "-1", "64M", "1e400", "1e30", "NaN", "MiB", "much"] {
        let words = format!("plan --keys 1M --memory {value}");
        assert_refused(&words, &run(&words), &["--memory", value, "such as"]);
    }
}

#[test]
fn more_than_any_machine_has() {
    for words in [
        "plan --keys 1e15 --fpr 1%",
        "plan --keys 1e17 --fpr 99.9%",
        "bench --keys 1e15",
        "bench --keys 10k,1e15",
    ] {
        assert_refused(words, &run(words), &["--keys", "give"]);
    }
    // Here the hashes run out before the memory does, so the words are about the rate.
    for words in [
        "plan --keys 1e19 --fpr 99%",
        "plan --keys 18446744073709551615 --fpr 1%",
    ] {
        assert_refused(words, &run(words), &["give"]);
    }
    // A sound plan that this machine has no memory for: nothing is allocated, nothing is killed.
    for words in ["bench --keys 1e13", "bench --keys 10k,1e13 --json"] {
        assert_refused(words, &run(words), &["10000000000000", "give"]);
    }
}

#[test]
fn rates_too_strict_for_the_hashes() {
    for words in [
        "plan --keys 1M --fpr 1e-18",
        "plan --keys 1 --fpr 1e-300",
        "bench --keys 10k --fpr 1e-300",
    ] {
        assert_refused(words, &run(words), &["--fpr 1e-", "give"]);
    }
}

#[test]
fn memory_too_small_for_anything() {
    assert_refused(
        "3 B",
        &run("plan --memory 3 --fpr 1%"),
        &["--memory 3", "not even one key"],
    );
    assert_refused(
        "3 B",
        &run("plan --memory 3 --keys 5"),
        &["--memory 3", "give"],
    );
    assert_refused(
        "64 B",
        &run("plan --memory 64 --keys 1e9"),
        &["--memory 64", "give"],
    );
}

#[test]
fn plan_wants_two_of_three() {
    for (words, got) in [
        ("plan", "none"),
        ("plan --keys 1M", "one"),
        ("plan --fpr 1%", "one"),
        ("plan --memory 1GB --json", "one"),
    ] {
        assert_refused(
            words,
            &run(words),
            &["two of --keys, --fpr and --memory", got],
        );
    }
}

#[test]
fn unknown_commands_and_options() {
    for (words, name) in [
        ("frob", "frob"),
        ("plan --kyes 5", "--keys"),
        ("plan --keys", "--keys"),
        ("bench extra", "extra"),
        ("--frob", "--frob"),
    ] {
        assert_refused(words, &run(words), &[name, "--help"]);
    }
    let mut strange = mayhap("plan --fpr 1% --keys");
    let output = strange.arg("5\nUsage: \u{1b}[31m").output().unwrap();
    assert_refused("control characters", &output, &["--keys"]);
    assert!(!stderr(&output).contains('\u{1b}'));
}
