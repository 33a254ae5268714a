"""Files: every golden file of other systems, damaged files, mapped files, other processes."""

import json
import multiprocessing
import os
import pickle
import subprocess
import sys
import threading

import numpy as np
import pytest

import mayhap


def test_files_of_other_systems_answer_as_the_command_line(cli, golden):
    """A file of each format, with the options that its golden case needs."""
    cases = [
        ("guava", "long", {"key_type": "i64"}, []),
        ("spark", "", {"key_type": "i64"}, []),
        ("parquet-file", "", {}, []),
        ("redisbloom", ".rdb", {}, []),
        ("leveldb", "", {"format": "leveldb"}, []),
        ("bip37", "", {"format": "bip37"}, []),
    ]
    opened = 0
    for folder, part, options, _ in cases:
        for path in sorted((golden / folder).iterdir()):
            if path.suffix in (".json", ".md", ".txt") or part not in path.name:
                continue
            flags = [f"--{name.replace('_', '-')}={value}" for name, value in options.items()]
            flags = [flag.replace("--format", "--from") for flag in flags]
            try:
                filter = mayhap.open(path, **options)
            except mayhap.FormatError:
                # The command line must refuse it too.
                cli("check", path, *flags, stdin=b"1\n", expect=(2,))
                continue
            keys = list(range(200)) if options.get("key_type") else [str(i) for i in range(200)]
            try:
                found = filter.contains_many(keys)
            except (TypeError, ValueError):
                continue
            lines = "".join(f"{key}\n" for key in keys).encode()
            expected = cli("check", path, *flags, stdin=lines).decode().split()
            assert [str(key) for key, found in zip(keys, found) if found] == expected, path
            assert [key in filter for key in keys] == found
            info = [json.loads(line) for line in cli("info", "--json", path, *flags[:0], *(
                ["--from", options["format"]] if "format" in options else [])).splitlines()]
            for one in info:
                one.pop("file", None)
            stats = filter.stats()
            assert (stats if isinstance(stats, list) else [stats]) == info
            assert repr(filter).startswith("<mayhap.")
            opened += 1
    assert opened >= 8, "the golden folders were not found"


def test_every_golden_file_opens_or_says_what_is_missing(golden):
    opened, refused = 0, 0
    for path in sorted(golden.rglob("*")):
        if not path.is_file() or path.suffix in (".json", ".md", ".txt") or path.stat().st_size > 4 << 20:
            continue
        try:
            filter = mayhap.open(path)
            assert isinstance(filter, mayhap.Filter) and filter.format
            opened += 1
        except mayhap.FormatError as error:
            assert str(path) in str(error) and "\n" not in str(error)
            refused += 1
    assert opened > 50, (opened, refused)


def test_other_formats_are_created_filled_saved_and_pickled(cli, tmp_path):
    for format, options, keys in [
        ("guava", {"key_type": "i64"}, [1, -5, 2**40]),
        ("guava", {"strategy": "mitz32"}, ["a", "b"]),
        ("spark", {"version": 1}, ["a", "b"]),
        ("redisbloom", {}, ["a", "b"]),
        ("redisbloom-cuckoo", {}, ["a", "b"]),
        ("parquet", {}, ["a", "b"]),
        ("leveldb", {}, ["a", "b"]),
        ("hadoop", {"hash": "murmur"}, ["a", "b"]),
        ("bip37", {"tweak": 5}, ["a", "b"]),
        ("cassandra", {"order": "new"}, ["a", "b"]),
    ]:
        filter = mayhap.create(format, 100, 0.01, **options)
        assert filter.format == format and type(filter) is mayhap.ForeignFilter
        filter.update(keys)
        assert all(key in filter for key in keys)
        for other in (pickle.loads(pickle.dumps(filter)), filter.copy()):
            # A file stores less than was asked for when its filter was created, so the bytes are compared.
            assert other.save_bytes() == filter.save_bytes() and other.contains_many(keys) == [True] * len(keys)
        path = tmp_path / f"{format}.bin"
        filter.save(path)
        assert path.read_bytes() == filter.save_bytes()
        opened = mayhap.open(path, format=format, **{k: v for k, v in options.items() if k in ("key_type", "order")})
        assert all(opened.contains_many(keys))
        lines = "".join(f"{key}\n" for key in keys).encode()
        flags = ["--key-type=i64"] if options.get("key_type") else []
        flags += ["-P", f"order={options['order']}"] if "order" in options else []
        assert cli("check", path, "--from", format, *flags, stdin=lines) == lines
    with pytest.raises(ValueError):
        mayhap.create("no such format", 10, 0.01)
    with pytest.raises(ValueError):
        mayhap.create("guava", 10, 0.01, strategy="no such")
    with pytest.raises(ValueError):
        mayhap.create("guava", 10, 0.01, no_such="x")
    with pytest.raises(TypeError, match="key_type"):
        5 in mayhap.create("guava", 10, 0.01)


def test_bits_that_another_format_cannot_have_are_a_format_error(tmp_path):
    filter = mayhap.Bloom(100, 0.01)
    for call in (lambda: filter.save(tmp_path / "f", format="guava"), lambda: filter.save_bytes(format="spark")):
        with pytest.raises(mayhap.FormatError, match="hash"):
            call()
    assert not (tmp_path / "f").exists()
    foreign = mayhap.create("guava", 100, 0.01)
    foreign.add("a")
    native = tmp_path / "g.mayhap"
    foreign.save(native, format="mayhap")
    loaded = mayhap.open(native)
    assert type(loaded) is mayhap.ClassicBloom and "a" in loaded
    assert loaded.save_bytes(format="guava") == foreign.save_bytes()
    assert loaded.contains_many(["a", "b"]) == [True, False]
    mapped = mayhap.open(native, mmap=True)
    assert mapped.contains_many(["a", "b"]) == [True, False] and "a" in mapped
    with pytest.raises(ValueError):
        loaded.save_bytes(format="guava", no_such=1)
    with pytest.raises(ValueError):
        loaded.save_bytes(format="no such")
    with pytest.raises(TypeError):
        loaded.save_bytes(strategy="mitz64")


@pytest.mark.parametrize("kind", ["Bloom", "Cuckoo", "GrowingBloom", "CountingBloom"])
def test_damaged_files_are_errors_wherever_they_are_damaged(kind, tmp_path):
    filter = getattr(mayhap, kind)(100, 0.01)
    filter.update(map(str, range(50)))
    data = filter.save_bytes()
    path = tmp_path / "f.mayhap"
    load = getattr(mayhap, kind).load_bytes
    for length in range(0, len(data), 7):
        with pytest.raises(mayhap.FormatError):
            load(data[:length])
    for at in range(0, len(data), 5):
        damaged = bytearray(data)
        damaged[at] ^= 0x10
        try:
            assert all(load(bytes(damaged)).contains_many([str(i) for i in range(50)]))
        except mayhap.FormatError:
            pass
        path.write_bytes(damaged)
        try:
            mapped = mayhap.open(path, mmap=True)
            mapped.contains_many(["a", "b"])
        except mayhap.FormatError as error:
            assert "\n" not in str(error)
        with pytest.raises(mayhap.FormatError):
            mayhap.open(path, mmap=True, verify=True).copy()
            load(bytes(damaged))
    for wrong in (b"", b"text\n" * 100, os.urandom(5000)):
        with pytest.raises(mayhap.FormatError):
            load(wrong)
    with pytest.raises(TypeError):
        load("text")


def test_files_that_cannot_be_read_or_written_are_os_errors(tmp_path):
    missing = tmp_path / "missing"
    for call in (lambda: mayhap.open(missing), lambda: mayhap.Bloom.load(missing), lambda: mayhap.open(missing, mmap=True)):
        with pytest.raises(FileNotFoundError) as error:
            call()
        assert error.value.filename == str(missing)
    with pytest.raises(OSError):
        mayhap.open(tmp_path)
    with pytest.raises(OSError):
        mayhap.Bloom(10, 0.01).save(tmp_path / "no folder" / "f")
    with pytest.raises(TypeError):
        mayhap.open(5)
    cuckoo = tmp_path / "c.mayhap"
    mayhap.Cuckoo(10, 0.01).save(cuckoo)
    with pytest.raises(mayhap.FormatError, match="Cuckoo"):
        mayhap.Bloom.load(cuckoo)


def test_pipes_and_devices_are_written_to_and_not_replaced(tmp_path):
    filter = mayhap.Bloom(100, 0.01)
    filter.add("a")
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    for save in (lambda: filter.save(pipe), lambda: mayhap.create("guava", 100, 0.01).save(pipe)):
        read = []
        reader = threading.Thread(target=lambda: read.append(pipe.read_bytes()))
        reader.start()
        save()
        reader.join()
        assert pipe.is_fifo() and len(read[0]) > 100
    assert os.listdir(tmp_path) == ["pipe"]


def test_a_key_of_a_container_with_columns_of_several_types_may_use_the_filter(tmp_path):
    pa, pq = pytest.importorskip("pyarrow"), pytest.importorskip("pyarrow.parquet")
    path = tmp_path / "f.parquet"
    table = pa.table({"number": pa.array([1, 2, 3]), "text": ["a", "b", "c"]})
    pq.write_table(table, path, bloom_filter_options={"number": True, "text": True})
    both = mayhap.open(path)
    assert 1 in both and "a" in both and "z" not in both
    # Digits are keys of the numbers too, as on the command line, in a column with other texts as well.
    for keys in (["1", "a", "z", "9", "3"], ["1", "3", "9"], ["a", "z"]):
        found = both.contains_many(keys)
        assert found == [key in both for key in keys] == [key in ("1", "3", "a") for key in keys]
        assert both.contains_many(pa.array(keys)).to_pylist() == found
        assert both.contains_many(pa.array([None, *keys]), nulls="skip").to_pylist() == [False, *found]
        assert both.contains_many(np.array(keys)).tolist() == found
    assert both.contains_many(["a", None, 3, "z"], nulls="skip") == [True, False, True, False]
    with pytest.raises(ValueError, match="None"):
        both.contains_many(["a", None])

    class Index:
        def __index__(self):
            with pytest.raises(TypeError):
                both.clear()
            return 1

    assert Index() in both and both.contains_many([Index(), 2]) == [True, True]


def test_mapped_filters_are_read_only_and_follow_their_path_to_other_processes(tmp_path):
    path = tmp_path / "f.mayhap"
    keys = np.arange(100_000)
    filter = mayhap.Bloom(100_000, 0.01)
    filter.add_many(keys)
    filter.save(path)
    for verify in (False, True):
        mapped = mayhap.open(path, mmap=True, verify=verify)
        assert mapped.contains_many(keys).all() and mapped.contains_many(keys, threads=2).all()
        others = np.arange(200_000, 300_000)
        assert (mapped.contains_many(others) == filter.contains_many(others)).all()
        assert 5 in mapped and mapped.key_type == "i64" and mapped.kind == "bloom" and mapped.capacity == 100_000
    assert type(mapped) is mayhap.Filter and not hasattr(mapped, "add") and mapped == filter
    with pytest.raises(AttributeError):
        mapped.add(5)
    restored = pickle.loads(pickle.dumps(mapped))
    assert restored.contains_many(keys).all() and type(restored) is mayhap.Filter
    changeable = mapped.copy()
    assert type(changeable) is mayhap.Bloom and changeable.add(-5) and -5 not in mapped
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(tmp_path)
        relative = mayhap.open("f.mayhap", mmap=True)
    assert pickle.loads(pickle.dumps(relative)).contains_many(keys).all()
    # A file that is replaced does not change what is mapped.
    mayhap.Bloom(100_000, 0.01).save(path)
    assert mapped.contains_many(keys).all()
    assert repr(mapped) == f"<mayhap.Filter: bloom in {path}, i64 keys>"
    with pytest.raises(ValueError):
        mayhap.open(path, mmap=True, format="guava")


def _count(filter):
    return int(filter.contains_many(np.arange(10_000)).sum())


def test_worker_processes_get_pickled_and_mapped_filters(tmp_path):
    filter = mayhap.Bloom(10_000, 0.01)
    filter.add_many(np.arange(10_000))
    path = tmp_path / "f.mayhap"
    filter.save(path)
    with multiprocessing.get_context("spawn").Pool(2) as pool:
        assert pool.map(_count, [filter, mayhap.open(path, mmap=True)]) == [10_000, 10_000]


def test_processes_with_other_hash_seeds_find_a_million_keys(tmp_path):
    path = tmp_path / "f.mayhap"
    filter = mayhap.Bloom(1_000_000, 0.01)
    filter.add_many(f"https://example.org/{i}" for i in range(1_000_000))
    filter.save(path)
    program = (
        "import mayhap, sys; f = mayhap.Bloom.load(sys.argv[1]);"
        "print(sum(f.contains_many(f'https://example.org/{i}' for i in range(1_000_000))))"
    )
    for seed in ("0", "1", "12345"):
        environment = dict(os.environ, PYTHONHASHSEED=seed)
        done = subprocess.run(
            [sys.executable, "-c", program, path], env=environment, capture_output=True, text=True, check=True
        )
        assert done.stdout.strip() == "1000000"


def pss(pid):
    with open(f"/proc/{pid}/smaps_rollup") as lines:
        return next(int(line.split()[1]) for line in lines if line.startswith("Pss:")) * 1024


def test_four_processes_share_the_memory_of_a_mapped_filter(tmp_path):
    path = tmp_path / "f.mayhap"
    filter = mayhap.Bloom(200_000_000, 0.01)
    size = filter.size_in_bits // 8
    filter.add_many(np.arange(1_000_000))
    filter.save(path)
    del filter
    program = (
        "import mayhap, sys, random; f = mayhap.open(sys.argv[1], mmap=True, verify=True); print(5 in f, flush=True);"
        "sys.stdin.read()"
    )
    workers = [
        subprocess.Popen([sys.executable, "-c", program, path], stdin=subprocess.PIPE, stdout=subprocess.PIPE)
        for _ in range(4)
    ]
    try:
        assert all(worker.stdout.readline().strip() == b"True" for worker in workers)
        total = sum(pss(worker.pid) for worker in workers)
        assert total < 1.2 * size + 4 * 20e6, f"{total} bytes for a filter of {size}"
    finally:
        for worker in workers:
            worker.communicate()


def test_threads_that_fill_one_filter_lose_no_key():
    filter = mayhap.Bloom(800_000, 0.01)
    growing = mayhap.GrowingBloom(1000, 0.01)
    errors = []

    def fill(number):
        try:
            keys = np.arange(number * 200_000, (number + 1) * 200_000)
            for part in np.array_split(keys, 10):
                filter.add_many(part)
                growing.add_many(part[::10])
                filter.add(int(part[0]))
                assert filter.contains_many(part).all()
                filter.stats()
        except BaseException as error:
            errors.append(error)

    threads = [threading.Thread(target=fill, args=(number,)) for number in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not errors
    alone = mayhap.Bloom(800_000, 0.01)
    alone.add_many(np.arange(800_000))
    assert filter == alone
    assert growing.contains_many(np.concatenate([np.array_split(np.arange(n * 200_000, (n + 1) * 200_000), 10)[0][::10] for n in range(4)])).all()


def test_threads_that_merge_into_each_other_do_not_wait_forever():
    one, two = mayhap.Bloom(10_000, 0.01), mayhap.Bloom(10_000, 0.01)
    one.add("a")
    two.add("b")

    def merge(ours, theirs):
        for _ in range(300):
            ours.update(theirs)
            ours.add_many(["c"] * 10)

    threads = [threading.Thread(target=merge, args=pair) for pair in ((one, two), (two, one))]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert one.contains_many(["a", "b", "c"]) == two.contains_many(["a", "b", "c"]) == [True] * 3


@pytest.mark.parametrize("compare", [lambda ours, theirs: ours == theirs, lambda ours, theirs: ours <= theirs])
def test_threads_that_compare_filters_while_others_fill_them_do_not_wait_forever(compare):
    one, two, stop = mayhap.Bloom(200_000, 0.01), mayhap.Bloom(200_000, 0.01), threading.Event()
    keys = np.arange(200_000)

    def fill(filter):
        while not stop.is_set():
            filter.add_many(keys)

    def work(ours, theirs):
        for _ in range(200):
            compare(ours, theirs)
            ours |= theirs
            assert compare(ours, ours)

    filling = [threading.Thread(target=fill, args=(filter,)) for filter in (one, two)]
    working = [threading.Thread(target=work, args=pair) for pair in ((one, two), (two, one))]
    for thread in filling + working:
        thread.start()
    for thread in working:
        thread.join()
    stop.set()
    for thread in filling:
        thread.join()
    assert one.contains_many(keys).all() and one <= two <= one


def test_single_keys_and_batches_of_several_threads_lose_no_key():
    """Single keys take no lock while nobody uses the filter without the GIL; batches do."""
    filter = mayhap.Bloom(2_000_000, 0.01)
    missing, rounds, size = [], 20, 20_000
    stop = threading.Event()

    def one_by_one(number):
        for i in range(rounds * 2000):
            key = f"single {number} {i}"
            filter.add(key)
            if key not in filter:
                missing.append(key)

    def in_batches(number):
        for i in range(rounds):
            keys = np.arange(size) + (number * rounds + i) * size
            filter.add_many(keys)
            if not filter.contains_many(keys).all():
                missing.append((number, i))

    def merge():
        while not stop.is_set():
            filter.update(filter.copy())
            filter.stats()

    threads = [threading.Thread(target=one_by_one, args=(number,)) for number in range(2)]
    threads += [threading.Thread(target=in_batches, args=(number,)) for number in range(2)]
    merging = threading.Thread(target=merge)
    for thread in [*threads, merging]:
        thread.start()
    for thread in threads:
        thread.join()
    stop.set()
    merging.join()
    assert not missing
    assert all(f"single {number} {i}" in filter for number in range(2) for i in range(rounds * 2000))
    assert filter.contains_many(np.arange(2 * rounds * size)).all()
