"""Batches of NumPy, Arrow, Polars, pandas, DuckDB and lists: the same answers as one by one, in the form of the keys."""

import array
import io

import duckdb
import hypothesis.strategies as st
import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.csv as csv
import pytest
from hypothesis import given, settings

import mayhap

INTEGERS = ["int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64"]
TEXTS = ["apple", "", "grün", "a much longer text than twelve bytes", "x\x00y"]


def words(keys):
    filter = mayhap.Bloom(1000, 1e-6)
    for key in keys:
        filter.add(key)
    return filter


@pytest.mark.parametrize("dtype", INTEGERS)
def test_numpy_integers_of_every_type_and_stride(dtype):
    keys = np.array([0, 1, 5, 100, np.iinfo(dtype).max, np.iinfo(dtype).min], dtype=dtype)
    filter = mayhap.Bloom(1000, 1e-6)
    assert filter.add_many(keys) is None
    assert all(int(key) in filter for key in keys)
    table = np.zeros((6, 3), dtype=dtype)
    table[:, 1] = keys
    for same in (keys, keys[::-1], keys[::2], table[:, 1], np.asfortranarray(table)[:, 1], keys.copy("F")):
        found = filter.contains_many(same)
        assert isinstance(found, np.ndarray) and found.dtype == bool and found.all() and len(found) == len(same)
    found[0] = False, "the answers can be changed"
    assert list(filter.contains_many(np.array([3, 5], dtype=dtype))) == [False, True]
    keys.flags.writeable = False
    assert filter.contains_many(keys).all()
    assert len(filter.contains_many(np.array([], dtype=dtype))) == 0


def test_arrays_that_are_no_keys_are_errors():
    filter = mayhap.Bloom(1000, 0.01)
    for wrong in (
        np.array([1.5]),
        np.array([True]),
        np.array(["2024-01-01"], dtype="M8[s]"),
        np.array([(1, 2)], dtype="i4,i4"),
        np.array([1], dtype=">i8"),
        np.zeros((2, 2), dtype=int),
        np.array(5),
        pa.array([1.5]),
        pa.array([True]),
        pa.array([[1]]),
        pa.table({"a": [1], "b": [2]}),
        pl.DataFrame({"a": [1], "b": [2]}),
        pl.Series([1.5]),
        pd.Series([1.5]),
        b"one key",
        "one key",
        bytearray(b"one key"),
        memoryview(b"one key"),
        5,
        None,
        object(),
    ):
        for call in (filter.contains_many, filter.add_many):
            with pytest.raises((TypeError, ValueError)) as error:
                call(wrong)
            assert "\n" not in str(error.value), wrong
    assert filter == mayhap.Bloom(1000, 0.01), "nothing was added"


def test_fields_of_packed_records_are_copied():
    records = np.zeros(4, dtype=[("flag", "i1"), ("key", "i8"), ("other", "i2")])
    records["key"] = [1, 2, 3, -4]
    keys = np.frombuffer(b"\0" + np.array([1, 2, 3, -4]).tobytes(), dtype="u1")[1:].view("i8")
    assert not records["key"].flags.aligned and not keys.flags.aligned
    filter = words([1, 2, 3, -4])
    for same in (records["key"], records["key"][::2], keys, records[["key"]]["key"]):
        fresh = mayhap.Bloom(1000, 1e-6)
        fresh.add_many(same)
        assert all(int(key) in fresh for key in same) and filter.contains_many(same).all()
    assert words([1, 2, 3, -4]).contains_many(records["other"]).tolist() == [False] * 4


def test_masked_keys_are_nulls():
    for data in ([1, 2, 3], ["a", "b", "c"], [b"a", b"b", b"c"]):
        keys = np.ma.array(data, mask=[False, True, False])
        filter = mayhap.Bloom(1000, 1e-6)
        for call in (filter.contains_many, filter.add_many):
            with pytest.raises(ValueError, match="null"):
                call(keys)
        assert filter.add_many(keys, nulls="skip", return_new=True).tolist() == [True, False, True]
        assert filter == words([data[0], data[2]])
        filter.add_many(np.ma.array(data))
        assert filter.contains_many(keys, nulls="skip").tolist() == [True, False, True]
        assert filter.contains_many(keys[::2]).tolist() == [True, True]


def test_numpy_texts_have_no_padding():
    filter = words(TEXTS[:4])
    assert filter.contains_many(np.array(TEXTS[:4])).all()
    assert filter.contains_many(np.array([text.encode() for text in TEXTS[:4]])).all()
    assert filter.contains_many(np.array(TEXTS[:4], dtype=">U40")).all()
    assert filter.contains_many(np.array(TEXTS[:4], dtype=object)).all()
    assert filter.contains_many(np.array(TEXTS[:4] * 2)[::2]).all()
    assert isinstance(filter.contains_many(np.array(TEXTS, dtype=object)), np.ndarray)
    assert filter.contains_many(np.array(TEXTS[:4], dtype=np.dtypes.StringDType())).all()
    with pytest.raises(ValueError, match="surrogate"):
        filter.contains_many(np.array(["\ud800"]))


def arrow_arrays():
    for dtype in INTEGERS:
        yield pytest.param(pa.array([1, 2, 100], getattr(pa, dtype)()), [1, 2, 100], id=dtype)
    for name in ("string", "large_string", "string_view"):
        yield pytest.param(pa.array(TEXTS, getattr(pa, name)()), TEXTS, id=name)
    data = [text.encode() for text in TEXTS]
    for name in ("binary", "large_binary", "binary_view"):
        yield pytest.param(pa.array(data, getattr(pa, name)()), data, id=name)
    yield pytest.param(pa.array([b"abc", b"def"], pa.binary(3)), [b"abc", b"def"], id="fixed")
    yield pytest.param(pa.array(TEXTS).dictionary_encode(), TEXTS, id="dictionary")
    yield pytest.param(pa.array([5, 5, 9]).dictionary_encode(), [5, 5, 9], id="integer dictionary")


@pytest.mark.parametrize(("keys", "objects"), list(arrow_arrays()))
def test_arrow_arrays_of_every_layout_sliced_and_chunked(keys, objects):
    filter = mayhap.Bloom(1000, 1e-6)
    filter.add_many(keys)
    assert filter == words(objects)
    found = filter.contains_many(keys)
    assert isinstance(found, pa.BooleanArray) and found.to_pylist() == [True] * len(objects)
    for start in range(len(objects)):
        part = mayhap.Bloom(1000, 1e-6)
        part.add_many(keys[start:])
        assert part == words(objects[start:])
        one = mayhap.Bloom(1000, 1e-6)
        one.add_many(keys[start : start + 1])
        assert one == words(objects[start : start + 1])
    chunked = pa.chunked_array([keys[:1], keys[1:1], keys[1:]])
    assert filter.contains_many(chunked).to_pylist() == [True] * len(objects)
    assert len(filter.contains_many(keys[:0])) == 0
    assert len(filter.contains_many(pa.chunked_array([], keys.type))) == 0
    table = pa.table({"key": keys})
    if "view" not in str(keys.type):  # pyarrow itself cannot filter these
        assert table.filter(filter.contains_many(table["key"])).num_rows == len(objects)
    assert filter.contains_many(table).to_pylist() == [True] * len(objects)


@pytest.mark.parametrize(("keys", "objects"), list(arrow_arrays()))
def test_nulls_are_errors_unless_they_are_skipped(keys, objects):
    with_nulls = pa.concat_arrays([keys, pa.nulls(2, keys.type), keys])
    filter = mayhap.Bloom(1000, 1e-6)
    for call in (filter.contains_many, filter.add_many):
        with pytest.raises(ValueError, match="null"):
            call(with_nulls)
    assert filter == mayhap.Bloom(1000, 1e-6)
    filter.add_many(with_nulls, nulls="skip")
    assert filter == words(objects)
    n = len(objects)
    for part in (with_nulls, with_nulls[1:]):
        expected = [value is not None for value in part.to_pylist()]
        assert filter.contains_many(part, nulls="skip").to_pylist() == expected
    fresh = mayhap.Bloom(1000, 1e-6)
    new = fresh.add_many(with_nulls, nulls="skip", return_new=True).to_pylist()
    assert new[0] is True and new[n : n + 2] == [False, False] and not any(new[n + 2 :])
    with pytest.raises(ValueError, match="nulls"):
        filter.contains_many(keys, nulls="maybe")


def test_nulls_of_a_whole_row_are_nulls_of_its_key():
    rows = pa.StructArray.from_arrays([pa.array([1, 2, 3])], ["key"], mask=pa.array([False, True, False]))
    filter = mayhap.Bloom(1000, 1e-6)
    with pytest.raises(ValueError, match="null"):
        filter.add_many(rows)
    filter.add_many(rows, nulls="skip")
    assert filter == words([1, 3])
    assert filter.contains_many(rows[1:], nulls="skip").to_pylist() == [False, True]


class Exported:
    """Somebody who exports the same capsules again and again."""

    def __init__(self, keys):
        self.array = keys.__arrow_c_array__()

    def __arrow_c_array__(self, requested_schema=None):
        return self.array


class ExportedStream:
    def __init__(self, keys):
        self.stream = keys.__arrow_c_stream__()

    def __arrow_c_stream__(self, requested_schema=None):
        return self.stream


def test_arrow_data_that_was_taken_over_is_an_error():
    filter = words([1, 2])
    keys = pa.array([1, 2])
    by_us, by_others = Exported(keys), Exported(keys)
    assert filter.contains_many(by_us).to_pylist() == [True, True]
    assert pa.array(by_others) == keys
    half = Exported(keys)
    half.array = (half.array[0], by_us.array[1])
    stream = ExportedStream(pa.chunked_array([keys]))
    assert filter.contains_many(stream).to_pylist() == [True, True]
    for used in (by_us, by_us, by_others, half, stream):
        with pytest.raises(ValueError):
            filter.contains_many(used)


def test_streams_that_fail_are_errors_of_one_line():
    def batches():
        yield pa.record_batch({"key": [1, 2]})
        raise ValueError("in the middle")

    filter = mayhap.Bloom(1000, 0.01)
    reader = pa.RecordBatchReader.from_batches(pa.schema([("key", pa.int64())]), batches())
    with pytest.raises(ValueError, match="in the middle") as error:
        filter.add_many(reader)
    assert "\n" not in str(error.value) and filter == mayhap.Bloom(1000, 0.01)


def test_streams_may_have_threads_that_need_the_interpreter():
    text = "key\n" + "".join(f"{i}\n" for i in range(50_000))
    # A thread of Arrow's reads ahead from a file of Python's.
    stream = csv.open_csv(io.BytesIO(text.encode()), read_options=csv.ReadOptions(block_size=1 << 12))
    filter = mayhap.Bloom(50_000, 0.01)
    filter.add_many(stream)
    assert filter.contains_many(np.arange(50_000)).all()


def test_addresses_of_python_objects_are_no_keys():
    filter = mayhap.Bloom(1000, 0.01)
    objects = pl.Series("key", [object(), 1], dtype=pl.Object)
    for keys in (objects, objects.to_frame()):
        for call in (filter.contains_many, filter.add_many):
            with pytest.raises(TypeError, match="objects"):
                call(keys)


def test_none_in_lists_and_columns_of_only_nulls():
    filter = words(["a"])
    with pytest.raises(ValueError):
        filter.contains_many(["a", None])
    assert filter.contains_many([None, "a", None, "b"], nulls="skip") == [False, True, False, False]
    assert filter.add_many(["c", None, "c"], nulls="skip", return_new=True) == [True, False, False]
    for nulls in (pa.nulls(3), pa.nulls(3, pa.string()), pa.nulls(3, pa.int64())):
        assert filter.contains_many(nulls, nulls="skip").to_pylist() == [False] * 3
        with pytest.raises(ValueError):
            filter.contains_many(nulls)


def test_polars_pandas_and_duckdb():
    filter = words(TEXTS)
    keys = [*TEXTS, "other"]
    expected = [True] * len(TEXTS) + [False]
    series = pl.Series("key", keys)
    found = filter.contains_many(series)
    assert isinstance(found, pl.Series) and found.to_list() == expected
    frame = pl.DataFrame({"key": keys, "n": range(6)})
    assert frame.filter(filter.contains_many(frame["key"]))["n"].to_list() == [0, 1, 2, 3, 4]
    assert filter.contains_many(frame.select("key")).to_list() == expected
    assert filter.contains_many(pl.Series(keys, dtype=pl.Categorical)).to_list() == expected
    for column in (pd.Series(keys), pd.Series(keys, dtype=object), pd.Series(keys, dtype="category"), pd.Index(keys)):
        found = filter.contains_many(column)
        assert isinstance(found, np.ndarray) and found.tolist() == expected
    table = pd.DataFrame({"key": keys, "n": range(6)}, index=range(10, 16))
    assert table[filter.contains_many(table["key"])]["n"].tolist() == [0, 1, 2, 3, 4]
    relation = duckdb.from_arrow(pa.table({"key": keys}))
    found = filter.contains_many(relation)
    assert list(found) == found.to_pylist() == expected and found[-1] is False and len(found) == 6
    assert pa.array(found).to_pylist() == expected
    with pytest.raises(IndexError):
        found[6]
    numbers = mayhap.Bloom(1000, 1e-6)
    numbers.add_many(duckdb.sql("select range::int as key from range(100)"))
    assert numbers.contains_many(pd.Series([5, 500])).tolist() == [True, False]
    assert numbers.contains_many(pl.Series([5, 500])).to_list() == [True, False]


def test_iterables_of_every_sort():
    filter = mayhap.Bloom(100_000, 1e-6)
    filter.update(["a"], {"b"}, ("c",), (str(i) for i in range(40_000)), {"d": 1}, array.array("q", [1, 2]))
    assert filter.contains_many(["a", "b", "c", "d", "39999", "x"]) == [True] * 5 + [False]
    assert filter.contains_many(iter(["a", "x"])) == [True, False]
    assert list(filter.contains_many(array.array("i", [1, 3]))) == [True, False]
    assert filter.contains_many([]) == []

    def failing():
        yield "kept"
        raise KeyError("stop")

    with pytest.raises(KeyError):
        filter.update(failing())

    class Rude:
        def __iter__(self):
            yield from ("e", "f")
            filter.clear()
            yield "g"

    filter.update(Rude())
    assert "g" in filter


@settings(max_examples=50, deadline=None)
@given(
    added=st.lists(st.integers(-(2**63), 2**63 - 1), max_size=60),
    asked=st.lists(st.integers(-(2**63), 2**63 - 1), max_size=60),
)
def test_all_interfaces_agree_on_integers(added, asked):
    filter = mayhap.Bloom(50, 0.2)
    filter.add_many(np.array(added, dtype="int64"))
    assert filter == (lambda other: (other.add_many(pa.array(added, pa.int64())), other)[1])(mayhap.Bloom(50, 0.2))
    expected = [key in filter for key in asked]
    assert filter.contains_many(asked) == expected
    assert filter.contains_many(np.array(asked, dtype="int64")).tolist() == expected
    assert filter.contains_many(pa.array(asked, pa.int64())).to_pylist() == expected
    assert filter.contains_many(pl.Series(asked, dtype=pl.Int64)).to_list() == expected
    assert all(key in filter for key in added)


@settings(max_examples=50, deadline=None)
@given(keys=st.lists(st.text(st.characters(exclude_categories=["Cs"]), max_size=40), max_size=60))
def test_all_interfaces_agree_on_texts(keys):
    filter = mayhap.Bloom(50, 0.2)
    filter.add_many(keys[::2])
    expected = [key in filter for key in keys]
    for kind in (pa.string(), pa.large_string(), pa.string_view()):
        assert filter.contains_many(pa.array(keys, kind)).to_pylist() == expected
    assert filter.contains_many(pl.Series(keys, dtype=pl.String)).to_list() == expected
    assert filter.contains_many(keys) == expected
    assert filter.contains_many([key.encode() for key in keys]) == expected


@pytest.mark.parametrize("threads", [0, 1, 2, 5])
def test_threads_change_no_answer(threads):
    keys = np.arange(300_000)
    filter = mayhap.Bloom(300_000, 0.01)
    filter.add_many(keys, threads=threads)
    alone = mayhap.Bloom(300_000, 0.01)
    alone.add_many(keys)
    assert filter == alone and filter.contains_many(keys, threads=threads).all()
    others = np.arange(10**6, 10**6 + 300_001)
    assert (filter.contains_many(others, threads=threads) == alone.contains_many(others)).all()
    texts = pa.array([f"key {i}" for i in range(100_000)])
    filter.add_many(texts, threads=threads)
    assert filter.contains_many(texts, threads=threads).false_count == 0


@pytest.mark.parametrize("build", [mayhap.Fuse.build, mayhap.Ribbon.build])
def test_static_filters_take_every_batch(build):
    expected = build(list(range(1000)), 0.01)
    for keys in (range(1000), np.arange(1000), np.arange(1000, dtype="uint16"), pa.array(range(1000)), pl.Series(range(1000))):
        assert build(keys, 0.01) == expected
    assert build([], 0.01).contains_many(["a"]) == [False]
    with pytest.raises(ValueError):
        build([None], 0.01)


def test_new_keys_are_reported_for_arrays():
    filter = mayhap.Bloom(1000, 1e-6)
    assert filter.add_many(np.array([1, 2, 1]), return_new=True).tolist() == [True, True, False]
    assert filter.add_many(pa.array([2, 3]), return_new=True).to_pylist() == [False, True]
    assert filter.add_many(pl.Series([3, 4]), return_new=True).to_list() == [False, True]
