//! Tables made up at random, with all that makes CSV hard, against a join by two loops.

use super::super::stderr;
use super::Folder;
use mayhap_testkit::Random;
const FIELDS: [&str; 12] = [
    "",
    "a",
    "b",
    "abc",
    "a,b",
    "\"",
    "say \"hi\"",
    "two\nlines",
    "cr\r\nlf",
    " a",
    "7",
    "\u{e9}",
];

/// Fields, and the bytes that they were written as without their end.
struct Row {
    fields: Vec<&'static str>,
    text: String,
    end: &'static str,
}

fn table(random: &mut Random, width: usize) -> Vec<Row> {
    let rows = random.choose(&[0, 1, 5, 40]);
    let some = 1 + random.index(FIELDS.len());
    (0..rows)
        .map(|_| {
            let fields: Vec<&str> = (0..width).map(|_| random.choose(&FIELDS[..some])).collect();
            let written: Vec<String> = fields
                .iter()
                .map(|field| {
                    let must = field.contains([',', '"', '\n', '\r']);
                    // An empty line would be no row.
                    if must || width == 1 && field.is_empty() || random.below(4) == 0 {
                        format!("\"{}\"", field.replace('"', "\"\""))
                    } else {
                        (*field).to_owned()
                    }
                })
                .collect();
            Row {
                fields,
                text: written.join(","),
                end: random.choose(&["\n", "\r\n"]),
            }
        })
        .collect()
}

fn written(rows: &[Row]) -> String {
    rows.iter().map(|row| row.text.clone() + row.end).collect()
}

fn quoted(field: &str) -> String {
    if field.contains([',', '"', '\n', '\r']) {
        format!("\"{}\"", field.replace('"', "\"\""))
    } else {
        field.to_owned()
    }
}

#[test]
fn joins_are_those_of_two_loops() {
    let mut random = Random::new(0x9e37_79b9_7f4a_7c15);
    for round in 0..150 {
        let (left_width, right_width) = (1 + random.index(3), 1 + random.index(3));
        let left = table(&mut random, left_width);
        let right = table(&mut random, right_width);
        let (left_key, right_key) = (random.index(left_width), random.index(right_width));
        let folder = Folder::new(&[("l.csv", &written(&left)), ("r.csv", &written(&right))]);
        let words = format!(
            "--left l.csv --right r.csv --no-header --on {} --right-on {}",
            left_key + 1,
            right_key + 1
        );
        let (mut inner, mut semi) = (String::new(), String::new());
        for row in &right {
            let mut is_found = false;
            for other in &left {
                if other.fields[left_key] != row.fields[right_key] {
                    continue;
                }
                is_found = true;
                inner += &row.text;
                for (column, field) in other.fields.iter().enumerate() {
                    if column != left_key {
                        inner += ",";
                        inner += &quoted(field);
                    }
                }
                inner += row.end;
            }
            if is_found {
                semi += &row.text;
                semi += row.end;
            }
        }
        for (how, expected) in [
            ("--exact", &inner),
            ("--exact --twice --fpr 20%", &inner),
            ("--semi", &semi),
            ("--fpr 1e-9", &semi),
        ] {
            let output = folder.join(&format!("{words} {how}"));
            let printed = String::from_utf8_lossy(&output.stdout);
            assert_eq!(
                &printed,
                expected,
                "round {round}, {how}: {}",
                stderr(&output)
            );
            assert_eq!(output.status.code(), Some(i32::from(expected.is_empty())));
        }
    }
}
