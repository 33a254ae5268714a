"""The SQL functions of DataFusion, from its Python package, and Spark's: the same bytes, answers and nulls."""

import mayhap
import mayhap_datafusion
import pyarrow as pa
import pytest
import spark_sketch
from datafusion import SessionContext


@pytest.fixture(scope="module")
def datafusion():
    context = SessionContext()
    mayhap_datafusion.register_all(context)
    context.from_arrow(pa.table({"k": [*range(-3000, 17_000), None]}), name="keys")
    return context


def value(context, sql):
    [column] = context.sql(sql).to_arrow_table().columns
    [only] = column.to_pylist()
    return only


@pytest.mark.parametrize(("items", "bits"), [(1, 64), (1000, 8192), (20_000, 200_000), (4_000_000, 64 * 1024 * 1024)])
def test_bloom_filter_agg_has_sparks_bytes(spark, datafusion, items, bits):
    form = "spark" if spark_sketch.versions(spark)[-1] == 1 else "spark-v2"
    ours = value(datafusion, f"select bloom_filter_agg(k, {items}, {bits}, '{form}') from keys")
    sql = f"select bloom_filter_agg(id, {items}L, {bits}L) f from range(-3000, 17000, 1, 8)"
    assert bytes(spark.sql(sql).head().f) == ours


def test_joins_have_sparks_rows(spark, datafusion):
    """A filter of Spark in DataFusion, and one of DataFusion in Spark, let the same rows through; the join behind them has the plain rows."""
    agg = "select bloom_filter_agg(k, 20000, 100000, 'spark') from keys where k % 10 = 0"
    of_datafusion = value(datafusion, agg)
    asked = "range(0, 100000, 1, 4)"
    found = {row.id for row in spark.sql(f"select id from {asked} where might_contain(X'{of_datafusion.hex()}', id)").collect()}
    sql = f"select value k from generate_series(0, 99999) where might_contain(({agg}), value)"
    assert found == set(datafusion.sql(sql).to_pydict()["k"])
    assert 1700 <= len(found) < 10_000
    plain = spark.sql(f"select count(*) n from {asked} a join range(0, 17000, 10) b on a.id = b.id").head().n
    reduced = f"select count(*) from ({sql}) a join keys on a.k = keys.k where keys.k % 10 = 0"
    assert value(datafusion, reduced) == plain == 1700

    of_spark = bytes(spark.sql("select bloom_filter_agg(id, 20000L, 100000L) f from range(-3000, 17000, 10, 3)").head().f)
    datafusion.from_arrow(pa.table({"f": pa.array([of_spark], pa.binary())}), name="of_spark")
    found = {row.id for row in spark.sql(f"select id from {asked} where might_contain(X'{of_spark.hex()}', id)").collect()}
    sql = "select value k from generate_series(0, 99999) where might_contain((select f from of_spark), value)"
    assert found == set(datafusion.sql(sql).to_pydict()["k"])
    datafusion.deregister_table("of_spark")


def test_nulls_are_sparks(spark, datafusion):
    agg = "bloom_filter_agg({}, {}, {})"
    spark.sql("select id k from range(10) union all select null").createOrReplaceTempView("nulls")
    for sql in [
        "select f is null from (select {agg} f from {t} where k is null) x",
        "select f is null from (select {agg} f from {t} where false) x",
        "select count(*) from {t} where might_contain((select {agg} from {t} where false), k)",
        "select count(*) from {t} where might_contain((select {agg} from {t}), k) is null",
        "select count(*) from {t} where not might_contain((select {agg} from {t}), k)",
    ]:
        ours = value(datafusion, sql.format(agg="bloom_filter_agg(k, 1000, 8192, 'spark')", t="(select * from keys where k is null or k between 0 and 9) t"))
        theirs = spark.sql(sql.format(agg=agg.format("k", "1000L", "8192L"), t="nulls")).head()[0]
        assert ours == theirs, sql


def test_filters_of_python_and_datafusion_are_the_same(datafusion):
    local = mayhap.Bloom(20_000, 0.01, key_type="i64")
    local.add_many(list(range(-3000, 17_000)))
    assert value(datafusion, "select bloom_filter_agg(k, 20000, 0.01) from keys") == local.save_bytes()
    sql = "select count(*) from keys where might_contain((select bloom_filter_agg(k, 20000, 0.01) from keys), k)"
    assert value(datafusion, sql) == 20_000
    merged = "select bloom_filter_merge(f) from (select k % 7 g, bloom_filter_agg(k, 20000, 0.01) f from keys group by k % 7) x"
    assert value(datafusion, merged) == local.save_bytes()


def test_mistakes_are_explained(datafusion):
    for sql, message in [
        ("select bloom_filter_agg(k, k) from keys", "must be a constant"),
        ("select might_contain(k, 5) from keys", "a filter is binary"),
        ("select might_contain(x'01', 5)", "not a filter of mayhap or Spark"),
    ]:
        with pytest.raises(Exception, match=message):
            datafusion.sql(sql).collect()


def test_names_of_arguments_do_not_pass_datafusions_c_interface(datafusion):
    """The guide says so. When this fails, the guide can be shorter."""
    with pytest.raises(Exception, match="does not support named arguments"):
        datafusion.sql("select bloom_filter_agg(key => k, expected => 100) from keys").collect()
