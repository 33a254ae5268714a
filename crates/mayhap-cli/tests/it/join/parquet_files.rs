//! Parquet on either side: written here, and by Arrow and DuckDB.

use super::super::{stderr, stdout};
use super::{Folder, golden, lines};
use parquet::basic::{Compression, GzipLevel, ZstdLevel};
use parquet::data_type::{ByteArray, ByteArrayType, Int32Type, Int64Type};
use parquet::file::properties::WriterProperties;
use parquet::file::writer::SerializedFileWriter;
use parquet::schema::parser::parse_message_type;
use std::fs::{self, File};
use std::path::Path;
use std::sync::Arc;

const SCHEMA: &str = "message orders {
    required int64 id;
    optional binary user (UTF8);
    optional int32 small (UINT_32);
    required int32 day (DATE);
}";

/// Rows `groups` x 1000: `id` counts on, `user` is `u<id / 2>` and null for every tenth, `small` counts down from 2^32.
fn write_orders(path: &Path, groups: u32, compression: Compression) {
    let schema = Arc::new(parse_message_type(SCHEMA).expect("a schema"));
    let properties = WriterProperties::builder()
        .set_bloom_filter_enabled(true)
        .set_bloom_filter_fpp(1e-6)
        .set_compression(compression)
        .set_data_page_row_count_limit(100)
        .set_write_batch_size(100)
        .build();
    let file = File::create(path).expect("a file");
    let mut writer =
        SerializedFileWriter::new(file, schema, Arc::new(properties)).expect("a writer");
    for group in 0..groups {
        let ids: Vec<i64> = (0..1000).map(|row| i64::from(1000 * group + row)).collect();
        let users: Vec<ByteArray> = ids
            .iter()
            .filter(|&&id| id % 10 != 0)
            .map(|id| format!("u{}", id / 2).into_bytes().into())
            .collect();
        let user_levels: Vec<i16> = ids.iter().map(|id| i16::from(id % 10 != 0)).collect();
        let small: Vec<i32> = ids.iter().map(|&id| -1 - id as i32).collect();
        let days: Vec<i32> = ids.iter().map(|&id| id as i32).collect();
        let mut columns = writer.next_row_group().expect("a row group");
        let mut number = 0;
        while let Some(mut column) = columns.next_column().expect("a column") {
            match number {
                0 => column.typed::<Int64Type>().write_batch(&ids, None, None),
                1 => column
                    .typed::<ByteArrayType>()
                    .write_batch(&users, Some(&user_levels), None),
                2 => column
                    .typed::<Int32Type>()
                    .write_batch(&small, Some(&[1; 1000]), None),
                _ => column.typed::<Int32Type>().write_batch(&days, None, None),
            }
            .expect("written");
            column.close().expect("closed");
            number += 1;
        }
        columns.close().expect("closed");
    }
    writer.close().expect("closed");
}

#[test]
fn csv_meets_parquet_in_every_codec() {
    for compression in [
        Compression::UNCOMPRESSED,
        Compression::SNAPPY,
        Compression::GZIP(GzipLevel::default()),
        Compression::ZSTD(ZstdLevel::default()),
        Compression::LZ4_RAW,
        Compression::LZ4,
    ] {
        let folder = Folder::new(&[("users.csv", "name,user\nAnn,u3\n\"B,o\",u2000\nCid,x\n")]);
        write_orders(&folder.path("orders.parquet"), 5, compression);
        assert_eq!(
            folder.joined("--left users.csv --right orders.parquet --on user --exact --twice"),
            "id,user,small,day,name\n\
             6,u3,4294967289,1970-01-07,Ann\n\
             7,u3,4294967288,1970-01-08,Ann\n\
             4001,u2000,4294963294,1980-12-15,\"B,o\"\n",
            "{compression}"
        );
        assert_eq!(
            folder.joined("--left orders.parquet --right users.csv --on user --exact --twice"),
            "name,user,id,small,day\n\
             Ann,u3,6,4294967289,1970-01-07\n\
             Ann,u3,7,4294967288,1970-01-08\n\
             \"B,o\",u2000,4001,4294963294,1980-12-15\n"
        );
    }
}

#[test]
fn row_groups_without_a_key_are_not_read() {
    let folder = Folder::new(&[
        (
            "ids.csv",
            "id\n3500\n3501\nnone\n-7\n99999999999999999999\n",
        ),
        ("small.csv", "small\n4294963795\n"),
        ("days.csv", "day\n1970-01-05\n"),
    ]);
    write_orders(&folder.path("orders.parquet"), 8, Compression::SNAPPY);
    for (left, column, rows, skipped) in [
        ("ids", "id", 2, Some("; 7 of 8 row groups skipped\n")),
        // Stored as a negative number, and asked about as the large one that it means.
        ("small", "small", 1, Some("; 7 of 8 row groups skipped\n")),
        // The filter has days since 1970, and keys are compared as text.
        ("days", "day", 1, None),
    ] {
        let words = format!("--left {left}.csv --right orders.parquet --on {column} --semi");
        let output = folder.join(&words);
        assert_eq!(
            stdout(&output).lines().count(),
            1 + rows,
            "{}",
            stderr(&output)
        );
        let stderr_text = stderr(&output);
        assert!(
            stderr_text.starts_with("mayhap: 8,000 rows in"),
            "{stderr_text}"
        );
        match skipped {
            Some(skipped) => assert!(stderr_text.ends_with(skipped), "{stderr_text}"),
            None => assert!(!stderr_text.contains("skipped"), "{stderr_text}"),
        }
    }
    // More keys than are asked about one by one.
    let many = lines(3500..20_000);
    folder.write("ids.csv", format!("id\n{many}").as_bytes());
    let output = folder.join("--left ids.csv --right orders.parquet --on id --fpr 1e-9");
    assert_eq!(stdout(&output).lines().count(), 1 + 4500);
    assert!(!stderr(&output).contains("skipped"), "{}", stderr(&output));
}

#[test]
fn a_null_matches_nothing_and_is_an_empty_field() {
    let folder = Folder::new(&[("blank.csv", "user\n\"\"\n"), ("ids.csv", "id\n10\n11\n")]);
    write_orders(&folder.path("orders.parquet"), 1, Compression::SNAPPY);
    let nulls = folder.join("--left blank.csv --right orders.parquet --on user --semi");
    assert_eq!(stdout(&nulls), "id,user,small,day\n");
    assert_eq!(nulls.status.code(), Some(1));
    assert_eq!(
        folder.joined("--left ids.csv --right orders.parquet --on id --delimiter ;"),
        "id;user;small;day\n10;;4294967285;1970-01-11\n11;u5;4294967284;1970-01-12\n"
    );
    let both = folder.joined("--left orders.parquet --right orders.parquet --on user --exact");
    // 400 pairs and 100 rows alone, whose partner is null; each pair meets itself and the other.
    assert_eq!(both.lines().count(), 1 + 400 * 4 + 100);
}

#[test]
fn files_of_arrow_and_duckdb_are_read() {
    for (name, rows) in [
        ("arrow-100", 100),
        ("arrow-2000", 2000),
        ("duckdb-100", 2000),
        ("duckdb-3000", 18_000),
    ] {
        let path = golden(&format!("{name}.parquet"));
        let folder = Folder::new(&[]);
        fs::copy(&path, folder.path("right.parquet")).expect("copied");
        let all = folder.join("--left right.parquet --right right.parquet --on s --semi");
        let printed = String::from_utf8_lossy(&all.stdout).lines().count();
        assert!(printed > rows, "{name}: {printed} {}", stderr(&all));
        // Numbers as text, from one side to the other and back.
        let words = "--left right.parquet --right numbers.csv --on l --semi -q";
        let only = folder.join("--left right.parquet --right right.parquet --on l --semi -q");
        folder.write("numbers.csv", &only.stdout);
        let again = folder.join(words);
        assert!(again.stdout == only.stdout, "{name}: {}", stderr(&again));
    }
}

#[test]
fn damaged_files_are_errors_or_rows_but_no_panics() {
    let folder = Folder::new(&[("ids.csv", "id\n3\n700\n")]);
    write_orders(&folder.path("whole.parquet"), 1, Compression::SNAPPY);
    let whole = fs::read(folder.path("whole.parquet")).expect("it is there");
    let ask = |bytes: &[u8], what: &str| {
        folder.write("bad.parquet", bytes);
        let output = folder.join("--left ids.csv --right bad.parquet --on id --exact");
        let stderr_text = String::from_utf8_lossy(&output.stderr);
        assert!(
            matches!(output.status.code(), Some(0..=2)),
            "{what}: {stderr_text}"
        );
        assert!(!stderr_text.contains("panicked"), "{what}: {stderr_text}");
        assert_eq!(stderr_text.lines().count(), 1, "{what}: {stderr_text}");
    };
    let steps = whole.len() / 60;
    for at in (4..whole.len()).step_by(steps) {
        ask(&whole[..at], &format!("cut at {at}"));
    }
    // Every byte of the metadata, and some of the pages.
    let length = u32::from_le_bytes(
        whole[whole.len() - 8..][..4]
            .try_into()
            .expect("four bytes"),
    );
    let metadata = whole.len() - 8 - length as usize;
    let places = (4..metadata)
        .step_by(steps)
        .chain((metadata..whole.len()).step_by(3));
    for at in places {
        for mask in [0x80, 0x01] {
            let mut bytes = whole.clone();
            bytes[at] ^= mask;
            ask(&bytes, &format!("byte {at} ^ {mask}"));
        }
    }
}
