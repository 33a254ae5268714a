"""Four worker processes query one large filter: the file is mapped, so its memory exists once."""

import multiprocessing
import os
import sys

import mayhap
import numpy as np

PATH = "users.mayhap"


def work(filter, part):
    """A mapped filter is pickled as its path, and mapped again by the worker."""
    keys = np.arange(part * 100_000, (part + 1) * 100_000)
    found = int(filter.contains_many(keys).sum())
    with open("/proc/self/smaps_rollup") as lines:
        pss = next(int(line.split()[1]) for line in lines if line.startswith("Pss:"))
    return found, pss


if __name__ == "__main__":
    # 8.6e8 keys are a filter of 1 GB; by default this example takes a hundredth of that.
    keys = int(sys.argv[1]) if len(sys.argv) > 1 else 8_600_000
    filter = mayhap.Bloom(keys, 0.01)
    filter.add_many(np.arange(400_000), threads=0)
    filter.save(PATH)
    size = os.path.getsize(PATH)
    del filter
    with multiprocessing.get_context("spawn").Pool(4) as pool:
        results = pool.starmap(work, [(mayhap.open(PATH, mmap=True), part) for part in range(4)])
    assert all(found == 100_000 for found, _ in results)
    print(f"a file of {size / 1e6:.0f} MB; the workers have {[pss // 1000 for _, pss in results]} MB each")
    os.remove(PATH)
