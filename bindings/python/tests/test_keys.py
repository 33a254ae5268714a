"""Which bytes a key has: the same as in the command line, and errors for everything else."""

import uuid

import hypothesis.strategies as st
import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings

import mayhap

RELAXED = settings(
    max_examples=25, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
LINES = st.lists(st.binary(max_size=50).filter(lambda line: not set(line) & set(b"\r\n")), min_size=1, max_size=50)


@RELAXED
@given(keys=LINES)
def test_the_command_line_builds_the_same_file_of_the_same_lines(cli, tmp_path, keys):
    path, lines = tmp_path / "f.mayhap", tmp_path / "lines"
    lines.write_bytes(b"".join(key + b"\n" for key in keys))
    cli("build", "-o", path, "--capacity", 100, "--fpr", 0.01, lines)
    filter = mayhap.Bloom(100, 0.01)
    filter.update(keys)
    assert filter.save_bytes() == path.read_bytes()
    found = cli("check", path, lines)
    assert found == lines.read_bytes()


@RELAXED
@given(keys=st.lists(st.text(max_size=30).filter(lambda text: not set(text) & set("\r\n")), min_size=1, max_size=50))
def test_answers_for_text_are_those_of_the_command_line(cli, tmp_path, keys):
    try:
        "".join(keys).encode()
    except UnicodeEncodeError:
        return
    path, lines = tmp_path / "f.mayhap", tmp_path / "lines"
    filter = mayhap.Bloom(20, 0.2)
    filter.update(keys[: len(keys) // 2 + 1])
    filter.save(path)
    lines.write_bytes(b"".join(key.encode() + b"\n" for key in keys))
    expected = [key for key, found in zip(keys, filter.contains_many(keys)) if found]
    assert cli("check", path, lines).decode().split("\n")[:-1] == expected


@RELAXED
@given(
    key_type=st.sampled_from(["i8", "i16", "i32", "i64", "u8", "u16", "u32", "u64"]), data=st.data()
)
def test_answers_for_integers_are_those_of_the_command_line(cli, tmp_path, key_type, data):
    info = np.iinfo(key_type.replace("u", "uint").replace("i", "int", 1) if key_type[0] == "i" else "uint" + key_type[1:])
    keys = data.draw(st.lists(st.integers(int(info.min), int(info.max)), min_size=1, max_size=50))
    path, lines = tmp_path / "f.mayhap", tmp_path / "lines"
    lines.write_text("".join(f"{key}\n" for key in keys))
    cli("build", "-o", path, "--capacity", 100, "--fpr", 0.01, "--key-type", key_type, lines)
    one_by_one = mayhap.Bloom(100, 0.01, key_type=key_type)
    for key in keys:
        one_by_one.add(key)
    batch = mayhap.Bloom(100, 0.01, key_type=key_type)
    batch.add_many(np.array(keys, dtype=info.dtype))
    assert one_by_one.save_bytes() == batch.save_bytes() == path.read_bytes()
    loaded = mayhap.Bloom.load(path)
    assert loaded.key_type == key_type and all(key in loaded for key in keys)
    for outside in (int(info.min) - 1, int(info.max) + 1):
        with pytest.raises(OverflowError):
            outside in loaded
        with pytest.raises(OverflowError):
            loaded.add_many([outside])


def test_integers_have_64_bits_by_default_whatever_their_type():
    filter = mayhap.Bloom(1000, 1e-6)
    filter.add(5)
    for dtype in ("int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64"):
        assert list(filter.contains_many(np.array([5, 6], dtype=dtype))) == [True, False]
        assert np.dtype(dtype).type(5) in filter
    assert (5).to_bytes(8, "little") in filter
    assert True not in filter and filter.add(True) and 1 in filter
    filter.add(-1)
    assert (2**64 - 1) in filter, "the same 64 bits"
    for huge in (2**64, -(2**63) - 1, 10**5000):
        with pytest.raises(OverflowError):
            huge in filter
        with pytest.raises(OverflowError):
            filter.add(huge)


@pytest.mark.parametrize(
    ("keys", "key_type"),
    [
        ([], None),
        (["a", b"b"], "text"),
        ([1, -5], "i64"),
        ([1, 2**63], "u64"),
        ([-1, 2**63], None),
        ([1, "a"], None),
    ],
)
def test_the_key_type_of_a_new_filter_follows_from_its_keys(keys, key_type):
    one_by_one, batch = mayhap.Bloom(100, 0.01), mayhap.Bloom(100, 0.01)
    for key in keys:
        one_by_one.add(key)
    batch.add_many(keys)
    for filter in (one_by_one, batch):
        assert filter.key_type == key_type
        assert all(key in filter for key in keys)
        loaded = mayhap.Bloom.load_bytes(filter.save_bytes(), key_type=None if key_type else "u64")
        assert filter.key_type == key_type and loaded == filter
        assert all(key in loaded for key in keys if key_type or not isinstance(key, int) or key >= 0)
    assert one_by_one == batch
    batch.clear()
    assert batch.key_type is None and batch == mayhap.Bloom(100, 0.01)


def test_a_loaded_filter_without_a_key_type_needs_one_for_integers():
    filter = mayhap.Bloom(100, 0.01)
    filter.update([5, "a"])
    data = filter.save_bytes()
    loaded = mayhap.Bloom.load_bytes(data)
    assert "a" in loaded
    for call in (lambda: 5 in loaded, lambda: loaded.add(5), lambda: loaded.contains_many(np.arange(3))):
        with pytest.raises(TypeError, match="key_type="):
            call()
    loaded = mayhap.Bloom.load_bytes(data, key_type="i64")
    assert 5 in loaded and "a" in loaded
    with pytest.raises(OverflowError):
        2**63 in loaded
    assert 5 in __import__("pickle").loads(__import__("pickle").dumps(filter))


def test_keys_of_another_type_than_the_filters_are_errors():
    numbers = mayhap.Bloom(100, 0.01, key_type="i64")
    for call in (lambda: "5" in numbers, lambda: numbers.add_many(["5"]), lambda: numbers.add_many(np.array(["5"]))):
        with pytest.raises(TypeError, match="i64"):
            call()
    texts = mayhap.Bloom(100, 0.01, key_type="text")
    with pytest.raises(TypeError, match="text"):
        5 in texts
    with pytest.raises(ValueError, match="omit key_type"):
        mayhap.Bloom.load_bytes(numbers.save_bytes(), key_type="text")


@pytest.mark.parametrize(
    "key", [None, 1.5, (1, 2), ["a"], {"a"}, object(), np.array([1, 2]), np.float64(2.0), 1j, memoryview(np.arange(3))]
)
def test_other_objects_are_type_errors_that_say_what_a_key_is(key):
    filter = mayhap.Bloom(100, 0.01)
    for call in (lambda: key in filter, lambda: filter.add(key), lambda: filter.add_many([object()])):
        with pytest.raises(TypeError) as error:
            call()
        assert "\n" not in str(error.value)
    assert filter == mayhap.Bloom(100, 0.01), "nothing was added"


def test_bytes_like_objects_are_their_bytes_and_text_is_utf8():
    filter = mayhap.Bloom(100, 0.01)
    filter.add("grün")
    for same in ("grün".encode(), bytearray("grün".encode()), memoryview("grün".encode()), np.str_("grün")):
        assert same in filter
    assert filter.add(b"") and "" in filter and memoryview(b"x\x00x")[::2] not in filter
    filter.add(memoryview(b"abcdef")[::2])
    assert b"ace" in filter
    for surrogate in ("\ud800", "a\udfffb"):
        for call in (lambda: surrogate in filter, lambda: filter.add(surrogate), lambda: filter.update([surrogate])):
            with pytest.raises(ValueError):
                call()


def test_floats_uuids_and_hex_have_key_types(cli, tmp_path):
    path = tmp_path / "f.mayhap"
    one = uuid.UUID("12345678-1234-5678-1234-567812345678")
    for key_type, line, keys in [
        ("uuid", str(one), [one, str(one), one.bytes]),
        ("f64", "1.5", [1.5, np.float64(1.5)]),
        ("hex", "dead", ["dead", b"\xde\xad"]),
        ("base64", "3q0=", ["3q0=", b"\xde\xad"]),
    ]:
        cli("build", "-o", path, "--capacity", 10, "--fpr", 0.01, "--key-type", key_type, stdin=line.encode() + b"\n")
        filter = mayhap.Bloom.load(path)
        assert filter.key_type == key_type
        for key in keys:
            assert key in filter, (key_type, key)
            new = mayhap.Bloom(10, 0.01, key_type=key_type)
            new.add(key)
            assert new.save_bytes() == path.read_bytes()
    with pytest.raises(ValueError):
        "xyz" in mayhap.Bloom(10, 0.01, key_type="hex")


def test_keys_with_code_of_their_own_may_use_the_filter():
    filter = mayhap.Bloom(100, 0.01)

    class Index:
        def __index__(self):
            filter.add(7)
            return 8

    assert filter.add(Index()) and 7 in filter and 8 in filter
    hashing = mayhap.Bloom(100, 0.01, hash_func=lambda key: (hashing.copy(), hash(key))[1])
    hashing.add((1, 2))
    assert (1, 2) in hashing and hashing.contains_many([(1, 2), (3, 4)]) == [True, False]
    for wrong in (lambda key: "a", lambda key: 2**127, lambda key: 1 / 0):
        with pytest.raises((TypeError, OverflowError, ZeroDivisionError)):
            mayhap.Bloom(100, 0.01, hash_func=wrong).add(1)
