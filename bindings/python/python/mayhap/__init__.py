"""Membership filters: is this key in the set? *No* is certain, *yes* is probable, in a few bits per key.

>>> import mayhap
>>> seen = mayhap.Bloom(1_000_000, 0.01)          # a million keys, one false positive in a hundred
>>> seen.add("https://a.example/")                # True: definitely new
True
>>> "https://a.example/" in seen
True
>>> seen.contains_many(["https://a.example/", "https://b.example/"])
[True, False]

Keys are ``str`` (UTF-8), bytes-like objects and integers. Batches also take NumPy arrays and Arrow data of pyarrow, Polars, pandas and
DuckDB. Filters can be saved, and are the same in every process, in the command line, the server, Rust and C.
"""

from ._mayhap import (
    Bloom,
    BooleanArray,
    ClassicBloom,
    CountingBloom,
    CountingCuckoo,
    Cuckoo,
    Excepting,
    Filter,
    ForeignFilter,
    FormatError,
    FullError,
    Fuse,
    GrowingBloom,
    GrowingCuckoo,
    MismatchError,
    MutableFilter,
    Retouched,
    Ribbon,
    UnsupportedError,
    WindowBloom,
    WindowCuckoo,
    __version__,
    create,
    open,
    plan,
)

__all__ = [
    "Bloom",
    "BooleanArray",
    "ClassicBloom",
    "CountingBloom",
    "CountingCuckoo",
    "Cuckoo",
    "Excepting",
    "Filter",
    "ForeignFilter",
    "FormatError",
    "FullError",
    "Fuse",
    "GrowingBloom",
    "GrowingCuckoo",
    "MismatchError",
    "MutableFilter",
    "Retouched",
    "Ribbon",
    "UnsupportedError",
    "WindowBloom",
    "WindowCuckoo",
    "__version__",
    "create",
    "open",
    "plan",
]
