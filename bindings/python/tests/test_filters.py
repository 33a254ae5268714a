"""Every kind: no key is lost, files give the same filter, and errors say what to do."""

import copy
import pickle
import subprocess
import sys

import numpy as np
import pytest

import mayhap

WORDS = [f"word {i}" for i in range(2000)]
OTHERS = [f"other {i}" for i in range(2000)]

KINDS = {
    "bloom": lambda: mayhap.Bloom(4000, 0.01),
    "keyed": lambda: mayhap.Bloom(4000, 0.01, key=b"16 secret bytes."),
    "strict": lambda: mayhap.Bloom(4000, 1e-6),
    "classic": lambda: mayhap.ClassicBloom(4000, 0.01),
    "counting": lambda: mayhap.CountingBloom(4000, 0.01),
    "growing": lambda: mayhap.GrowingBloom(100, 0.01),
    "window": lambda: mayhap.WindowBloom(4000, 0.01, 3600),
    "window-cuckoo": lambda: mayhap.WindowCuckoo(4000, 0.01, 3600),
    "cuckoo": lambda: mayhap.Cuckoo(4000, 0.01),
    "growing-cuckoo": lambda: mayhap.GrowingCuckoo(100, 0.01),
    "counting-cuckoo": lambda: mayhap.CountingCuckoo(100, 0.01),
    "retouched": lambda: mayhap.Retouched(4000, 0.01),
}
STATIC = {
    "fuse": lambda keys: mayhap.Fuse.build(keys, 0.01),
    "ribbon": lambda keys: mayhap.Ribbon.build(keys, 0.01),
    "excepting": lambda keys: mayhap.Excepting(filled(mayhap.Bloom(4000, 0.01), keys), keys, OTHERS),
}


def filled(filter, keys):
    filter.add_many(keys)
    return filter


def every_kind():
    for name, create in KINDS.items():
        yield pytest.param(lambda create=create: filled(create(), WORDS), id=name)
    for name, build in STATIC.items():
        yield pytest.param(lambda build=build: build(WORDS), id=name)


@pytest.mark.parametrize("create", list(every_kind()))
def test_no_key_is_lost_and_few_others_are_found(create):
    filter = create()
    assert all(filter.contains_many(WORDS))
    assert all(word in filter for word in WORDS)
    wrong = sum(filter.contains_many(OTHERS))
    assert wrong < 80, f"{wrong} of 2000 are false positives at 1 %"
    assert [word in filter for word in OTHERS] == filter.contains_many(OTHERS)


@pytest.mark.parametrize("create", list(every_kind()))
def test_files_bytes_pickles_and_copies_are_equal(create, tmp_path):
    filter = create()
    path = tmp_path / "f.mayhap"
    filter.save(path)
    assert path.read_bytes() == filter.save_bytes()
    for other in (
        type(filter).load(path),
        type(filter).load(str(path)),
        type(filter).load_bytes(filter.save_bytes()),
        pickle.loads(pickle.dumps(filter)),
        copy.copy(filter),
        copy.deepcopy(filter),
        filter.copy(),
        mayhap.open(path),
    ):
        assert type(other) is type(filter)
        assert other == filter
        assert all(other.contains_many(WORDS))
        assert other.save_bytes() == filter.save_bytes()


@pytest.mark.parametrize("create", list(every_kind()))
def test_stats_properties_and_repr_agree(create):
    filter = create()
    stats = filter.stats()
    assert stats["format"] == filter.format == "mayhap"
    assert stats["kind"] == filter.kind
    assert stats["capacity"] == filter.capacity
    assert stats["false_positive_rate"] == filter.false_positive_rate
    assert stats["estimated_rate"] == filter.estimated_rate
    assert stats["size_bytes"] * 8 == filter.size_in_bits
    assert filter.approx_items == pytest.approx(2000, rel=0.05)
    assert filter.key_type == "text"
    text = repr(filter)
    assert text.startswith(f"<mayhap.{type(filter).__name__}: ") and "keys" in text
    with pytest.raises(TypeError):
        len(filter)
    with pytest.raises(TypeError):
        hash(filter)


@pytest.mark.parametrize("name", KINDS)
def test_add_says_what_was_new_and_clear_removes_all(name):
    filter = KINDS[name]()
    assert filter.add("a") is True
    if name not in ("counting", "cuckoo", "growing-cuckoo", "counting-cuckoo"):
        assert filter.add("a") is False
    new = filter.add_many(["a", "b", "b"], return_new=True)
    assert new[0] is False and new[1] is True
    filter.clear()
    assert "a" not in filter and "b" not in filter
    assert filter.approx_items == 0


@pytest.mark.parametrize("name", ["counting", "cuckoo", "growing-cuckoo", "counting-cuckoo"])
def test_keys_can_be_removed_and_counted(name):
    filter = KINDS[name]()
    filter.update(["a", "a", "b"])
    assert filter.count("a") == 2
    assert filter.remove("a") is True and "a" in filter
    assert filter.remove("a") is True and "a" not in filter
    assert filter.remove("a") is False
    assert filter.count("a") == 0 and "b" in filter


@pytest.mark.parametrize("name", ["bloom", "keyed", "classic", "counting", "growing", "counting-cuckoo"])
def test_union_has_the_keys_of_both(name):
    one, two = filled(KINDS[name](), WORDS), filled(KINDS[name](), OTHERS)
    both = one | two
    assert type(both) is type(one)
    assert all(both.contains_many(WORDS + OTHERS))
    one |= two
    assert one == both
    assert one.union(["x"], two).contains_many(["x"]) == [True]


def test_filters_that_cannot_be_combined_say_why():
    filter = mayhap.Bloom(1000, 0.01)
    for other in (mayhap.Bloom(2000, 0.01), mayhap.Bloom(1000, 0.01, key=bytes(16)), mayhap.Cuckoo(1000, 0.01)):
        with pytest.raises(mayhap.MismatchError) as error:
            filter | other
        assert isinstance(error.value, ValueError) and "\n" not in str(error.value)
    with pytest.raises(mayhap.MismatchError):
        filter <= mayhap.Bloom(2000, 0.01)
    with pytest.raises(TypeError):
        filter | ["a"]
    with pytest.raises(mayhap.UnsupportedError) as error:
        mayhap.Cuckoo(10, 0.01) | mayhap.Cuckoo(10, 0.01)
    assert isinstance(error.value, TypeError)


def bloom(keys, key_type=None):
    return filled(mayhap.Bloom(100, 0.01, key_type=key_type), keys)


def undeclared(given=None):
    """A filter that was saved without a key type: it has text and integers."""
    return mayhap.Bloom.load_bytes(bloom(["a", 5]).save_bytes(), key_type=given)


def test_a_new_filter_takes_over_what_another_says_about_its_keys():
    for other in (bloom(["a"]), bloom([5]), bloom([-5]), bloom([2**63]), bloom([5], "i32"), bloom(["dead"], "hex"), bloom(["a", 5])):
        for add in (lambda ours: ours | other, lambda ours: ours.union(other), lambda ours: (ours.update(other), ours)[1]):
            both = add(mayhap.Bloom(100, 0.01))
            assert both == other and both.key_type == other.key_type
            loaded = mayhap.Bloom.load_bytes(other.save_bytes())
            assert add(mayhap.Bloom(100, 0.01)) == loaded and loaded == other
    ours = bloom([5])
    ours |= mayhap.Bloom.load_bytes(bloom([2**63], "u64").save_bytes())
    assert ours.key_type == "u64" and 5 in ours and 2**63 in ours
    ours |= mayhap.Bloom.load_bytes(bloom(["a"]).save_bytes())
    assert ours.key_type is None and 5 in ours and "a" in ours
    ours = bloom(["b"]) | undeclared()
    assert ours.key_type is None and ours.contains_many(["a", "b", 5]) == [True] * 3
    assert "a" in mayhap.Bloom(100, 0.01) | undeclared()


def test_filters_that_encode_keys_differently_cannot_be_combined():
    for ours, theirs in [
        (bloom([5]), bloom([5], "i32")),
        (bloom(["a"]), bloom([5], "i32")),
        (bloom([5], "i64"), bloom([5], "u8")),
        (bloom([5], "i32"), bloom([5], "u32")),
        (bloom(["a"]), bloom([1.5], "f64")),
        (undeclared("i32"), bloom([5])),
        (undeclared("i32"), undeclared("i64")),
    ]:
        for ours, theirs in ((ours, theirs), (theirs, ours)):
            before = ours.save_bytes()
            for call in (
                lambda: ours | theirs,
                lambda: ours.update(theirs),
                lambda: ours & theirs,
                lambda: ours.intersection_update(theirs),
            ):
                with pytest.raises(mayhap.MismatchError, match="type"):
                    call()
            assert ours.save_bytes() == before
    both = undeclared("i32") | bloom(["b"])
    assert "a" in both and "b" in both


@pytest.mark.parametrize(
    "arguments", [(0, 0.01), (-1, 0.01), (2**70, 0.01), (2**62, 0.01), (10, 0.0), (10, 1.5), (10, float("nan"))]
)
@pytest.mark.parametrize("kind", ["Bloom", "ClassicBloom", "CountingBloom", "Cuckoo", "GrowingBloom"])
def test_impossible_sizes_are_errors(kind, arguments):
    with pytest.raises((ValueError, MemoryError)) as error:
        getattr(mayhap, kind)(*arguments)
    assert "\n" not in str(error.value)


@pytest.mark.parametrize("kind", ["Bloom", "ClassicBloom", "CountingBloom", "GrowingBloom", "Cuckoo"])
def test_a_copy_that_does_not_fit_into_memory_is_an_error(kind):
    program = f"""
import mayhap, resource
filter = mayhap.{kind}(100_000_000, 0.01)
used = int(open("/proc/self/statm").read().split()[0]) * resource.getpagesize()
resource.setrlimit(resource.RLIMIT_AS, (used + (16 << 20), used + (16 << 20)))
for call in (filter.copy, lambda: mayhap.Excepting(filter, [], ["a"])):
    try:
        call()
    except MemoryError:
        print("no memory")
"""
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    assert done.stdout.splitlines() == ["no memory"] * 2


def test_arguments_of_wrong_types_are_type_errors():
    for arguments in (("a", 0.01), (1.5, 0.01), (10, "a"), (10,), ()):
        with pytest.raises(TypeError):
            mayhap.Bloom(*arguments)
    with pytest.raises(ValueError, match="16 bytes"):
        mayhap.Bloom(10, 0.01, key=b"short")
    with pytest.raises(ValueError, match="key_type"):
        mayhap.Bloom(10, 0.01, key_type="i65")
    with pytest.raises(TypeError, match="callable"):
        mayhap.Bloom(10, 0.01, b"16 secret bytes.")
    with pytest.raises(TypeError, match="callable"):
        mayhap.Bloom.load_bytes(mayhap.Bloom(10, 0.01).save_bytes(), b"16 secret bytes.")


def test_a_full_cuckoo_filter_rejects_keys_and_keeps_the_others():
    filter = mayhap.Cuckoo(100, 0.01)
    added = []
    with pytest.raises(mayhap.FullError) as error:
        for i in range(10_000):
            filter.add(i)
            added.append(i)
    assert isinstance(error.value, ValueError)
    assert all(filter.contains_many(added))
    with pytest.raises(mayhap.FullError):
        filter.add_many(np.arange(10_000))


def test_a_secret_key_can_be_kept_outside_of_the_file(tmp_path):
    secret = b"16 secret bytes."
    filter = filled(mayhap.Bloom(100, 0.01, key=secret), ["a"])
    path = tmp_path / "f.mayhap"
    filter.save(path, with_key=False)
    with pytest.raises(mayhap.FormatError, match="key"):
        mayhap.Bloom.load(path)
    with pytest.raises(mayhap.FormatError):
        mayhap.Bloom.load(path, key=bytes(16))
    assert "a" in mayhap.Bloom.load(path, key=secret)
    assert "a" in mayhap.open(path, secret=secret)
    key_file = tmp_path / "key"
    key_file.write_text(secret.hex())
    assert "a" in mayhap.open(path, key_file=key_file)
    assert "a" in mayhap.open(path, mmap=True, secret=secret)
    assert "a" in pickle.loads(pickle.dumps(filter))


def test_windows_forget_keys_by_the_callers_clock_and_by_the_machines():
    for kind in (mayhap.WindowBloom, mayhap.WindowCuckoo):
        filter = kind(100, 0.001, 60)
        assert filter.add("a", now=1000.0) is True
        assert filter.add("a", now=1030.0) is False
        assert filter.contains("a", now=1060.0) and "a" in filter
        assert filter.add("b", now=2000.0) is True
        assert "a" not in filter and "b" in filter
        assert not filter.contains("b", now=9000.0)
        loaded = kind.load_bytes(filter.save_bytes())
        assert "b" in loaded and "a" not in loaded
        by_machine = kind(100, 0.001, 3600)
        by_machine.add("a")
        by_machine.add_many(["b", "c"])
        assert by_machine.contains_many(["a", "b", "c", "d"]) == [True, True, True, False]
        for time in (-1.0, float("nan"), float("inf")):
            with pytest.raises(ValueError):
                filter.add("a", now=time)
        with pytest.raises(ValueError):
            kind(100, 0.001, -5)


@pytest.mark.parametrize("kind", [mayhap.WindowBloom, mayhap.WindowCuckoo])
def test_keys_that_are_added_to_a_loaded_window_have_the_time_of_the_machine(kind):
    past = kind(100, 0.001, 3600)
    past.add("old", now=1000.0)
    for add in (lambda f: f.add_many(["new"]), lambda f: f.update(np.array(["new"])), lambda f: f.add_many(["new"], return_new=True)):
        for loaded in (kind.load_bytes(past.save_bytes()), pickle.loads(pickle.dumps(kind.load_bytes(past.save_bytes())))):
            assert "old" in loaded
            add(loaded)
            loaded.add("newer")
            assert loaded.contains_many(["old", "new", "newer"]) == [False, True, True]
    # A window with times of the caller's keeps them.
    for same in (past, pickle.loads(pickle.dumps(past)), past.copy()):
        same.add_many(["new"])
        assert same.contains("new", now=1001.0) and "old" in same


def test_exceptions_are_never_found_and_conflicts_are_reported():
    filter = filled(mayhap.Bloom(2000, 0.2), WORDS)
    assert any(filter.contains_many(OTHERS))
    exact = mayhap.Excepting(filter, WORDS, OTHERS)
    assert all(exact.contains_many(WORDS)) and not any(exact.contains_many(OTHERS))
    assert exact.add("new") in (True, False) and "new" in exact
    with pytest.raises(ValueError, match="word 1"):
        mayhap.Excepting(filter, WORDS, ["word 1"])
    blocked = mayhap.Excepting(filter, WORDS, ["word 1"], on_conflict="block")
    assert "word 1" in blocked
    assert "word 1" not in mayhap.Excepting(filter, WORDS, ["word 1"], on_conflict="allow")
    with pytest.raises(ValueError):
        mayhap.Excepting(mayhap.Bloom(10, 0.01), ["never added"], [])


def test_retouched_filters_lose_chosen_false_positives():
    filter = filled(mayhap.Retouched(2000, 0.1), WORDS)
    wrong = [word for word in OTHERS if word in filter]
    assert wrong
    lost = filter.remove_false_positives(wrong)
    assert not any(filter.contains_many(wrong))
    assert sum(filter.contains_many(WORDS)) == len(WORDS) - lost


def test_plan_is_what_the_command_line_prints(cli):
    import json

    for arguments, flags in [
        ({"keys": 10_000_000, "fpr": 0.001}, ["--keys", "10000000", "--fpr", "0.001"]),
        ({"keys": 1000, "fpr": 0.01, "delete": True}, ["--keys", "1000", "--fpr", "0.01", "--delete"]),
        ({"keys": 1000, "fpr": 0.01, "static": True}, ["--keys", "1000", "--fpr", "0.01", "--static"]),
        ({"fpr": 0.01, "memory": 1 << 20}, ["--fpr", "0.01", "--memory", "1MiB"]),
        (
            {"keys": 10**6, "cost_skip": 1, "cost_lookup": 9, "present": 0.1, "cost_gib": 5},
            "--keys 1000000 --cost-skip 1 --cost-lookup 9 --present 0.1 --cost-gib 5".split(),
        ),
        ({"keys": 1000, "fpr": 0.01, "exceptions": 50}, "--keys 1000 --fpr 0.01 --except 50".split()),
    ]:
        assert mayhap.plan(**arguments) == json.loads(cli("plan", "--json", *flags))
    for arguments in ({}, {"keys": 10}, {"keys": 10, "fpr": 2.0}, {"keys": 10, "fpr": 0.1, "cost_skip": 1.0}):
        with pytest.raises(ValueError):
            mayhap.plan(**arguments)


def test_a_closed_growing_filter_keeps_its_keys_and_its_key_type():
    growing = mayhap.GrowingCuckoo(100_000, 0.01, is_maximum=True)
    growing.add_many(range(50_000))
    for closed, name in ((growing.to_ribbon(0.02), "Ribbon"), (growing.to_fuse(0.02), "Fuse")):
        assert type(closed).__name__ == name and closed.key_type == "i64"
        assert all(closed.contains_many(range(50_000)))
        assert sum(closed.contains_many(range(10**6, 10**6 + 50_000))) < 1500
    with pytest.raises(ValueError):
        growing.to_ribbon(1e-9)


def test_a_created_filter_of_another_system_equals_its_file(tmp_path):
    for name in ("guava", "spark", "hadoop"):
        created = mayhap.create(name, 1000, 0.01)
        other = mayhap.create(name, 1000, 0.01)
        created.update(["a", "b"])
        created.save(tmp_path / name)
        opened = mayhap.open(tmp_path / name)
        assert opened == created and created == opened and opened != other and not opened == other
