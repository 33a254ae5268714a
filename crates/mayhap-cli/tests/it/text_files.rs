//! Text is not mistaken for a filter.

use super::folder::{Folder, assert_refused, numbered};

fn folder() -> Folder {
    let folder = Folder::with(&[
        ("users.csv", "id,name\n1,Ann\n2,Bj\u{f6}rn\n"),
        ("note.txt", "a note\r\nin two lines\r\n"),
        ("one", "x"),
        ("numbers.json", "{\"rate\": 0.01}\n"),
        // The last byte would be a number of probes of LevelDB's.
        ("tab", "abcdefgh\t"),
    ]);
    folder.write("urls.txt", numbered("https://example.org/", 0..10_000));
    folder.write("latin1.txt", b"gr\xfc\xdfe und k\xfcsse\n".repeat(100));
    folder.done("build -o seen.mayhap urls.txt");
    folder
}

#[test]
fn every_subcommand_reports_text_as_text() {
    let folder = folder();
    let before = folder.names();
    for name in [
        "users.csv",
        "note.txt",
        "one",
        "numbers.json",
        "tab",
        "urls.txt",
        "latin1.txt",
    ] {
        let is_text = format!("{name} is text, not a filter");
        for words in [
            format!("info {name}"),
            format!("verify {name}"),
            format!("convert {name} -o g.mayhap"),
            format!("merge {name} seen.mayhap -o g.mayhap"),
            format!("fold {name} --fpr 1% -o g.mayhap"),
        ] {
            let expected = [is_text.as_str(), "mayhap build -o FILTER", "--from"];
            assert_refused(&words, &folder.run(&words), &expected);
        }
        // The arguments were probably swapped.
        for words in [
            format!("check {name} seen.mayhap"),
            format!("add {name} seen.mayhap"),
            format!("remove {name} seen.mayhap"),
        ] {
            let expected = [is_text.as_str(), "name the filter first"];
            assert_refused(&words, &folder.run(&words), &expected);
        }
    }
    assert_eq!(folder.names(), before, "nothing was written");
}

#[test]
fn a_named_format_opens_text_too() {
    let folder = folder();
    // Whatever the bytes are, LevelDB accepts them.
    folder.done("info tab --from leveldb");
}
