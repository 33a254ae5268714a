"""The Python package in the executors, through Arrow: joins and deduplication with the rows of plain Spark, and fewer of them shuffled."""

import mayhap
import mayhap_spark
import pyarrow as pa
import pytest
from pyspark.sql import functions as f

ROWS = 1_000_000


@pytest.fixture(scope="module")
def big(spark):
    """Keys from 0 to 999,999, each once, some of them null."""
    frame = spark.range(0, ROWS, 1, 8).select(
        f.when(f.col("id") % 1000 != 7, (f.col("id") * 48271) % ROWS).alias("key"),
        f.md5(f.col("id").cast("string")).alias("text"),
    )
    return frame.persist()


def rows(frame):
    """What equal frames have in common: the number of rows and a sum over their contents."""
    return frame.agg(f.count("*"), f.sum(f.xxhash64(*frame.columns).cast("decimal(38)"))).head()


def test_eight_partitions_give_the_bits_of_one(spark):
    frame = spark.range(0, 100_000, 1, 8)
    parts = mayhap_spark.build(frame, "id", 100_000, 0.01, "i64")
    whole = mayhap_spark.build(frame.coalesce(1), "id", 100_000, 0.01, "i64")
    local = mayhap.Bloom(100_000, 0.01, key_type="i64")
    local.add_many(list(range(100_000)))
    assert parts.save_bytes() == whole.save_bytes() == local.save_bytes()


def in_turn(name, big, shuffled, plainly, with_a_filter):
    """Runs both ways three times after one another, once before: equal results, and what was shuffled."""
    big.count()
    ratios = []
    for round in range(4):
        with shuffled() as plain:
            expected = plainly()
        with shuffled() as filtered:
            found = with_a_filter()
        assert found == expected
        if round:
            ratios.append(plain.seconds / filtered.seconds)
    print(
        f"\n{name}: {plain.rows:,} rows and {plain.bytes / 1e6:.1f} MB shuffled, with the filter {filtered.rows:,} and"
        f" {filtered.bytes / 1e6:.1f} MB; time, plain / with the filter: {sorted(ratios)[1]:.2f} ({min(ratios):.2f}-{max(ratios):.2f})"
    )
    return expected[0], plain, filtered


@pytest.mark.parametrize("percent", [15, 1])
def test_a_semi_join(spark, big, shuffled, percent):
    small = spark.range(0, ROWS * percent // 100, 1, 2).withColumnRenamed("id", "key")
    capacity = ROWS * percent // 100

    def with_a_filter():
        filter = mayhap_spark.build(small, "key", capacity, 0.01, "i64")
        return rows(mayhap_spark.semi_join(big, small, "key", filter))

    found, plain, filtered = in_turn(
        f"semi-join, {percent} % selected", big, shuffled, lambda: rows(big.join(small, "key", "left_semi")), with_a_filter
    )
    assert found == capacity * 999 // 1000
    # The rows of the small side, those of the big side that have a partner, and false positives.
    assert filtered.rows < ROWS * (2 * percent + 2) // 100
    assert plain.rows > ROWS


def test_new_rows_of_a_batch(spark, big, shuffled):
    """Of a million rows, 2 % were seen before: only they and false positives are compared with what was seen."""
    seen = spark.range(ROWS * 49 // 50, ROWS * 3 // 2, 1, 4).withColumnRenamed("id", "key")
    # It is kept from batch to batch.
    filter = mayhap_spark.build(seen, "key", ROWS, 0.001, "i64")
    found, plain, filtered = in_turn(
        "new rows, 2 % seen before",
        big,
        shuffled,
        lambda: rows(big.join(seen, "key", "left_anti")),
        lambda: rows(mayhap_spark.new_rows(big, seen, "key", filter)),
    )
    # Nulls are in no filter, and equal to no key.
    assert big.where("key is null").count() == ROWS // 1000
    assert found == ROWS * 49 // 50 + ROWS // 50 // 1000
    assert plain.rows - filtered.rows > ROWS * 97 // 100


def test_duplicates(spark):
    """Without an exact check: a filter per partition, after the keys were partitioned. What is lost are its false positives."""
    frame = spark.range(0, 300_000, 1, 4).select((f.col("id") % 100_000).alias("key"))

    def first(batches):
        seen = mayhap.Bloom(100_000, 0.001, key_type="i64")
        for batch in batches:
            yield batch.filter(seen.add_many(batch.column(0), return_new=True))

    kept = frame.repartition(4, "key").mapInArrow(first, frame.schema)
    total, distinct = kept.agg(f.count("*"), f.count_distinct("key")).head()
    assert total == distinct
    assert 100_000 * 0.998 < total <= 100_000


def test_text(spark):
    frame = spark.range(0, 50_000, 1, 4).select(f.concat(f.lit("user "), f.col("id")).alias("key"))
    small = frame.where("key < 'user 2'")
    filter = mayhap_spark.build(small, "key", 50_000, 0.001, "text")
    assert rows(mayhap_spark.semi_join(frame, small, "key", filter)) == rows(frame.join(small, "key", "left_semi"))


def test_a_function_of_a_column(spark):
    """As an Arrow function where Spark has them, else as a pandas function."""
    filter = mayhap_spark.build(spark.range(1000), "id", 1000, 1e-6, "i64")
    shared = spark.sparkContext.broadcast(filter)
    if hasattr(f, "arrow_udf"):

        def might_contain(keys: pa.Array) -> pa.Array:
            return shared.value.contains_many(keys, nulls="skip")

        function = f.arrow_udf(might_contain, "boolean")
    else:
        import pandas as pd

        def might_contain(keys: pd.Series) -> pd.Series:
            return pd.Series(shared.value.contains_many(keys.to_numpy()))

        function = f.pandas_udf(might_contain, "boolean")
    assert spark.range(0, 100_000, 1, 4).where(function("id")).count() in range(1000, 1010)


