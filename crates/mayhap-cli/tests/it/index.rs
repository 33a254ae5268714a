//! `index` and `which`: no file that holds a key is ever missed, whatever happens to the files and to the index.

use super::folder::{Folder, assert_refused, code, lines, numbered, stderr_text};
use super::stdout;
use std::collections::BTreeMap;
use std::fs::{self, File};
use std::path::Path;
use std::thread;
use std::time::Duration;

/// Numbers that look random, the same in every run.
struct Random(u64);

impl Random {
    fn below(&mut self, bound: u64) -> u64 {
        self.0 = self
            .0
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) % bound
    }
}

fn golden(name: &str) -> Vec<u8> {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../golden");
    fs::read(path.join(name)).expect("a golden file")
}

/// The files after each key that `which` prints.
fn found(folder: &Folder, index: &str, keys: &[String]) -> BTreeMap<String, Vec<String>> {
    let output = folder.feed(&format!("which {index} -"), keys.join("\n"));
    assert!(code(&output) < 2, "{}", stderr_text(&output));
    let lines = lines(&output).into_iter().map(|line| {
        let mut words = line.split('\t').map(str::to_owned);
        (words.next().unwrap_or_default(), words.collect())
    });
    lines.collect()
}

#[test]
fn no_file_is_missed_in_folders_that_change_at_random() {
    let folder = Folder::new();
    fs::create_dir_all(folder.join("data/deep/er")).expect("folders");
    let mut random = Random(1);
    let mut truth: BTreeMap<String, Vec<u64>> = BTreeMap::new();
    for round in 0..12 {
        for _ in 0..6 {
            let place = ["data", "data/deep", "data/deep/er"][random.below(3) as usize];
            let name = format!("{place}/f{}.txt", random.below(12));
            if random.below(4) == 0 {
                truth.remove(&name);
                let _ = fs::remove_file(folder.join(&name));
                continue;
            }
            // Repeated keys, and sometimes none.
            let keys: Vec<u64> = (0..random.below(300)).map(|_| random.below(3000)).collect();
            let text: Vec<String> = keys.iter().map(u64::to_string).collect();
            folder.write(&name, text.join("\n"));
            truth.insert(name, keys);
        }
        // Every other time the index is stale.
        if round == 0 {
            folder.done("index -o files.idx data --fpr 1%");
        } else if round % 2 == 0 {
            folder.done("index --update -q -o files.idx");
        }
        let keys: Vec<String> = (0..3000).map(|key: u32| key.to_string()).collect();
        let found = found(&folder, "files.idx", &keys);
        let (mut right, mut listed) = (0, 0);
        for (name, keys) in &truth {
            for key in keys {
                let files = found.get(&key.to_string());
                let is_listed = files.is_some_and(|files| files.contains(name));
                assert!(is_listed, "round {round}: {key} is in {name}");
            }
            let mut keys = keys.clone();
            keys.sort_unstable();
            keys.dedup();
            right += keys.len();
        }
        for files in found.values() {
            listed += files.len();
            for name in files {
                assert!(truth.contains_key(name), "round {round}: {name} is gone");
            }
        }
        if round % 2 == 0 {
            let files = truth.len();
            assert!(
                listed - right <= 60 * files,
                "{listed} listed, {right} right"
            );
            folder.done("verify files.idx");
        }
    }
}

#[test]
fn one_key_prints_files_and_several_print_lines() {
    let folder = Folder::with(&[("a.txt", "x\ny\n"), ("b.txt", "y\r\nz\r\n")]);
    folder.done("index --fpr 1e-6 -o i.idx a.txt b.txt");
    assert_eq!(lines(&folder.done("which i.idx y")), ["a.txt", "b.txt"]);
    assert_eq!(lines(&folder.done("which i.idx z")), ["b.txt"]);
    assert_eq!(
        lines(&folder.done("which i.idx x nothing y")),
        ["x\ta.txt", "y\ta.txt\tb.txt"]
    );
    let none = folder.run("which i.idx nothing");
    assert_eq!((code(&none), stdout(&none)), (1, ""));
    // -v: the keys that are in no file.
    let inverted = folder.feed("which -v i.idx -", "x\nnothing\n");
    assert_eq!((code(&inverted), stdout(&inverted)), (0, "nothing\n"));
    assert_eq!(code(&folder.run("which -v i.idx x")), 1);
    assert_eq!(
        stdout(&folder.done("which --json i.idx z nothing")),
        "{\"files\":[{\"file\":\"b.txt\",\"reason\":\"filter\",\"row_group\":null}],\"key\":\"z\"}\n{\"files\":[],\"key\":\"nothing\"}\n"
    );
    assert_eq!(code(&folder.run("which --json i.idx nothing")), 1);
}

#[test]
fn files_that_the_filters_do_not_speak_for_are_listed_and_reported() {
    let folder = Folder::new();
    fs::create_dir(folder.join("d")).expect("a folder");
    for name in ["same", "changed", "gone"] {
        folder.write(&format!("d/{name}.txt"), format!("{name}\n"));
    }
    folder.write("d/broken.parquet", "PAR1 and nothing else");
    let output = folder.run("index -o d/i.idx d --fpr 1e-6");
    assert_eq!(code(&output), 2, "{}", stderr_text(&output));
    assert!(stderr_text(&output).contains("d/broken.parquet is not indexed"));
    folder.write("d/changed.txt", "other\n");
    folder.write("d/new.txt", "new\n");
    fs::remove_file(folder.join("d/gone.txt")).expect("a file");
    let output = folder.done("which d/i.idx other");
    assert_eq!(
        lines(&output),
        ["d/broken.parquet", "d/changed.txt", "d/new.txt"]
    );
    let reported = stderr_text(&output);
    for line in [
        "d/broken.parquet could not be indexed",
        "d/changed.txt changed",
        "d/gone.txt is gone",
        "d/new.txt is not in the index",
    ] {
        assert!(reported.contains(line), "{line}: {reported}");
    }
    assert_eq!(reported.lines().count(), 4, "{reported}");
    assert!(stderr_text(&folder.done("which -q d/i.idx other")).is_empty());
    fs::remove_file(folder.join("d/broken.parquet")).expect("a file");
    let output = folder.done("index --update -o d/i.idx");
    let reported = stderr_text(&output);
    for line in [
        "d/changed.txt: changed",
        "d/new.txt: new",
        "d/gone.txt: gone, dropped",
        "d/broken.parquet: gone, dropped",
    ] {
        assert!(reported.contains(line), "{line}: {reported}");
    }
    let output = folder.done("which d/i.idx other");
    assert_eq!(lines(&output), ["d/changed.txt"]);
    assert!(stderr_text(&output).is_empty());
}

#[test]
fn an_update_reads_only_what_changed_and_appends() {
    let folder = Folder::with(&[("a.txt", "old\n"), ("b.txt", "b\n")]);
    folder.done("index -o i.idx a.txt b.txt");
    let before = folder.read("i.idx");
    // The same size and time: it is taken to be the same.
    let a = File::options()
        .write(true)
        .open(folder.join("a.txt"))
        .expect("a file");
    let time = a
        .metadata()
        .and_then(|found| found.modified())
        .expect("a time");
    folder.write("a.txt", "new\n");
    a.set_modified(time).expect("a time");
    folder.write("b.txt", "bb\n");
    folder.done("index --update -o i.idx");
    assert_eq!(lines(&folder.done("which i.idx old")), ["a.txt"]);
    assert_eq!(lines(&folder.done("which i.idx bb")), ["b.txt"]);
    let after = folder.read("i.idx");
    assert_eq!(
        before[8192..],
        after[8192..before.len()],
        "bodies stay in place"
    );
    // More files can be added, and other settings cannot.
    folder.write("c.txt", "c\n");
    folder.done("index --update -o i.idx c.txt");
    assert_eq!(lines(&folder.done("which i.idx c")), ["c.txt"]);
    assert_refused(
        "another rate",
        &folder.run("index --update --fpr 5% -o i.idx"),
        &["another --fpr", "omit --fpr"],
    );
    // A named file that comes back after it was dropped.
    fs::rename(folder.join("c.txt"), folder.join("away")).expect("a file");
    folder.done("index --update -q -o i.idx");
    fs::rename(folder.join("away"), folder.join("c.txt")).expect("a file");
    assert_eq!(lines(&folder.done("which i.idx anything")), ["c.txt"]);
    folder.done("index --update -q -o i.idx");
    // Many updates do not let it grow for ever.
    for round in 0..12_u32 {
        folder.write("b.txt", numbered("", round..round + 3000));
        folder.done("index --update -q -o i.idx");
    }
    let size = folder.read("i.idx").len();
    assert!(size < 60_000, "{size} bytes");
    folder.done("verify i.idx");
    assert_eq!(folder.names(), ["a.txt", "b.txt", "c.txt", "i.idx"]);
}

#[test]
fn a_folder_can_be_moved_with_its_index() {
    let folder = Folder::new();
    fs::create_dir_all(folder.join("x/y")).expect("folders");
    folder.write("x/y/a.txt", "key\n");
    folder.done("index -o x/i.idx x");
    fs::rename(folder.join("x"), folder.join("z")).expect("a folder");
    let output = folder.done("which z/i.idx key");
    assert_eq!(lines(&output), ["z/y/a.txt"]);
    assert!(stderr_text(&output).is_empty());
    fs::rename(folder.join("z/y/a.txt"), folder.join("z/b.txt")).expect("a file");
    folder.done("index --update -o z/i.idx");
    assert_eq!(lines(&folder.done("which z/i.idx key")), ["z/b.txt"]);
}

#[test]
fn columns_of_tables_are_keys() {
    let folder = Folder::with(&[
        ("a.csv", "id,name\n1,\"x,y\"\n2,z\n"),
        ("b.tsv", "name\tid\nq\t3\n"),
        (
            "c.jsonl",
            "{\"id\":4,\"name\":null}\n{\"id\":\"five\"}\n{}\n",
        ),
    ]);
    folder.done("index --fpr 1e-6 --column id -o i.idx a.csv b.tsv c.jsonl");
    for (key, file) in [
        ("2", "a.csv"),
        ("3", "b.tsv"),
        ("4", "c.jsonl"),
        ("five", "c.jsonl"),
    ] {
        assert_eq!(lines(&folder.done(&format!("which i.idx {key}"))), [file]);
    }
    // Column names and nulls are not keys.
    for key in ["id", "null", "name"] {
        assert_eq!(code(&folder.run(&format!("which i.idx {key}"))), 1, "{key}");
    }
    let output = folder.run("index -o j.idx a.csv");
    assert_eq!(code(&output), 2);
    assert!(stderr_text(&output).contains("--column"));
    let output = folder.run("index --column nosuch -o j.idx a.csv");
    assert!(stderr_text(&output).contains("has no column nosuch"));
    // Such a file may hold any key.
    assert_eq!(lines(&folder.done("which -q j.idx anything")), ["a.csv"]);
}

/// Files with several row groups are written by pyarrow and DuckDB: clients/index.
#[test]
fn row_groups_of_parquet_are_named() {
    let folder = Folder::new();
    folder.write("p.parquet", golden("parquet-file/arrow-100.parquet"));
    let columns = stderr_text(&folder.run("index -o none.idx p.parquet"));
    assert!(columns.contains("name the key by --column"), "{columns}");
    folder.done("index --fpr 1e-6 --column l -o file.idx p.parquet");
    folder.done("index --fpr 1e-6 --granularity row-group --column l -o groups.idx p.parquet");
    assert_eq!(lines(&folder.done("which file.idx 4")), ["p.parquet"]);
    assert_eq!(
        lines(&folder.done("which groups.idx 4 -- -2 5")),
        ["4\tp.parquet#row-group 0", "-2\tp.parquet#row-group 0"]
    );
    assert!(stdout(&folder.done("which --json groups.idx 4")).contains("\"row_group\":0"));
}

#[test]
fn tables_of_leveldb_and_filters_of_cassandra_are_indexed() {
    let folder = Folder::new();
    fs::create_dir(folder.join("db")).expect("a folder");
    folder.write("db/000005.ldb", golden("leveldb-table/db-1000.ldb"));
    folder.write("db/table.ldb", golden("leveldb-table/table-300.ldb"));
    folder.write(
        "db/snappy.ldb",
        golden("leveldb-table/table-500-snappy.ldb"),
    );
    folder.write("db/000007.sst", golden("rocksdb-bloom/100-b10.sst"));
    folder.done("index -q --fpr 1e-6 -o db.idx db");
    assert_eq!(
        lines(&folder.done("which db.idx key-44")),
        ["db/000005.ldb", "db/000007.sst"]
    );
    assert_eq!(
        lines(&folder.done("which db.idx key-999")),
        ["db/000005.ldb"]
    );
    let keys = lines(&folder.done("which db.idx key-000299"));
    assert!(keys.contains(&"db/table.ldb".to_owned()), "{keys:?}");
    assert_eq!(code(&folder.run("which db.idx key-1000x")), 1);
    fs::create_dir(folder.join("users-5a1c")).expect("a folder");
    folder.write("users.txt", numbered("user-", 0..500));
    folder.done("build --format cassandra --fpr 0.1% -o users-5a1c/nb-1-big-Filter.db users.txt");
    folder.write("users-5a1c/nb-1-big-Data.db", "data");
    folder.write("users-5a1c/nb-1-big-TOC.txt", "Data.db\n");
    folder.write("users-5a1c/nb-2-big-Data.db", "data without a filter");
    let output = folder.run("index -o users.idx users-5a1c");
    assert_eq!(code(&output), 2);
    assert!(stderr_text(&output).contains("nb-2-big-Data.db is not indexed"));
    assert_eq!(
        lines(&folder.done("which -q users.idx user-77")),
        [
            "users-5a1c/nb-1-big-Filter.db",
            "users-5a1c/nb-2-big-Data.db"
        ]
    );
    assert_eq!(
        lines(&folder.done("which -q users.idx nobody")),
        ["users-5a1c/nb-2-big-Data.db"]
    );
}

#[test]
fn damage_is_reported_with_its_byte_and_hides_nothing() {
    let folder = Folder::with(&[("a.txt", "x\ny\n"), ("b.txt", "z\n")]);
    folder.done("index -o i.idx a.txt b.txt");
    let intact = folder.read("i.idx");
    // Pages of zeros are long; what is used, and some of the zeros.
    let places = (0..64).chain(4088..4100).chain(8180..intact.len());
    for at in places {
        let mut damaged = intact.clone();
        damaged[at] ^= 0x10;
        folder.write("d.idx", &damaged);
        let verified = folder.run("verify d.idx");
        assert_eq!(code(&verified), 2, "byte {at}");
        let output = folder.run("which d.idx x");
        let is_listed = lines(&output).contains(&"a.txt".to_owned());
        assert!(code(&output) == 2 || is_listed, "byte {at}");
        if code(&output) == 2 {
            assert!(
                stderr_text(&output).starts_with("mayhap: d.idx"),
                "byte {at}"
            );
        }
    }
    for length in [0, 7, 8, 4096, 8191, 8192, intact.len() - 1] {
        folder.write("d.idx", &intact[..length]);
        assert_refused(
            &format!("{length} bytes"),
            &folder.run("which d.idx x"),
            &["d.idx"],
        );
    }
}

/// Wherever it is killed, the index answers for what it was, or for what it becomes.
#[test]
fn an_update_that_is_killed_leaves_an_index_that_misses_nothing() {
    let folder = Folder::new();
    fs::create_dir(folder.join("data")).expect("a folder");
    for file in 0..20 {
        folder.write(
            &format!("data/{file}.txt"),
            numbered("", 1000 * file..1000 * file + 1000),
        );
    }
    folder.done("index -o i.idx data");
    for round in 0..12 {
        for file in 0..20 {
            let first = 1000 * file + round;
            folder.write(
                &format!("data/{file}.txt"),
                numbered("", first..first + 20_000),
            );
        }
        let mut update = folder.mayhap("index --update -q -o i.idx");
        let mut update = update.spawn().expect("the program starts");
        thread::sleep(Duration::from_millis(u64::from(round) * 9));
        let _ = update.kill();
        let _ = update.wait();
        let output = folder.run("which -q i.idx 19500");
        assert_eq!(code(&output), 0, "{}", stderr_text(&output));
        for file in 1..20 {
            let name = format!("data/{file}.txt");
            assert!(lines(&output).contains(&name), "round {round}: {name}");
        }
    }
    folder.done("index --update -q -o i.idx");
    folder.done("verify i.idx");
    assert!(stderr_text(&folder.done("which i.idx 19500")).is_empty());
}

#[test]
fn the_other_commands_know_an_index() {
    let folder = Folder::with(&[("a.txt", "x\n"), ("text", "words\n")]);
    folder.done("index -o i.idx a.txt");
    let info = folder.done("info i.idx");
    for words in ["index of files", "ribbon", "a.txt", "0.1 %"] {
        assert!(stdout(&info).contains(words), "{words}");
    }
    assert!(stdout(&folder.done("verify i.idx")).contains("all checksums match"));
    assert_refused(
        "check",
        &folder.run("check i.idx -k x"),
        &["mayhap which i.idx"],
    );
    assert_refused(
        "a filter",
        &folder.run("which a.txt x"),
        &["is not an index"],
    );
    assert_refused(
        "nothing",
        &folder.run("which none.idx x"),
        &["no such file"],
    );
    assert_refused("text", &folder.run("index -o text a.txt"), &["--force"]);
    assert_refused(
        "no inputs",
        &folder.run("index -o new.idx"),
        &["name the files"],
    );
    assert_refused(
        "no such input",
        &folder.run("index -o new.idx none"),
        &["no such file"],
    );
    assert_refused(
        "itself",
        &folder.run("index --update -o none.idx"),
        &["does not exist"],
    );
}

#[test]
fn keys_have_the_type_of_the_column() {
    let folder = Folder::with(&[("n.txt", "7\n8\n")]);
    folder.done("index --key-type u32 -o n.idx n.txt");
    assert_eq!(lines(&folder.done("which n.idx 007")), ["n.txt"]);
    assert_refused("a word", &folder.run("which n.idx word"), &["word", "u32"]);
    let folder = Folder::new();
    folder.write("p.parquet", golden("parquet-file/arrow-100.parquet"));
    folder.done("index --column l -o p.idx p.parquet");
    assert_refused(
        "a word",
        &folder.run("which p.idx word"),
        &["a whole number"],
    );
}
