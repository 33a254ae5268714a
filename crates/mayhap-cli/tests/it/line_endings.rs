//! What a line is: bytes up to a line feed, or to a NUL.

use super::folder::{Folder, assert_refused, code, lines, stderr_text};

#[test]
fn lines_are_bytes_and_come_out_as_they_went_in() {
    let folder = Folder::new();
    let text: &[u8] = b"\xff\xfe\n\0\0\ncaf\xe9\ncaf\xc3\xa9\n\xff\xfe\n\x1b[31m\n";
    let once: &[u8] = b"\xff\xfe\n\0\0\ncaf\xe9\ncaf\xc3\xa9\n\x1b[31m\n";
    assert_eq!(folder.feed("uniq -q", text).stdout, once);
    folder.write("keys", text);
    folder.done("build -o f.mayhap --fpr 1e-6 keys");
    assert_eq!(folder.run("check f.mayhap keys").stdout, text);
    assert_eq!(code(&folder.run("check -v f.mayhap keys")), 1);
}

#[test]
fn nul_separated_lines() {
    let folder = Folder::new();
    let text = b"one\ntwo\0three\0one\ntwo\0last";
    let output = folder.feed("uniq -q -0", text);
    assert_eq!(output.stdout, b"one\ntwo\0three\0last\0");
    folder.write("keys", text);
    folder.done("build -o f.mayhap -0 --fpr 1e-6 keys");
    let output = folder.feed("check -0 f.mayhap", b"three\0nobody\0one\ntwo");
    assert_eq!(output.stdout, b"three\0one\ntwo\0");
    let output = folder.feed("check f.mayhap", b"three\none\n");
    assert_eq!(
        output.stdout, b"three\n",
        "read by lines, the key of two lines is not there"
    );
}

#[test]
fn a_carriage_return_is_part_of_the_key_without_crlf() {
    let folder = Folder::with(&[("dos", "one\r\ntwo\r\n\r\nlast\r")]);
    folder.done("build -o with.mayhap --fpr 1e-6 dos");
    folder.done("build -o without.mayhap --fpr 1e-6 --crlf dos");
    let ask = |words: &str, text: &str| folder.feed(words, text).stdout;
    assert_eq!(ask("check with.mayhap", "one\ntwo\r\n"), b"two\r\n");
    assert_eq!(
        ask("check without.mayhap", "one\ntwo\r\n\nlast\n"),
        b"one\n\nlast\n"
    );
    // Lines go out as they came in.
    assert_eq!(
        ask("check --crlf without.mayhap", "two\r\none\n"),
        b"two\r\none\n"
    );
    assert_eq!(ask("uniq -q --crlf", "one\r\none\ntwo\n"), b"one\r\ntwo\n");
}

#[test]
fn the_last_line_needs_no_end() {
    let folder = Folder::with(&[("a", "one\ntwo"), ("b", "three")]);
    // Two inputs do not grow together, and what is printed has its end.
    assert_eq!(folder.run("uniq -q a b").stdout, b"one\ntwo\nthree\n");
    folder.done("build -o f.mayhap --fpr 1e-6 a b");
    assert_eq!(
        folder.run("check f.mayhap b a").stdout,
        b"three\none\ntwo\n"
    );
    assert_eq!(lines(&folder.run("check -c f.mayhap a b")), ["3"]);
    assert_eq!(lines(&folder.feed("check f.mayhap", "twothree")), [""; 0]);
}

#[test]
fn empty_input_is_an_empty_set() {
    let folder = Folder::with(&[("empty", "")]);
    for kind in [
        "bloom", "classic", "counting", "growing", "cuckoo", "fuse", "ribbon",
    ] {
        folder.done(&format!("build --force -o f.mayhap --kind {kind} empty"));
        let output = folder.feed("check f.mayhap", "one\n\n");
        assert_eq!((code(&output), lines(&output).len()), (1, 0), "{kind}");
        let output = folder.feed(&format!("build --force -o f.mayhap --kind {kind}"), "");
        assert_eq!(code(&output), 0, "{kind}: {}", stderr_text(&output));
    }
    for words in ["uniq -q empty", "uniq -q", "uniq -q -d empty"] {
        let output = folder.run(words);
        assert_eq!((code(&output), lines(&output).len()), (1, 0), "{words}");
    }
    assert_eq!(lines(&folder.run("uniq -q -c empty")), ["0"]);
    assert_eq!(lines(&folder.run("check -c f.mayhap empty")), ["0"]);
}

#[test]
fn an_empty_line_is_a_key() {
    let folder = Folder::with(&[("keys", "\none\n\n")]);
    assert_eq!(folder.run("uniq -q keys").stdout, b"\none\n");
    folder.done("build -o f.mayhap --fpr 1e-6 keys");
    assert_eq!(folder.feed("check f.mayhap", "\ntwo\n").stdout, b"\n");
    folder.write("without", "one\n");
    folder.done("build -o g.mayhap --fpr 1e-6 without");
    assert_eq!(code(&folder.feed("check g.mayhap", "\n")), 1);
}

#[test]
fn a_line_of_100_mb() {
    let folder = Folder::new();
    let mut text = vec![b'x'; 100 << 20];
    text.extend_from_slice(b"\nshort\n");
    let first = text.len();
    text.extend_from_within(..first);
    folder.write("long", &text);
    let output = folder.run("uniq -q long");
    assert!(output.stdout == text[..first], "{}", stderr_text(&output));
    folder.done("build -o f.mayhap --fpr 1e-6 long");
    assert_eq!(lines(&folder.run("check -c f.mayhap long")), ["4"]);
    // One byte less is another line.
    folder.write("other", &text[1..first]);
    assert_eq!(folder.run("check f.mayhap other").stdout, b"short\n");
}

#[test]
fn keys_of_other_types_than_text() {
    let folder = Folder::new();
    for (key_type, keys, same, others) in [
        ("hex", "00ff\n\nDEADbeef\n", "00FF\ndeadBEEF\n", "00fe\n"),
        ("base64", "AP8=\n3q2+7w==\n", "AP8=\n", "AP4=\n"),
        ("i32", "-1\n2147483647\n", "-1\n", "1\n"),
        ("u64", "18446744073709551615\n0\n", "0\n", "1\n"),
        ("f64", "1.5\n-0.25\n", "1.50\n", "2.5\n"),
        (
            "uuid",
            "12345678-9abc-def0-1234-56789abcdef0\n",
            "12345678-9ABC-DEF0-1234-56789ABCDEF0\n",
            "12345678-9abc-def0-1234-56789abcdef1\n",
        ),
    ] {
        let output = folder.feed(
            &format!("build -o f.mayhap --fpr 1e-6 --key-type {key_type}"),
            keys,
        );
        assert_eq!(code(&output), 0, "{key_type}: {}", stderr_text(&output));
        let check = format!("check f.mayhap --key-type {key_type}");
        assert_eq!(
            folder.feed(&check, keys).stdout,
            keys.as_bytes(),
            "{key_type}"
        );
        assert_eq!(
            folder.feed(&check, same).stdout,
            same.as_bytes(),
            "{key_type}"
        );
        assert_eq!(code(&folder.feed(&check, others)), 1, "{key_type}");
    }
    // The filter stores the type of its keys.
    folder.feed("build -o f.mayhap --fpr 1e-6 --key-type hex", "616263\n");
    assert_eq!(
        lines(&folder.feed("check f.mayhap", "616263\n616264\n")),
        ["616263"]
    );
    // The same bytes are the same key, however they are written.
    for (key_type, line) in [("text", "abc"), ("base64", "YWJj")] {
        let check = format!("check f.mayhap --key-type {key_type}");
        assert_eq!(lines(&folder.feed(&check, format!("{line}\n"))), [line]);
    }
}

#[test]
fn an_invalid_key_is_reported_with_its_line() {
    let folder = Folder::new();
    for (key_type, text, words) in [
        ("hex", "00\nabc\n", ["line 2", "abc"]),
        ("hex", "zz\n", ["line 1", "zz"]),
        ("base64", "AA==\n\nA\n", ["line 3", "A"]),
        ("u8", "255\n256\n", ["line 2", "256"]),
        ("i8", "-128\n-129\n", ["line 2", "-129"]),
        (
            "u64",
            "18446744073709551616\n",
            ["line 1", "18446744073709551616"],
        ),
        ("i64", "one\n", ["line 1", "one"]),
        ("f64", "1e3\n1e3x\n", ["line 2", "1e3x"]),
        ("uuid", "123\n", ["line 1", "123"]),
    ] {
        folder.done(&format!("build -o f.mayhap --key-type {key_type}"));
        for words_before in ["check -c f.mayhap", "build -o g.mayhap", "add f.mayhap"] {
            let what = format!("{words_before} --key-type {key_type}");
            let output = folder.feed(&what, text);
            assert_refused(&what, &output, &words);
        }
    }
    assert!(!folder.join("g.mayhap").exists());
}
