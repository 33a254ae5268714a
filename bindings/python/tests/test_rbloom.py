"""What programs for rbloom do, with only the import changed. docs/guide/python.md lists what differs."""

import gc
import hashlib
import importlib.metadata
import pickle
import re
import weakref

import pytest

from mayhap import Bloom


def digest(key):
    return int.from_bytes(hashlib.sha256(pickle.dumps(key)).digest()[:16], "big", signed=True)


def test_a_first_session():
    filter = Bloom(200, 0.01)
    filter.add("hello")
    assert "hello" in filter and "world" not in filter
    filter.update(["hello", "world"])
    other = Bloom(200, 0.01)
    other.add("more")
    union = filter | other
    assert all(key in union for key in ("hello", "world", "more"))
    copy = filter.copy()
    copy.update(other)
    assert copy == union
    assert filter.issubset(union) and filter <= union


@pytest.mark.parametrize("hash_func", [None, digest, hash])
def test_filters_behave_as_sets(hash_func):
    def new(keys=()):
        filter = Bloom(20_000, 1e-6, hash_func)
        filter.update(keys)
        return filter

    small = new(["a", "b"])
    assert bool(small) and not new() and new().approx_items == 0 and small.approx_items > 0
    large = new(["a", "b", *(str(i).encode() * 50 for i in range(5000))])
    assert small != large and small & large == small and small | large == large
    assert small < large and large > small and small <= small and not small < small
    assert large.issuperset(small) and small.issubset(large) and not large.issubset(small)
    assert small.union(large) == large and small.union(["c"], large) >= large
    assert small.intersection(large) == small and "b" not in small.intersection(["a"])
    changed = small.copy()
    assert changed is not small and changed == small
    changed |= large
    assert changed == large
    changed &= small
    assert changed == small
    changed.intersection_update(large, ["a"])
    assert changed == new(["a"])
    changed.clear()
    assert changed == new() and not changed


def test_a_filter_can_be_combined_with_itself():
    filter = Bloom(1000, 0.1)
    filter.update(["a", "b"])
    before = filter.copy()
    filter |= filter
    filter &= filter
    filter.update(filter, filter)
    filter.intersection_update(filter)
    assert filter == before and filter.union(filter) == filter and filter.intersection(filter) == filter
    assert filter <= filter and filter >= filter and not filter > filter


def test_custom_hash_functions_take_any_object_and_are_saved_without(tmp_path):
    filter = Bloom(1000, 0.001, digest)
    filter.update([("a", 1), 1.5, None, frozenset({1})])
    assert ("a", 1) in filter and 1.5 in filter and None in filter and ("a", 2) not in filter
    assert filter.hash_func is digest
    filter.save(tmp_path / "f")
    for loaded in (Bloom.load(tmp_path / "f", digest), Bloom.load_bytes(filter.save_bytes(), digest)):
        assert loaded == filter and loaded.hash_func is digest and 1.5 in loaded
    restored = pickle.loads(pickle.dumps(filter))
    assert restored == filter and None in restored
    with pytest.raises(ValueError):
        filter | Bloom(1000, 0.001)


def test_python_hashes_are_not_saved(tmp_path):
    filter = Bloom(1000, 0.001, hash)
    filter.add(1.5)
    for save in (lambda: filter.save(tmp_path / "f"), filter.save_bytes, lambda: pickle.dumps(filter)):
        with pytest.raises(ValueError, match="hash"):
            save()


def test_a_cycle_through_the_hash_function_is_collected():
    def function(key):
        return 1

    reference = weakref.ref(function)
    filter = Bloom(1000, 0.1, hash_func=function)
    assert function in gc.get_referents(filter)
    function.filter = filter
    del filter, function
    gc.collect()
    assert reference() is None


def readme_blocks():
    text = importlib.metadata.metadata("rbloom")
    text = text.get_payload() or text["Description"]
    blocks = re.findall(r"```python\n(.*?)```", text, re.DOTALL)
    # The list of methods is not a program.
    return [block.replace("from rbloom import", "from mayhap import") for block in blocks if not block.startswith("class")]


def statements(session):
    """The statements of an interactive session, and what each printed."""
    found = []
    for line in session.splitlines():
        if line.startswith(">>> ") or line.startswith("... "):
            found.append((line[4:], None))
        elif line.strip() and not line.lstrip().startswith("#"):
            found[-1] = (found[-1][0], line)
    return found


def test_the_readme_of_rbloom_runs_with_only_the_import_changed(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    session, floats, digest_function, saving = readme_blocks()
    names = {}
    printed = 0
    for statement, output in statements(session):
        if output is None:
            exec(statement, names)
        else:
            assert repr(eval(statement, names)) == output, statement
            printed += 1
    assert printed == 3 and "third_bf" in names
    exec(digest_function, names)
    exec(saving, {**names, "some_hash_func": names["hash_func"]})
    # Deviation: floats are not keys unless a hash function or a key type says how, because Python's hash is never used.
    fewer = floats.replace("10_000_000", "10_000")
    with pytest.raises(TypeError, match="float"):
        exec(fewer, dict(names))
    exec(fewer.replace("0.01)", "0.01, hash)"), dict(names))
    exec(fewer.replace("0.01)", "0.01, key_type='f64')"), dict(names))
