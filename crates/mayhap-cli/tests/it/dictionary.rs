//! Spell check with a real dictionary: Debian's `wamerican`, which tools/install-dictionary.sh puts there.

use super::folder::{Folder, code, lines, stderr_text};
use std::fs;

const WORDS: &str = "/usr/share/dict/american-english";

#[test]
fn a_dictionary_knows_its_words_and_few_others() {
    let Ok(dictionary) = fs::read_to_string(WORDS) else {
        eprintln!("not run, {WORDS} is not there: run tools/install-dictionary.sh");
        return;
    };
    let folder = Folder::new();
    let text = "the quikc brown fox jmups over teh lazy dog and recieves a seperate adress";
    folder.write("text", text.replace(' ', "\n"));
    let count = dictionary.lines().count();
    assert!(count > 90_000, "{count}");
    for kind in ["bloom", "ribbon", "fuse"] {
        folder.done(&format!(
            "build -o words.mayhap --kind {kind} --fpr 1e-6 {WORDS}"
        ));
        let output = folder.run(&format!("check -c words.mayhap {WORDS}"));
        assert_eq!(lines(&output), [count.to_string()], "{kind}");
        assert_eq!(
            code(&folder.run(&format!("check -v -q words.mayhap {WORDS}"))),
            1,
            "{kind}"
        );
        let output = folder.run("check -v words.mayhap text");
        let misspelt = ["quikc", "jmups", "teh", "recieves", "seperate", "adress"];
        assert_eq!(lines(&output), misspelt, "{kind}: {}", stderr_text(&output));
        // 100,000 words that are none.
        let wrong = dictionary.replace('\n', "qx\n");
        let output = folder.feed("check -c words.mayhap", wrong);
        assert!(
            lines(&output)[0]
                .parse::<u64>()
                .is_ok_and(|count| count < 5),
            "{kind}: {:?}",
            lines(&output)
        );
    }
    // A spell checker has to be small: less than 1.25 bytes a word at 1 %.
    folder.done(&format!("build -o words.mayhap --kind ribbon {WORDS}"));
    assert!(folder.read("words.mayhap").len() < count * 5 / 4);
}
