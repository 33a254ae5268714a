"""Spark's BloomFilter reads what mayhap writes, and mayhap what Spark writes: the same bytes, and the same answers for absent keys."""

import mayhap
import pytest
import spark_sketch

BITS = 6400
SEEDS = [0, -7, 123456]
KEYS = {
    "i64": ([*range(-300, 300), 2**63 - 1, -(2**63)], range(10_000, 13_000)),
    "text": ([f"key {number}" for number in range(500)] + ["", "ü", "日本語", "a" * 1000], [f"absent {number}" for number in range(3000)]),
}
PUT = {"i64": "Long", "text": "String"}


def shapes(spark):
    return [(1, 0)] + [(2, seed) for seed in SEEDS if 2 in spark_sketch.versions(spark)]


def of_mayhap(key_type, version, seed):
    options = {"seed": seed} if version == 2 else {}
    return mayhap.create("spark", 600, bits=BITS, key_type=key_type, version=version, **options)


@pytest.mark.parametrize("key_type", KEYS)
def test_spark_writes_and_mayhap_reads(spark, key_type, tmp_path):
    keys, absent = KEYS[key_type]
    for version, seed in shapes(spark):
        spark_filter = spark_sketch.create(spark, 600, BITS, version, seed)
        ours = of_mayhap(key_type, version, seed)
        for key in keys:
            getattr(spark_filter, f"put{PUT[key_type]}")(key)
        ours.add_many(keys)
        data = spark_sketch.to_bytes(spark, spark_filter)
        assert data[:4] == version.to_bytes(4, "big")
        assert data == ours.save_bytes(), (version, seed)

        path = tmp_path / f"v{version}-{seed}"
        path.write_bytes(data)
        opened = mayhap.open(path, key_type=key_type)
        assert opened.format == "spark"
        assert opened.save_bytes() == data
        assert all(opened.contains_many(keys))
        asked = getattr(spark_filter, f"mightContain{PUT[key_type]}")
        answers = opened.contains_many(list(absent))
        assert answers == [asked(key) for key in absent]
        assert 0 < sum(answers) < 300


@pytest.mark.parametrize("key_type", KEYS)
def test_mayhap_writes_and_spark_reads(spark, key_type):
    keys, absent = KEYS[key_type]
    for version, seed in shapes(spark):
        ours = of_mayhap(key_type, version, seed)
        ours.add_many(keys)
        read = spark_sketch.from_bytes(spark, ours.save_bytes())
        assert spark_sketch.to_bytes(spark, read) == ours.save_bytes()
        asked = getattr(read, f"mightContain{PUT[key_type]}")
        assert all(asked(key) for key in keys)
        assert [asked(key) for key in absent] == ours.contains_many(list(absent))


def test_a_rate_gives_sparks_size(spark):
    create = spark.sparkContext._jvm.org.apache.spark.util.sketch.BloomFilter.create
    version = spark_sketch.versions(spark)[-1]
    for items, rate in [(1, 0.03), (1000, 0.01), (12_345, 0.5), (50_000, 1e-6)]:
        ours = mayhap.create("spark", items, rate, version=version, key_type="i64")
        assert spark_sketch.to_bytes(spark, create(items, rate)) == ours.save_bytes(), (items, rate)


def test_a_column_that_the_executors_collected(spark, tmp_path):
    """`DataFrame.stat().bloomFilter`: the executors' filters, merged."""
    rows = spark.range(0, 50_000, 3, 8)
    filter = rows._jdf.stat().bloomFilter("id", 20_000, 0.01)
    path = tmp_path / "collected"
    path.write_bytes(spark_sketch.to_bytes(spark, filter))
    opened = mayhap.open(path, key_type="i64")
    assert all(opened.contains_many(list(range(0, 50_000, 3))))
    assert sum(opened.contains_many(list(range(100_000, 150_000)))) < 1000


def test_filters_merge_across_the_two(spark):
    version = spark_sketch.versions(spark)[-1]
    ours = of_mayhap("i64", version, 0)
    ours.add_many(list(range(100)))
    theirs = spark_sketch.create(spark, 600, BITS, version)
    for key in range(100, 200):
        theirs.putLong(key)
    merged = theirs.mergeInPlace(spark_sketch.from_bytes(spark, ours.save_bytes()))
    whole = of_mayhap("i64", version, 0)
    whole.add_many(list(range(200)))
    assert spark_sketch.to_bytes(spark, merged) == whole.save_bytes()


def test_spark_3_says_that_it_cannot_read_version_2(spark):
    ours = of_mayhap("i64", 2, 0)
    if 2 in spark_sketch.versions(spark):
        spark_sketch.from_bytes(spark, ours.save_bytes())
    else:
        with pytest.raises(Exception, match="version"):
            spark_sketch.from_bytes(spark, ours.save_bytes())
