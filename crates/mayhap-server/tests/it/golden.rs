//! The folder of the first released version: it opens for ever, with the same answers. `golden/store/v1` was written once and never changes.

use crate::{Running, folder};
use std::fs;
use std::path::Path;

#[test]
fn the_first_folder_opens_with_the_same_answers() {
    let (copy, options) = folder();
    let golden = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../golden/store/v1");
    let store = copy.path().join("store");
    fs::create_dir(&store).expect("a folder");
    for entry in fs::read_dir(golden).expect("the folder") {
        let entry = entry.expect("a file");
        fs::copy(entry.path(), store.join(entry.file_name())).expect("a copy");
    }
    // From the snapshot and the log, and from a snapshot that this version takes of them.
    for _ in 0..2 {
        let server = Running::with(&options);
        let mut client = server.client();
        for (line, reply) in [
            ("DBSIZE", ":13\r\n"),
            ("GET moved", "$5\r\nhello\r\n"),
            ("GET later", "$1\r\ny\r\n"),
            ("EXPIRETIME brief", ":4102444800\r\n"),
            ("EXISTS text nothing", ":0\r\n"),
            (
                "BF.MEXISTS fixed a b c d e",
                "*5\r\n:1\r\n:1\r\n:1\r\n:1\r\n:0\r\n",
            ),
            ("BF.MEXISTS copied a d e", "*3\r\n:1\r\n:1\r\n:0\r\n"),
            ("BF.MEXISTS merged a d e", "*3\r\n:1\r\n:1\r\n:0\r\n"),
            ("BF.INFO fixed EXPANSION", "*1\r\n$-1\r\n"),
            ("CF.COUNT cuckoo a", ":2\r\n"),
            ("CF.MEXISTS cuckoo b c d", "*3\r\n:1\r\n:0\r\n:1\r\n"),
            ("CBF.COUNT counting a", ":2\r\n"),
            ("CBF.EXISTS counting b", ":1\r\n"),
            (
                "BF.MEXISTS window a b c d",
                "*4\r\n:1\r\n:1\r\n:1\r\n:0\r\n",
            ),
            ("TYPE rb", "+MBbloom--\r\n"),
            ("BF.CARD rb", ":4\r\n"),
            (
                "BF.MEXISTS rb a b c d e",
                "*5\r\n:1\r\n:1\r\n:1\r\n:1\r\n:0\r\n",
            ),
            ("CF.COUNT rcf a", ":1\r\n"),
            ("BF.EXISTS auto x", ":1\r\n"),
        ] {
            client.expect(line, reply);
        }
        for item in 1..=60 {
            client.expect(&format!("BF.EXISTS grown item{item}"), ":1\r\n");
        }
        client.expect("SAVE", "+OK\r\n");
        server.end();
    }
}
