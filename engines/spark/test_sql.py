"""Spark's `might_contain` and `bloom_filter_agg` in SQL, on the executors."""

import mayhap
import numpy as np
import pytest
import spark_sketch


def ours(version, keys, items, bits):
    filter = mayhap.create("spark", items, bits=bits, key_type="i64", version=version)
    filter.add_many(keys)
    return filter


def test_might_contain_accepts_filters_that_mayhap_wrote(spark):
    keys, asked = np.arange(0, 20_000, 2), np.arange(0, 200_000)
    for version in spark_sketch.versions(spark):
        filter = ours(version, keys, 10_000, 100_000)
        expected = asked[filter.contains_many(asked)]
        assert 10_000 < len(expected) < 15_000
        frame = spark.createDataFrame([(bytearray(filter.save_bytes()),)], "f binary")
        frame.createOrReplaceTempView("filters")
        found = spark.sql("select id from range(0, 200000, 1, 4) where might_contain((select f from filters), id) order by id")
        assert np.array_equal(found.toPandas()["id"].to_numpy(), expected)
        # A constant, and a join with it.
        sql = f"might_contain(X'{filter.save_bytes().hex()}', id)"
        assert spark.range(0, 200_000, 1, 4).where(sql).count() == len(expected)
        small = spark.range(0, 20_000, 2)
        plain = spark.range(0, 200_000, 1, 4).join(small, "id").count()
        assert spark.range(0, 200_000, 1, 4).where(sql).join(small, "id").count() == plain == 10_000


@pytest.mark.parametrize(("items", "bits"), [(1, 64), (1000, 8192), (20_000, 200_000), (1_000_000, 8 * 1024 * 1024)])
def test_bloom_filter_agg_has_mayhaps_bytes(spark, items, bits):
    """Of eight partitions, merged by the executors."""
    keys = np.arange(-3000, 17_000)
    version = spark_sketch.versions(spark)[-1]
    sql = f"select bloom_filter_agg(id, {items}L, {bits}L) f from range(-3000, 17000, 1, 8)"
    assert bytes(spark.sql(sql).head().f) == ours(version, keys, items, bits).save_bytes()


def test_sparks_limits_apply_silently(spark):
    """As the guide says."""
    agg = "select bloom_filter_agg(id, {}L, {}L) f from range(1000)"
    [large, largest] = (spark.sql(agg.format(*words)).head().f for words in [(5_000_000, 80_000_000), (4_000_000, 67_108_864)])
    assert large == largest


def test_narrow_integers_are_longs(spark):
    version = spark_sketch.versions(spark)[-1]
    expected = ours(version, np.arange(-100, 100), 1000, 8192).save_bytes()
    for type in ["tinyint", "smallint", "int", "bigint"]:
        sql = f"select bloom_filter_agg(cast(id as {type}), 1000L, 8192L) f from range(-100, 100)"
        assert bytes(spark.sql(sql).head().f) == expected, type


def test_nulls(spark):
    def value(sql):
        return spark.sql(f"select {sql}").head()[0]

    spark.sql("select id k from range(10) union all select null").createOrReplaceTempView("some")
    version = spark_sketch.versions(spark)[-1]
    agg = "select bloom_filter_agg(k, 1000L, 8192L) from some"
    assert value(f"({agg} where k is null)") is None
    assert value(f"({agg} where false)") is None
    assert bytes(value(f"({agg})")) == ours(version, np.arange(10), 1000, 8192).save_bytes()
    assert value(f"might_contain(({agg} where false), 1L)") is None
    assert value(f"(select count(*) from some where might_contain(({agg}), k) is null)") == 1
    assert value(f"might_contain(({agg}), 1L)") is True
    assert value(f"might_contain(({agg}), 123456789L)") is False
