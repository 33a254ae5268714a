//! The functions in SQL, in one process.

use datafusion::arrow::array::{
    ArrayRef, AsArray, BinaryArray, DictionaryArray, Int32Array, Int64Array, RecordBatch,
    StringArray, UInt64Array,
};
use datafusion::arrow::compute::cast;
use datafusion::arrow::datatypes::{DataType, Field, Int8Type, Int64Type, Schema, TimeUnit};
use datafusion::common::ScalarValue;
use datafusion::datasource::MemTable;
use datafusion::error::Result;
use datafusion::prelude::{SessionConfig, SessionContext};
use mayhap::formats::spark;
use mayhap::{Bloom, ClassicBloom, KeyType};
use std::sync::Arc;

fn session() -> SessionContext {
    let config = SessionConfig::new()
        .with_target_partitions(8)
        .with_batch_size(100);
    let mut context = SessionContext::new_with_config(config);
    mayhap_datafusion::register_all(&mut context).unwrap();
    context
}

/// A table of one column `k`, in partitions.
fn table(context: &SessionContext, name: &str, partitions: Vec<ArrayRef>) {
    let field = Field::new("k", partitions[0].data_type().clone(), true);
    let schema = Arc::new(Schema::new(vec![field]));
    let batch = |column| vec![RecordBatch::try_new(Arc::clone(&schema), vec![column]).unwrap()];
    let partitions = partitions.into_iter().map(batch).collect();
    let table = MemTable::try_new(Arc::clone(&schema), partitions).unwrap();
    context.register_table(name, Arc::new(table)).unwrap();
}

fn integers(range: std::ops::Range<i64>) -> ArrayRef {
    Arc::new(Int64Array::from_iter_values(range))
}

async fn rows(context: &SessionContext, sql: &str) -> Result<Vec<Vec<ScalarValue>>> {
    let mut rows = Vec::new();
    for batch in context.sql(sql).await?.collect().await? {
        for row in 0..batch.num_rows() {
            let values = batch.columns().iter();
            rows.push(
                values
                    .map(|column| ScalarValue::try_from_array(column, row))
                    .collect::<Result<_>>()?,
            );
        }
    }
    Ok(rows)
}

/// The only value of a result.
async fn value(context: &SessionContext, sql: &str) -> ScalarValue {
    let mut rows = rows(context, sql)
        .await
        .unwrap_or_else(|error| panic!("{sql}: {error}"));
    assert_eq!((rows.len(), rows[0].len()), (1, 1), "{sql}");
    rows.remove(0).remove(0)
}

async fn count(context: &SessionContext, sql: &str) -> i64 {
    match value(context, sql).await {
        ScalarValue::Int64(Some(count)) => count,
        other => panic!("{sql}: {other}"),
    }
}

async fn filter(context: &SessionContext, sql: &str) -> Vec<u8> {
    match value(context, sql).await {
        ScalarValue::BinaryView(Some(bytes)) => bytes,
        other => panic!("{sql}: {other}"),
    }
}

/// What a query says, if it fails.
async fn error(context: &SessionContext, sql: &str) -> String {
    match rows(context, sql).await {
        Ok(rows) => panic!("{sql}: no error but {rows:?}"),
        Err(error) => error.to_string(),
    }
}

/// Every format, as arguments after the key.
const FORMATS: [&str; 4] = [
    ", 20000, 0.01",
    ", 20000, 0.01, format => 'native'",
    ", 20000, 200000, format => 'spark'",
    ", 20000, 200000, format => 'spark-v2'",
];

#[tokio::test]
async fn a_join_behind_a_filter_has_the_rows_of_the_join() {
    let context = session();
    table(
        &context,
        "small",
        vec![integers(0..1000), integers(5000..6000)],
    );
    table(
        &context,
        "big",
        (0..8)
            .map(|part| integers(part * 10_000..(part + 1) * 10_000))
            .collect(),
    );
    let plain = count(&context, "select count(*) from big join small using (k)").await;
    assert_eq!(plain, 2000);
    for arguments in FORMATS {
        let reduced = format!(
            "(select k from big where might_contain((select bloom_filter_agg(k{arguments}) from small), k))"
        );
        let sql = format!("select count(*) from {reduced} b join small using (k)");
        assert_eq!(count(&context, &sql).await, plain, "{sql}");
        let left = count(&context, &format!("select count(*) from {reduced} b")).await;
        assert!(
            (2000..2000 + 78_000 / 50).contains(&left),
            "{left} rows left by {arguments}"
        );
    }
}

#[tokio::test]
async fn eight_partitions_give_the_bytes_of_one() {
    let context = session();
    table(
        &context,
        "parts",
        (0..8)
            .map(|part| integers(part * 1000..part * 1000 + 1500))
            .collect(),
    );
    table(&context, "whole", vec![integers(0..8500)]);
    for arguments in FORMATS.into_iter().chain([""]) {
        let agg = |table: &str| format!("select bloom_filter_agg(k{arguments}) from {table}");
        let whole = filter(&context, &agg("whole")).await;
        assert!(
            whole == filter(&context, &agg("parts")).await,
            "parts{arguments}"
        );
        let merged = format!(
            "select bloom_filter_merge(f) from (select k % 7 g, bloom_filter_agg(k{arguments}) f from parts group by k % 7)"
        );
        assert!(
            whole == filter(&context, &merged).await,
            "merged{arguments}"
        );
    }
}

#[tokio::test]
async fn filters_are_those_of_the_library() {
    let context = session();
    table(&context, "t", vec![integers(0..1000)]);
    let native = filter(&context, "select bloom_filter_agg(k, 1000, 0.01) from t").await;
    let mut same = Bloom::new(1000, 0.01).unwrap().with_key_type(KeyType::I64);
    for key in 0..1000_i64 {
        same.insert(key);
    }
    assert_eq!(native, mayhap::to_bytes(&same).unwrap());

    let mut same: ClassicBloom = spark::with_bits(1000, 8192, spark::Version::One).unwrap();
    for key in 0..1000_i64 {
        same.insert(key);
    }
    let bytes = filter(
        &context,
        "select bloom_filter_agg(k, 1000, 8192, format => 'spark') from t",
    )
    .await;
    assert_eq!(bytes, spark::encode(&same).unwrap());
}

#[tokio::test]
async fn filters_that_spark_wrote_have_their_keys() {
    let context = session();
    table(&context, "keys", vec![integers(-250..250)]);
    for (index, file) in [
        &include_bytes!("../../../golden/spark/v1-i64-500.bin")[..],
        include_bytes!("../../../golden/spark/v2-seed0-i64-500.bin"),
        include_bytes!("../../../golden/spark/v2-seed42-i64-500.bin"),
    ]
    .into_iter()
    .enumerate()
    {
        let name = format!("file{index}");
        table(
            &context,
            &name,
            vec![Arc::new(BinaryArray::from_vec(vec![file]))],
        );
        let found =
            format!("select count(*) from keys where might_contain((select k from {name}), k)");
        assert_eq!(count(&context, &found).await, 500);
        // Spark reports a rate of 2.9 %.
        let absent = format!(
            "select count(*) from generate_series(1000000, 1009999) t(k) where might_contain((select k from {name}), k)"
        );
        assert!((150..450).contains(&count(&context, &absent).await));
    }
}

/// Each type finds its own keys, and the same values in the other types of its row.
#[tokio::test]
async fn equal_values_are_equal_keys_in_every_layout() {
    let context = session();
    let text: ArrayRef = Arc::new(StringArray::from_iter_values(
        (0..300).map(|key| format!("key {key}, longer than a view")),
    ));
    let number = integers(0..100);
    // What a scale of -1 has exactly.
    let tens: ArrayRef = Arc::new(Int64Array::from_iter_values((0..100).map(|ten| 10 * ten)));
    let dictionary =
        |values: DataType| DataType::Dictionary(Box::new(DataType::Int32), Box::new(values));
    let same = [
        (
            text,
            vec![
                DataType::Utf8,
                DataType::LargeUtf8,
                DataType::Utf8View,
                DataType::Binary,
                DataType::LargeBinary,
                DataType::BinaryView,
                dictionary(DataType::Utf8),
            ],
        ),
        (
            Arc::clone(&number),
            vec![
                DataType::Int8,
                DataType::Int16,
                DataType::Int32,
                DataType::Int64,
                DataType::UInt8,
                DataType::UInt16,
                DataType::UInt32,
                DataType::UInt64,
                dictionary(DataType::Int64),
            ],
        ),
        (
            tens,
            vec![
                DataType::Decimal32(9, 2),
                DataType::Decimal64(18, 0),
                DataType::Decimal128(38, 10),
                DataType::Decimal256(76, 30),
                DataType::Decimal128(10, -1),
            ],
        ),
        (
            cast(&cast(&number, &DataType::Int32).unwrap(), &DataType::Date32).unwrap(),
            vec![DataType::Date32, DataType::Date64],
        ),
        (
            cast(&number, &DataType::Timestamp(TimeUnit::Second, None)).unwrap(),
            vec![
                DataType::Timestamp(TimeUnit::Second, None),
                DataType::Timestamp(TimeUnit::Millisecond, None),
                DataType::Timestamp(TimeUnit::Microsecond, Some("UTC".into())),
                DataType::Timestamp(TimeUnit::Nanosecond, None),
            ],
        ),
    ];
    for (values, types) in same {
        for one in &types {
            table(&context, "built", vec![cast(&values, one).unwrap()]);
            for other in &types {
                table(&context, "asked", vec![cast(&values, other).unwrap()]);
                let sql = "select count(*) from asked where might_contain((select bloom_filter_agg(k, 1000, 1e-9) from built), k)";
                assert_eq!(
                    usize::try_from(count(&context, sql).await),
                    Ok(values.len()),
                    "built from {one}, asked for {other}"
                );
                context.deregister_table("asked").unwrap();
            }
            context.deregister_table("built").unwrap();
        }
    }
}

#[tokio::test]
async fn decimals_and_dates_are_the_documented_bytes() {
    let context = session();
    let decimal = filter(
        &context,
        "select bloom_filter_agg(cast('1.50' as decimal(10, 2)), 10, 1e-6)",
    )
    .await;
    let filter_of_decimals: Bloom = mayhap::from_bytes(&decimal).unwrap();
    let mut key = 15_i128.to_le_bytes().to_vec();
    key.push(1);
    assert!(filter_of_decimals.contains(&key[..]));
    let date = filter(
        &context,
        "select bloom_filter_agg(date '1970-02-01', 10, 1e-6)",
    )
    .await;
    assert!(mayhap::from_bytes::<Bloom>(&date).unwrap().contains(31_i64));
    let time = filter(
        &context,
        "select bloom_filter_agg(timestamp '1970-01-01 00:00:01', 10, 1e-6)",
    )
    .await;
    assert!(
        mayhap::from_bytes::<Bloom>(&time)
            .unwrap()
            .contains(1_000_000_i64)
    );
}

#[tokio::test]
async fn nulls_are_as_in_spark() {
    let context = session();
    table(
        &context,
        "t",
        vec![
            Arc::new(Int64Array::from(vec![Some(1), None, Some(3)])),
            Arc::new(Int64Array::from(vec![None; 2])),
        ],
    );
    assert!(
        value(
            &context,
            "select bloom_filter_agg(k) from t where k is null"
        )
        .await
        .is_null()
    );
    assert!(
        value(&context, "select bloom_filter_agg(k) from t where false")
            .await
            .is_null()
    );
    assert!(
        value(&context, "select bloom_filter_agg(null)")
            .await
            .is_null()
    );
    assert!(
        value(
            &context,
            "select bloom_filter_merge(f) from (select bloom_filter_agg(k) f from t where false)"
        )
        .await
        .is_null()
    );
    let with = filter(&context, "select bloom_filter_agg(k, 10, 0.01) from t").await;
    assert_eq!(
        with,
        filter(
            &context,
            "select bloom_filter_agg(k, 10, 0.01) from t where k is not null"
        )
        .await
    );
    assert!(
        value(&context, "select might_contain(null, 1)")
            .await
            .is_null()
    );
    assert!(
        value(
            &context,
            "select might_contain((select bloom_filter_agg(k) from t), null)"
        )
        .await
        .is_null()
    );
    let found = rows(&context, "select k, might_contain((select bloom_filter_agg(k, 10, 1e-9) from t), k) from t where k is null or k > 1").await.unwrap();
    for row in found {
        assert_eq!(row[0].is_null(), row[1].is_null(), "{row:?}");
    }
}

#[tokio::test]
async fn each_row_may_have_a_filter_of_its_own() {
    let context = session();
    table(
        &context,
        "t",
        vec![integers(0..3000), Arc::new(Int64Array::from(vec![None; 3]))],
    );
    let joined = "(select t.k % 5 g, t.k, f from t left join
        (select k % 5 g, bloom_filter_agg(k, 1000, 1e-6) f from t where k % 5 <> 4 group by k % 5) filters on t.k % 5 = filters.g)";
    let sql = format!(
        "select g, count(*), count(might_contain(f, k)), sum(cast(might_contain(f, k) as int)) from {joined} j group by g order by g"
    );
    for row in rows(&context, &sql).await.unwrap() {
        let [g, all, answers, found] = &row[..] else {
            panic!()
        };
        match g {
            ScalarValue::Int64(None | Some(4)) => assert_eq!(
                (answers, found.is_null()),
                (&ScalarValue::from(0_i64), true),
                "{row:?}"
            ),
            _ => assert_eq!((all, found), (answers, all), "{row:?}"),
        }
    }
    // Neighbours with other filters: only the keys of the row's own filter are found.
    let crossed = "select sum(cast(might_contain(f, k) as int)) from (select k % 3 g, bloom_filter_agg(k, 1000, 1e-9) f from t where k is not null group by k % 3) filters
        cross join (select k from t where k < 300) asked";
    assert_eq!(value(&context, crossed).await, ScalarValue::from(300_i64));
}

#[tokio::test]
async fn a_filter_of_narrow_integers_finds_only_what_fits() {
    let context = session();
    let mut filter = Bloom::new(100, 1e-9).unwrap().with_key_type(KeyType::I8);
    filter.insert(-1_i8);
    table(
        &context,
        "file",
        vec![Arc::new(BinaryArray::from_vec(vec![
            &mayhap::to_bytes(&filter).unwrap(),
        ]))],
    );
    table(
        &context,
        "t",
        vec![Arc::new(Int64Array::from(vec![-1, 255, i64::MAX, -129]))],
    );
    let sql = "select sum(k), count(*) from t where might_contain((select k from file), k)";
    assert_eq!(
        rows(&context, sql).await.unwrap(),
        [[ScalarValue::from(-1_i64), ScalarValue::from(1_i64)]]
    );
    table(
        &context,
        "unsigned",
        vec![Arc::new(UInt64Array::from(vec![u64::MAX, 255]))],
    );
    assert_eq!(
        count(
            &context,
            "select count(*) from unsigned where might_contain((select k from file), k)"
        )
        .await,
        0
    );
}

#[tokio::test]
async fn text_is_not_what_a_filter_of_hex_has() {
    let context = session();
    let mut filter = Bloom::new(100, 1e-9).unwrap().with_key_type(KeyType::Hex);
    filter.insert(&[0xab, 0xcd][..]);
    let bytes = mayhap::to_bytes(&filter).unwrap();
    table(
        &context,
        "file",
        vec![Arc::new(BinaryArray::from_vec(vec![&bytes]))],
    );
    let found = |key: &str| format!("select might_contain((select k from file), {key})");
    assert_eq!(
        value(&context, &found("x'abcd'")).await,
        ScalarValue::from(true)
    );
    assert_eq!(
        value(&context, &found("decode('abcd', 'hex')")).await,
        ScalarValue::from(true)
    );
    for text in ["'abcd'", "arrow_cast('abcd', 'Dictionary(Int32, Utf8)')"] {
        let message = error(&context, &found(text)).await;
        assert!(message.contains("of type hex"), "{message}");
    }
}

#[tokio::test]
async fn slices_have_only_their_rows() {
    let context = session();
    let keys = (0..100).map(|key| (key % 10 != 3).then_some(key));
    let all: ArrayRef = Arc::new(keys.collect::<Int64Array>());
    for layout in [
        DataType::Int64,
        DataType::UInt8,
        DataType::Utf8,
        DataType::Utf8View,
        DataType::LargeBinary,
        DataType::Decimal128(20, 3),
        DataType::Date32,
        DataType::Timestamp(TimeUnit::Microsecond, None),
        DataType::Dictionary(Box::new(DataType::Int8), Box::new(DataType::Utf8)),
    ] {
        let integers = match layout {
            DataType::Date32 => cast(&all, &DataType::Int32).unwrap(),
            DataType::LargeBinary => cast(&all, &DataType::Utf8).unwrap(),
            _ => Arc::clone(&all),
        };
        let column = cast(&integers, &layout).unwrap();
        table(
            &context,
            "slices",
            vec![
                column.slice(10, 0),
                column.slice(10, 20),
                column.slice(30, 30),
            ],
        );
        table(
            &context,
            "asked",
            vec![column.slice(0, 70), column.slice(70, 30)],
        );
        let agg = "select bloom_filter_agg(k, 100, 1e-9) from";
        let asked = format!("select count(*) from asked where might_contain(({agg} slices), k)");
        assert_eq!(count(&context, &asked).await, 45, "{layout}");
        let sliced = format!("select count(*) from slices where might_contain(({agg} asked), k)");
        assert_eq!(count(&context, &sliced).await, 45, "{layout}");
        context.deregister_table("slices").unwrap();
        context.deregister_table("asked").unwrap();
    }
}

#[tokio::test]
async fn values_of_a_dictionary_that_no_row_has_are_not_inserted() {
    let context = session();
    let values: ArrayRef = Arc::new(StringArray::from(vec!["used", "unused"]));
    let keys = datafusion::arrow::array::Int8Array::from(vec![Some(0), None, Some(0)]);
    table(
        &context,
        "t",
        vec![Arc::new(DictionaryArray::<Int8Type>::new(keys, values))],
    );
    let bytes = filter(&context, "select bloom_filter_agg(k, 10, 1e-9) from t").await;
    let filter: Bloom = mayhap::from_bytes(&bytes).unwrap();
    assert_eq!(
        (
            filter.contains("used"),
            filter.contains("unused"),
            filter.contains("")
        ),
        (true, false, false)
    );
    let found = rows(
        &context,
        "select might_contain((select bloom_filter_agg(k) from t), k) from t",
    )
    .await
    .unwrap();
    assert_eq!(found.iter().filter(|row| row[0].is_null()).count(), 1);
}

#[tokio::test]
async fn mistakes_are_explained() {
    let context = session();
    table(&context, "t", vec![integers(0..10)]);
    table(
        &context,
        "bytes",
        vec![Arc::new(BinaryArray::from_vec(vec![b"no filter"]))],
    );
    table(
        &context,
        "floats",
        vec![cast(&integers(0..10), &DataType::Float64).unwrap()],
    );
    for (sql, message) in [
        (
            "select bloom_filter_agg(k, 0) from t",
            "expected must be a whole number above 0",
        ),
        (
            "select bloom_filter_agg(k, -5) from t",
            "expected must be a whole number above 0",
        ),
        (
            "select bloom_filter_agg(k, 'many') from t",
            "expected must be a whole number above 0",
        ),
        (
            "select bloom_filter_agg(k, k) from t",
            "expected must be a constant",
        ),
        (
            "select bloom_filter_agg(k, 10, 2) from t",
            "rate must be between 0 and 1",
        ),
        (
            "select bloom_filter_agg(k, 10, 8388608) from t",
            "needs format => 'spark'",
        ),
        (
            "select bloom_filter_agg(k, 1000000000000, 0.01) from t",
            "larger than 1 GiB",
        ),
        (
            "select bloom_filter_agg(k, 10, 1000000000000, 'spark') from t",
            "larger than 1 GiB",
        ),
        (
            "select bloom_filter_agg(k, 10, 0.5, 'spark') from t",
            "number of bits",
        ),
        (
            "select bloom_filter_agg(k, 10, 0.01, 'guava') from t",
            "use 'native', 'spark' or 'spark-v2'",
        ),
        ("select bloom_filter_agg() from t", "bloom_filter_agg"),
        (
            "select bloom_filter_agg(k) from floats",
            "cast it to BIGINT, VARCHAR or BYTEA",
        ),
        (
            "select bloom_filter_agg(cast(k as date), 10, 64, 'spark') from (select cast(k as int) k from t)",
            "Spark's filters have integers or text",
        ),
        ("select might_contain(k, 5) from t", "a filter is binary"),
        (
            "select might_contain(k, 5) from bytes",
            "not a filter of mayhap or Spark",
        ),
        (
            "select might_contain((select bloom_filter_agg(k) from t), 'text')",
            "the keys of the filter are of type i64",
        ),
        (
            "select bloom_filter_merge(f) from (select bloom_filter_agg(k, 10) f from t union all select bloom_filter_agg(k, 1000) from t)",
            "cannot be merged",
        ),
        (
            "select bloom_filter_merge(k) from bytes",
            "not a filter of mayhap or Spark",
        ),
    ] {
        let error = error(&context, sql).await;
        assert!(error.contains(message), "{sql}: {error}");
    }
}

#[tokio::test]
async fn damaged_filters_are_errors_or_answer() {
    let context = session();
    table(&context, "t", vec![integers(0..10)]);
    for arguments in [", 10, 0.01", ", 10, 640, 'spark'"] {
        let good = filter(
            &context,
            &format!("select bloom_filter_agg(k{arguments}) from t"),
        )
        .await;
        let cut = (0..good.len()).map(|length| good[..length].to_vec());
        let flipped = (0..good.len()).map(|byte| {
            let mut bytes = good.clone();
            bytes[byte] ^= 0x81;
            bytes
        });
        for bytes in cut.chain(flipped) {
            table(
                &context,
                "damaged",
                vec![Arc::new(BinaryArray::from_vec(vec![&bytes]))],
            );
            let _ = rows(
                &context,
                "select might_contain(k, 5), bloom_filter_merge(k) from damaged group by k",
            )
            .await;
            context.deregister_table("damaged").unwrap();
        }
    }
}

#[tokio::test]
async fn arguments_may_be_named_in_any_order() {
    let context = session();
    table(
        &context,
        "t",
        vec![Arc::new(Int32Array::from_iter_values(0..10))],
    );
    let named = filter(
        &context,
        "select bloom_filter_agg(rate => 0.001, key => k, expected => 77) from t",
    )
    .await;
    assert_eq!(
        named,
        filter(&context, "select bloom_filter_agg(k, 77, 0.001) from t").await
    );
    let found = "select count(*) from t where might_contain(key => k, filter => (select bloom_filter_agg(k) from t))";
    assert_eq!(count(&context, found).await, 10);
    let batches = context.sql("select might_contain((select bloom_filter_agg(k) from t), k) found, cast(k as bigint) k from t").await.unwrap();
    for batch in batches.collect().await.unwrap() {
        assert_eq!(
            batch.column(0).as_boolean().true_count(),
            batch.column(1).as_primitive::<Int64Type>().len()
        );
    }
}
