//! Filter files in the data folder, as clients see them: how they are listed, queried and protected.

use crate::{Running, folder};
use mayhap_codec::native;
use mayhap_core::{Bloom, KeyType};
use mayhap_testkit::raw_client::RawClient;
use serde_json::Value;
use std::fs;
use std::path::{Path, PathBuf};

fn golden(file: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("../../golden")
        .join(file)
}

/// A native file whose keys are these numbers, with its key type.
fn save_numbers(path: &Path, numbers: impl IntoIterator<Item = u32>) {
    let mut filter = Bloom::new(1000, 1e-6)
        .expect("a filter")
        .with_key_type(KeyType::U32);
    for number in numbers {
        filter.insert(number);
    }
    native::save(path, &filter).expect("saved");
}

/// The names in a reply to SCAN or KEYS, in order.
fn names(reply: &str) -> Vec<&str> {
    let mut names: Vec<&str> = reply
        .split("\r\n")
        .filter(|line| line.contains(char::is_alphabetic))
        .collect();
    names.sort_unstable();
    names
}

#[test]
fn filter_files_are_listed_with_the_keys_and_survive_deletion() {
    let (folder, options) = folder();
    save_numbers(&folder.path().join("ids.mayhap"), [1]);
    let server = Running::with(&options);
    let mut client = server.client();
    client.expect("SET text x", "+OK\r\n");
    client.expect("BF.ADD seen x", ":1\r\n");
    let all = ["ids", "ids.mayhap", "seen", "text"];
    assert_eq!(names(&client.call("KEYS *")), all);
    assert_eq!(names(&client.call("SCAN 0 COUNT 100000")), all);
    assert_eq!(
        names(&client.call("SCAN 0 COUNT 100000 TYPE mayhap-file")),
        ["ids", "ids.mayhap"]
    );
    assert_eq!(
        names(&client.call("SCAN 0 COUNT 100000 TYPE string")),
        ["text"]
    );
    assert_eq!(
        names(&client.call("SCAN 0 COUNT 100000 MATCH *.mayhap")),
        ["ids.mayhap"]
    );
    client.expect("DBSIZE", ":4\r\n");
    client.expect("EXISTS ids ids.mayhap text", ":3\r\n");
    client.expect("TYPE ids", "+mayhap-file\r\n");
    client.expect(
        "DEL ids",
        "-READONLY this is a filter file in the data folder: replace the file to change it\r\n",
    );
    client.expect("FLUSHALL", "+OK\r\n");
    assert_eq!(names(&client.call("KEYS *")), ["ids", "ids.mayhap"]);
    client.expect("DBSIZE", ":2\r\n");
}

#[test]
fn items_are_read_by_the_key_type_of_a_native_file() {
    let (folder, options) = folder();
    save_numbers(&folder.path().join("ids.mayhap"), 0..500);
    let server = Running::with(&options);
    let mut client = server.client();
    for number in 0..500 {
        client.expect(&format!("BF.EXISTS ids {number}"), ":1\r\n");
    }
    client.expect(
        "BF.MEXISTS ids 7 4000000000 499",
        "*3\r\n:1\r\n:0\r\n:1\r\n",
    );
    client.expect("CF.COUNT ids 7", ":1\r\n");
    client.expect("BF.EXISTS ids#u32 7", ":1\r\n");
    for item in ["apple", "-1", "4294967296", "1.5"] {
        client.expect(
            &format!("BF.MEXISTS ids 1 {item}"),
            &format!("-ERR \"{item}\" is not a whole number of 32 bits, unsigned\r\n"),
        );
    }
    client.expect(
        "BF.EXISTS ids#i64 7",
        "-ERR the keys of this file are of type u32: leave out '#i64'\r\n",
    );
    assert!(
        client
            .call("BF.INFO ids")
            .contains("Key type\r\n$3\r\nu32\r\n")
    );
}

#[test]
fn a_key_type_after_the_name_queries_guavas_longs_as_numbers() {
    let (folder, options) = folder();
    let bytes = golden("guava/mitz64-i64-500.bin");
    fs::copy(bytes, folder.path().join("users.guava")).expect("a copy");
    let case = fs::read(golden("guava/mitz64-i64-500.json")).expect("the case");
    let case: Value = serde_json::from_slice(&case).expect("JSON");
    let server = Running::with(&options);
    let mut client = server.client();
    let keys = case["keys"].as_array().expect("a list");
    let keys = keys
        .iter()
        .map(|key| key["i64"].as_str().expect("a number"));
    for name in ["users.guava", "users"] {
        for key in keys.clone() {
            client.expect(&format!("BF.EXISTS {name}#i64 {key}"), ":1\r\n");
        }
        for number in -250..250 {
            client.expect(&format!("BF.EXISTS {name}#i64 {number}"), ":1\r\n");
        }
        // The false positives that Guava itself has, and no others.
        let false_positives = &case["absent"]["false_positives"];
        for at in 0..500_u64 {
            let number = 1_099_511_627_776 + 7 * at;
            let found = false_positives
                .as_array()
                .is_some_and(|list| list.contains(&at.into()));
            client.expect(
                &format!("BF.EXISTS {name}#i64 {number}"),
                if found { ":1\r\n" } else { ":0\r\n" },
            );
        }
        client.expect(&format!("EXISTS {name}#i64"), ":1\r\n");
        client.expect(&format!("TYPE {name}#i64"), "+mayhap-file\r\n");
        let reply = client.call(&format!("BF.ADD {name}#i64 7"));
        assert!(reply.starts_with("-READONLY"), "{reply}");
    }
    // Names with a key type are not listed.
    assert_eq!(names(&client.call("KEYS *")), ["users", "users.guava"]);
    // Where there is no such file, they are names like any other, and items are bytes.
    client.expect("BF.ADD other#i64 apple", ":1\r\n");
    client.expect("BF.EXISTS other#i64 apple", ":1\r\n");
    client.expect("BF.EXISTS users#i65 7", ":0\r\n");
}

/// The byte order follows from the name; a copy under another name is not served.
#[test]
fn a_file_of_cassandras_is_served_by_the_version_in_its_name() {
    let (folder, options) = folder();
    let bytes = golden("cassandra-filter-old/real-ka-atable.bin");
    for name in ["foo-atable-ka-1-Filter.db", "copy.db"] {
        fs::copy(&bytes, folder.path().join(name)).expect("a copy");
    }
    let server = Running::with(&options);
    let mut client = server.client();
    let name = "foo-atable-ka-1-Filter.db";
    for number in 1..=10 {
        client.expect(&format!("BF.EXISTS {name}#i32 {number}"), ":1\r\n");
    }
    client.expect("EXISTS copy.db", ":0\r\n");
    assert_eq!(
        names(&client.call("KEYS *")),
        ["foo-atable-ka-1-Filter", name]
    );
}

/// An item of a filter of rows and columns is a row, a tab and a qualifier, as on the command line.
#[test]
fn a_file_of_hbases_is_served_by_the_type_of_its_filter() {
    let (folder, options) = folder();
    for name in ["row-100.hfile", "rowcol-900.hfile"] {
        let file = golden("hbase-hfile").join(name);
        fs::copy(file, folder.path().join(name)).expect("a copy");
    }
    // Without its metadata, a chunk cannot be queried.
    let chunk = golden("hbase-chunk/murmur-100.bin");
    fs::copy(chunk, folder.path().join("chunk.bin")).expect("a copy");
    let server = Running::with(&options);
    let mut client = server.client();
    client.expect("BF.MEXISTS row-100 key-5 key-5x0", "*2\r\n:1\r\n:0\r\n");
    for number in 0..900 {
        let cell = format!("row-{}\tq{}", number / 3, number % 3);
        assert_eq!(
            client.raw(&["BF.EXISTS", "rowcol-900", &cell]),
            b":1\r\n",
            "{cell}"
        );
    }
    assert_eq!(
        client.raw(&["BF.EXISTS", "rowcol-900", "row-0\tx1"]),
        b":0\r\n"
    );
    assert_eq!(
        client.raw(&["BF.EXISTS", "rowcol-900#hex", "726f772d30\t7130"]),
        b":1\r\n"
    );
    client.expect("EXISTS chunk.bin", ":0\r\n");
}

#[test]
fn items_are_read_by_the_type_of_a_parquet_column() {
    let (folder, options) = folder();
    let file = golden("parquet-file/duckdb-100.parquet");
    fs::copy(file, folder.path().join("events.parquet")).expect("a copy");
    let server = Running::with(&options);
    let mut client = server.client();
    let exists = |client: &mut RawClient, column: &str, item: &str| {
        let name = format!("events.parquet:row group 0, column {column}");
        let reply = client.raw(&["BF.EXISTS", &name, item]);
        String::from_utf8(reply).expect("text")
    };
    for at in 0..100 {
        let number = (-50 + 3 * at).to_string();
        assert_eq!(exists(&mut client, "l", &number), ":1\r\n", "{number}");
        assert_eq!(exists(&mut client, "n", &number), ":1\r\n", "{number}");
        let text = format!("key-{at}");
        assert_eq!(exists(&mut client, "s", &text), ":1\r\n", "{text}");
    }
    // DuckDB's own answers.
    for (at, found) in [(28, 0), (29, 1), (30, 0), (147, 1), (148, 0)] {
        let number = (10_000_000 + 13 * at).to_string();
        assert_eq!(exists(&mut client, "l", &number), format!(":{found}\r\n"));
    }
    let reply = exists(&mut client, "n", "apple");
    assert_eq!(
        reply,
        "-ERR \"apple\" is not a whole number that the column can hold\r\n"
    );
}

#[test]
fn filter_files_are_served_and_swapped() {
    let (folder, options) = folder();
    let mut filter = Bloom::new(100, 0.001).expect("a filter");
    filter.insert("apple");
    let path = folder.path().join("fruit.mayhap");
    let save = |filter: &Bloom| {
        native::save(&path, filter).expect("saved");
    };
    save(&filter);
    fs::write(folder.path().join("readme.txt"), "no filter at all\n").expect("written");
    // One that holds its maker's own hashes cannot be asked about items, and is not served.
    let hashes = Bloom::for_hashes(100, 0.001).expect("a filter");
    let other = folder.path().join("hashes.mayhap");
    native::save(&other, &hashes).expect("saved");
    let server = Running::with(&options);
    let mut client = server.client();
    for name in ["hashes.mayhap", "hashes"] {
        client.expect(&format!("BF.EXISTS {name} apple"), ":0\r\n");
        client.expect(&format!("EXISTS {name}"), ":0\r\n");
    }
    for name in ["fruit.mayhap", "fruit"] {
        client.expect(
            &format!("BF.MEXISTS {name} apple pear"),
            "*2\r\n:1\r\n:0\r\n",
        );
        client.expect(&format!("CF.EXISTS {name} apple"), ":1\r\n");
        assert!(
            client
                .call(&format!("BF.ADD {name} pear"))
                .starts_with("-READONLY")
        );
        assert!(
            client
                .call(&format!("SET {name} pear"))
                .starts_with("-READONLY")
        );
        client.expect(&format!("TYPE {name}"), "+mayhap-file\r\n");
        assert!(
            client
                .call(&format!("BF.INFO {name}"))
                .contains("$6\r\nmayhap\r\n")
        );
    }
    filter.insert("pear");
    save(&filter);
    while client.call("BF.EXISTS fruit pear") != ":1\r\n" {}
    // A bad one does not take its place.
    fs::write(&path, "damaged").expect("written");
    client.expect("BF.EXISTS fruit pear", ":1\r\n");
    fs::remove_file(&path).expect("removed");
    while client.call("EXISTS fruit") != ":0\r\n" {}
}
