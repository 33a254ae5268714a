"""Compares mayhap with other packages, alternating in one process, and prints ratios. `--markdown FILE` writes docs/performance/python.md.

Times on a shared machine vary; both sides of a ratio are measured in turn, and the median of the rounds is taken.
"""

import argparse
import gc
import os
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import mayhap
import numpy as np
import pyarrow as pa

ROUNDS = 5


def seconds(function):
    gc.disable()
    start = time.perf_counter()
    result = function()
    taken = time.perf_counter() - start
    gc.enable()
    return taken, result


def compare(candidates, rounds=ROUNDS):
    """Runs functions in turn; returns the median time of each."""
    times = {name: [] for name in candidates}
    for _ in range(rounds):
        for name, function in candidates.items():
            times[name].append(seconds(function)[0])
    return {name: statistics.median(all) for name, all in times.items()}


class Report:
    def __init__(self):
        self.rows = []

    def add(self, what, ours, theirs, peer, count, target):
        ratio = theirs / ours
        row = (what, f"{ours / count * 1e9:.1f} ns", peer, f"{theirs / count * 1e9:.1f} ns", f"{ratio:.2f}x", target)
        self.rows.append(row)
        print(f"{what:45} {row[1]:>10}   {peer:22} {row[3]:>10}   {row[4]:>8}   target {target}", flush=True)


def loop_add(filter, keys):
    add = filter.add
    for key in keys:
        add(key)


def loop_contains(filter, keys):
    found = 0
    for key in keys:
        found += key in filter
    return found


def single_keys(report, count):
    import rbloom
    from probables import BloomFilter
    from pybloom_live import BloomFilter as PyBloom

    present = [f"https://example.org/{i:07}/index" for i in range(count)]
    others = [f"https://example.net/{i:07}/index" for i in range(count)]
    # These take microseconds.
    slow = present[: max(count // 50, 1000)]
    create = {
        "rbloom": lambda: rbloom.Bloom(count, 0.01),
        "pybloom-live": lambda: PyBloom(count, 0.01),
        "pyprobables": lambda: BloomFilter(est_elements=count, false_positive_rate=0.01),
    }
    for peer, new in create.items():
        keys = present if peer == "rbloom" else slow
        misses = others[: len(keys)]
        filters = {}

        def fill(name, create, keys=keys, filters=filters):
            filters[name] = create()
            loop_add(filters[name], keys)

        times = compare(
            {"mayhap": lambda: fill("mayhap", lambda: mayhap.Bloom(count, 0.01)), peer: lambda: fill(peer, new)}
        )
        target = "1.0x" if peer == "rbloom" else "3x"
        report.add("add, str", times["mayhap"], times[peer], peer, len(keys), target)
        for what, asked in (("in, str, present", keys), ("in, str, absent", misses)):
            if peer == "pyprobables":
                theirs = lambda asked=asked: sum(filters[peer].check(key) for key in asked)  # noqa: E731
            else:
                theirs = lambda asked=asked: loop_contains(filters[peer], asked)  # noqa: E731
            times = compare({"mayhap": lambda asked=asked: loop_contains(filters["mayhap"], asked), peer: theirs})
            report.add(what, times["mayhap"], times[peer], peer, len(keys), target)
        assert loop_contains(filters["mayhap"], keys) == len(keys)


def static_filters(report, count):
    """A set that does not change: pyfusefilter has no batches, so its lookups are a loop."""
    import pyfusefilter

    numbers = np.arange(count)
    asked = np.arange(count // 2, count // 2 + count)
    numbers_list, asked_list = numbers.tolist(), asked.tolist()
    filters = {}

    def build(name, create):
        filters[name] = create()

    times = compare(
        {
            "mayhap": lambda: build("mayhap", lambda: mayhap.Fuse.build(numbers, 0.0039)),
            "pyfusefilter": lambda: build("pyfusefilter", lambda: pyfusefilter.Fuse8(numbers_list)),
        },
        3,
    )
    report.add("Fuse.build, int64", times["mayhap"], times["pyfusefilter"], "pyfusefilter", count, "-")
    times = compare(
        {
            "mayhap": lambda: loop_contains(filters["mayhap"], asked_list),
            "pyfusefilter": lambda: loop_contains(filters["pyfusefilter"], asked_list),
            "batch": lambda: filters["mayhap"].contains_many(asked),
        },
        3,
    )
    report.add("in, int, Fuse", times["mayhap"], times["pyfusefilter"], "pyfusefilter", count, "-")
    report.add("contains_many, int64, Fuse", times["batch"], times["pyfusefilter"], "pyfusefilter's loop", count, "-")
    assert filters["mayhap"].contains_many(numbers).all()


def rust_batch(count, kind):
    """Seconds of the Rust library for the same keys, which benchmarks/src/bin/python_peer.rs measures; None without that program."""
    program = os.environ.get("MAYHAP_RUST_BATCH")
    if not program:
        return None
    lines = subprocess.run([program, str(count)], capture_output=True, text=True, check=True).stdout
    times = dict(line.split() for line in lines.splitlines())
    return float(times[kind]) * count / 1e9


def beside_rust(function, count, kind, rounds):
    """Alternates between a function and the Rust library; the medians."""
    ours, rust = [], []
    for _ in range(rounds):
        ours.append(seconds(function)[0])
        rust.append(rust_batch(count, kind))
    return statistics.median(ours), statistics.median(rust)


def batches(report, count):
    import rbloom

    numbers = np.arange(count)
    asked = np.arange(count // 2, count // 2 + count)
    ours, theirs = mayhap.Bloom(count, 0.01), rbloom.Bloom(count, 0.01)
    ours.add_many(numbers)
    theirs.update(numbers.tolist())
    asked_list, asked_arrow = asked.tolist(), pa.array(asked)
    rounds = 3
    times = compare(
        {
            "numpy": lambda: ours.contains_many(asked),
            "arrow": lambda: ours.contains_many(asked_arrow),
            "rbloom": lambda: loop_contains(theirs, asked_list),
        },
        rounds,
    )
    report.add("contains_many, int64, NumPy", times["numpy"], times["rbloom"], "rbloom's loop", count, "20x")
    report.add("contains_many, int64, Arrow", times["arrow"], times["rbloom"], "rbloom's loop", count, "20x")
    del asked_list, theirs
    has_rust = "MAYHAP_RUST_BATCH" in os.environ
    if has_rust:
        numpy, rust = beside_rust(lambda: ours.contains_many(asked), count, "integers", rounds)
        report.add("contains_many, int64, NumPy", numpy, rust, "the Rust batch", count, "0.77x")
    texts = [f"{i:08x}-89ab-4cde-8123-0123456789ab" for i in range(count)]
    ours, theirs = mayhap.Bloom(count, 0.01), rbloom.Bloom(count, 0.01)
    arrow = pa.array(texts)
    ours.add_many(arrow)
    theirs.update(texts)
    # The halves that are looked up: present ones, and others.
    asked = texts[: count // 2] + [text.replace("89ab", "89ac", 1) for text in texts[: count - count // 2]]
    arrow = pa.array(asked)
    times = compare(
        {
            "arrow": lambda: ours.contains_many(arrow),
            "list": lambda: ours.contains_many(asked),
            "rbloom": lambda: loop_contains(theirs, asked),
        },
        rounds,
    )
    report.add("contains_many, 36-byte str, list", times["list"], times["rbloom"], "rbloom's loop", count, "3x")
    report.add("contains_many, 36-byte str, Arrow", times["arrow"], times["rbloom"], "rbloom's loop", count, "-")
    if has_rust:
        column, rust = beside_rust(lambda: ours.contains_many(arrow), count, "texts", rounds)
        report.add("contains_many, 36-byte str, Arrow", column, rust, "the Rust batch", count, "0.67x")


def import_time():
    """Milliseconds of the import, without the start of Python."""
    program = "import time; start = time.perf_counter(); import mayhap; print((time.perf_counter() - start) * 1000)"
    runs = [float(subprocess.run([sys.executable, "-c", program], capture_output=True, check=True).stdout) for _ in range(9)]
    return statistics.median(runs)


def shared_memory(keys):
    """PSS of four processes that have read all of one mapped filter, and the filter's size, in bytes."""
    program = (
        "import mayhap, sys; f = mayhap.open(sys.argv[1], mmap=True, verify=True); print(5 in f, flush=True); sys.stdin.read()"
    )
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "f.mayhap")
        filter = mayhap.Bloom(keys, 0.01)
        filter.add_many(np.arange(1000))
        filter.save(path)
        size = filter.size_in_bits // 8
        del filter
        start = [sys.executable, "-c", program, path]
        workers = [subprocess.Popen(start, stdin=subprocess.PIPE, stdout=subprocess.PIPE) for _ in range(4)]
        try:
            for worker in workers:
                assert worker.stdout.readline().strip() == b"True"
            total = 0
            for worker in workers:
                for line in Path(f"/proc/{worker.pid}/smaps_rollup").read_text().splitlines():
                    if line.startswith("Pss:"):
                        total += int(line.split()[1]) * 1024
        finally:
            for worker in workers:
                worker.communicate()
    return total, size


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--quick", action="store_true", help="small: checks the answers, not the figures")
    parser.add_argument("--keys", type=int, default=10_000_000)
    parser.add_argument("--markdown", type=Path)
    arguments = parser.parse_args()
    count = 20_000 if arguments.quick else arguments.keys
    report = Report()
    single_keys(report, min(count, 1_000_000))
    batches(report, count)
    static_filters(report, min(count, 1_000_000))
    milliseconds = import_time()
    total, size = shared_memory(8_600_000 if arguments.quick else 860_000_000)
    facts = [
        ("import", f"{milliseconds:.1f} ms", "at most 30 ms"),
        (f"four processes on one mapped filter of {size / 1e9:.2f} GB, PSS", f"{total / 1e9:.2f} GB", "at most 1.2 times the filter"),
    ]
    if wheel := os.environ.get("MAYHAP_WHEEL"):
        facts.append(("wheel", f"{os.path.getsize(wheel) / 1e6:.1f} MB", "at most 4 MB"))
    for fact in facts:
        print(f"{fact[0]:70} {fact[1]:>10}   target {fact[2]}")
    if arguments.markdown:
        arguments.markdown.write_text(markdown(report, facts, count))


def markdown(report, facts, count):
    lines = [
        "# Python",
        "",
        f"`make bench-python` wrote this page: {count:,} keys in batches, at most a million one by one, a rate of 1 %. Each row alternates between",
        "mayhap and its peer in one process and has the medians; a ratio above 1 means that mayhap is faster. Times include the Python loop.",
        "",
        "| operation | mayhap, per key | peer | peer, per key | ratio | target |",
        "| --- | ---: | --- | ---: | ---: | ---: |",
        *(f"| {' | '.join(row)} |" for row in report.rows),
        "",
        "rbloom uses the hash that Python has computed for a `str` before and caches in it, which is why its filters cannot be used in another",
        "process. mayhap hashes the bytes of the key each time.",
        "",
        "| | measured | target |",
        "| --- | ---: | --- |",
        *(f"| {' | '.join(fact)} |" for fact in facts),
        "",
    ]
    return "\n".join(lines)


if __name__ == "__main__":
    main()
