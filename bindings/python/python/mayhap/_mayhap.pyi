"""Types of the native part of the package."""

from collections.abc import Callable
from os import PathLike
from typing import Any, Literal, Self, SupportsIndex, TypeAlias, final, overload

from typing_extensions import disjoint_base

__all__ = [
    "_load",
    "_map",
    "_open",
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

__version__: str

_StrPath: TypeAlias = str | PathLike[str]
# str, bytes-like objects and integers; any object for a filter with a hash_func.
_Key: TypeAlias = Any
_KeyType: TypeAlias = Literal[
    "text", "hex", "base64", "i8", "i16", "i32", "i64", "u8", "u16", "u32", "u64", "f64", "uuid"
]
_Nulls: TypeAlias = Literal["error", "skip"]

class FormatError(ValueError): ...
class MismatchError(ValueError): ...
class FullError(ValueError): ...
class UnsupportedError(TypeError): ...

@final
class BooleanArray:
    def __len__(self) -> int: ...
    def __getitem__(self, key: int, /) -> bool: ...
    def to_pylist(self) -> list[bool]: ...
    def __arrow_c_array__(self, requested_schema: object | None = None) -> tuple[object, object]: ...

@disjoint_base
class Filter:
    def __contains__(self, key: _Key, /) -> bool: ...
    @overload
    def contains_many(self, keys: list[Any], *, nulls: _Nulls = "error", threads: int = 1) -> list[bool]: ...
    @overload
    def contains_many(self, keys: Any, *, nulls: _Nulls = "error", threads: int = 1) -> Any: ...
    def stats(self) -> Any: ...
    def save(self, path: _StrPath, *, format: str | None = None, with_key: bool = True, **options: Any) -> None: ...
    def save_bytes(self, *, format: str | None = None, with_key: bool = True, **options: Any) -> bytes: ...
    @property
    def format(self) -> str: ...
    @property
    def kind(self) -> str: ...
    @property
    def key_type(self) -> _KeyType | None: ...
    @property
    def capacity(self) -> int | None: ...
    @property
    def false_positive_rate(self) -> float | None: ...
    @property
    def estimated_rate(self) -> float | None: ...
    @property
    def approx_items(self) -> int | None: ...
    @property
    def size_in_bits(self) -> int: ...
    @property
    def hash_func(self) -> Callable[[Any], int] | None: ...
    def copy(self) -> Self: ...
    def __copy__(self) -> Self: ...
    def __deepcopy__(self, _memo: Any, /) -> Self: ...
    def __reduce__(self) -> tuple[Any, ...]: ...
    def __eq__(self, other: object, /) -> bool: ...
    def __ne__(self, other: object, /) -> bool: ...
    def __le__(self, other: Filter, /) -> bool: ...
    def __lt__(self, other: Filter, /) -> bool: ...
    def __ge__(self, other: Filter, /) -> bool: ...
    def __gt__(self, other: Filter, /) -> bool: ...
    __hash__: None  # type: ignore[assignment]

class MutableFilter(Filter):
    def add(self, key: _Key, /) -> bool: ...
    @overload
    def add_many(
        self, keys: Any, *, return_new: Literal[False] = False, nulls: _Nulls = "error", threads: int = 1
    ) -> None: ...
    @overload
    def add_many(self, keys: Any, *, return_new: bool, nulls: _Nulls = "error", threads: int = 1) -> Any: ...
    def update(self, *others: Any) -> None: ...
    def clear(self) -> None: ...
    def __or__(self, other: Filter, /) -> Self: ...
    def __ror__(self, other: Filter, /) -> Self: ...
    def __ior__(self, other: Filter, /) -> Self: ...
    def union(self, *others: Any) -> Self: ...

@final
class Bloom(MutableFilter):
    def __new__(
        cls,
        capacity: SupportsIndex,
        false_positive_rate: float,
        hash_func: Callable[[Any], int] | None = None,
        *,
        key: bytes | None = None,
        key_type: _KeyType | None = None,
    ) -> Self: ...
    def __bool__(self) -> bool: ...
    def __and__(self, other: Filter, /) -> Self: ...
    def __rand__(self, other: Filter, /) -> Self: ...
    def __iand__(self, other: Filter, /) -> Self: ...
    def intersection(self, *others: Any) -> Self: ...
    def intersection_update(self, *others: Any) -> None: ...
    def issubset(self, other: Bloom, /) -> bool: ...
    def issuperset(self, other: Bloom, /) -> bool: ...
    @classmethod
    def load(
        cls,
        path: _StrPath,
        hash_func: Callable[[Any], int] | None = None,
        *,
        key: bytes | None = None,
        key_type: _KeyType | None = None,
    ) -> Self: ...
    @classmethod
    def load_bytes(
        cls,
        data: bytes,
        hash_func: Callable[[Any], int] | None = None,
        *,
        key: bytes | None = None,
        key_type: _KeyType | None = None,
    ) -> Self: ...

@final
class ClassicBloom(MutableFilter):
    def __new__(
        cls,
        capacity: SupportsIndex,
        false_positive_rate: float,
        *,
        key: bytes | None = None,
        key_type: _KeyType | None = None,
    ) -> Self: ...
    def __and__(self, other: Filter, /) -> Self: ...
    def __rand__(self, other: Filter, /) -> Self: ...
    def __iand__(self, other: Filter, /) -> Self: ...
    @classmethod
    def load(
        cls,
        path: _StrPath,
        hash_func: Callable[[Any], int] | None = None,
        *,
        key: bytes | None = None,
        key_type: _KeyType | None = None,
    ) -> Self: ...
    @classmethod
    def load_bytes(
        cls,
        data: bytes,
        hash_func: Callable[[Any], int] | None = None,
        *,
        key: bytes | None = None,
        key_type: _KeyType | None = None,
    ) -> Self: ...

@final
class CountingBloom(MutableFilter):
    def __new__(
        cls,
        capacity: SupportsIndex,
        false_positive_rate: float,
        *,
        counter_bits: int = 4,
        key: bytes | None = None,
        key_type: _KeyType | None = None,
    ) -> Self: ...
    def remove(self, key: _Key, /) -> bool: ...
    def count(self, key: _Key, /) -> int: ...
    @classmethod
    def load(
        cls,
        path: _StrPath,
        hash_func: Callable[[Any], int] | None = None,
        *,
        key: bytes | None = None,
        key_type: _KeyType | None = None,
    ) -> Self: ...
    @classmethod
    def load_bytes(
        cls,
        data: bytes,
        hash_func: Callable[[Any], int] | None = None,
        *,
        key: bytes | None = None,
        key_type: _KeyType | None = None,
    ) -> Self: ...

@final
class GrowingBloom(MutableFilter):
    def __new__(
        cls,
        capacity: SupportsIndex,
        false_positive_rate: float,
        *,
        maximum: SupportsIndex | None = None,
        key: bytes | None = None,
        key_type: _KeyType | None = None,
    ) -> Self: ...
    @classmethod
    def load(
        cls,
        path: _StrPath,
        hash_func: Callable[[Any], int] | None = None,
        *,
        key: bytes | None = None,
        key_type: _KeyType | None = None,
    ) -> Self: ...
    @classmethod
    def load_bytes(
        cls,
        data: bytes,
        hash_func: Callable[[Any], int] | None = None,
        *,
        key: bytes | None = None,
        key_type: _KeyType | None = None,
    ) -> Self: ...

@final
class Cuckoo(MutableFilter):
    def __new__(
        cls,
        capacity: SupportsIndex,
        false_positive_rate: float,
        *,
        key: bytes | None = None,
        key_type: _KeyType | None = None,
    ) -> Self: ...
    def remove(self, key: _Key, /) -> bool: ...
    def count(self, key: _Key, /) -> int: ...
    @classmethod
    def load(
        cls,
        path: _StrPath,
        hash_func: Callable[[Any], int] | None = None,
        *,
        key: bytes | None = None,
        key_type: _KeyType | None = None,
    ) -> Self: ...
    @classmethod
    def load_bytes(
        cls,
        data: bytes,
        hash_func: Callable[[Any], int] | None = None,
        *,
        key: bytes | None = None,
        key_type: _KeyType | None = None,
    ) -> Self: ...

@final
class GrowingCuckoo(MutableFilter):
    def __new__(
        cls,
        capacity: SupportsIndex,
        false_positive_rate: float,
        *,
        is_maximum: bool = False,
        key: bytes | None = None,
        key_type: _KeyType | None = None,
    ) -> Self: ...
    def remove(self, key: _Key, /) -> bool: ...
    def count(self, key: _Key, /) -> int: ...
    def to_ribbon(self, false_positive_rate: float) -> Ribbon: ...
    def to_fuse(self, false_positive_rate: float) -> Fuse: ...
    @classmethod
    def load(
        cls,
        path: _StrPath,
        hash_func: Callable[[Any], int] | None = None,
        *,
        key: bytes | None = None,
        key_type: _KeyType | None = None,
    ) -> Self: ...
    @classmethod
    def load_bytes(
        cls,
        data: bytes,
        hash_func: Callable[[Any], int] | None = None,
        *,
        key: bytes | None = None,
        key_type: _KeyType | None = None,
    ) -> Self: ...

@final
class CountingCuckoo(MutableFilter):
    def __new__(
        cls,
        capacity: SupportsIndex,
        false_positive_rate: float,
        *,
        is_maximum: bool = False,
        key: bytes | None = None,
        key_type: _KeyType | None = None,
    ) -> Self: ...
    def remove(self, key: _Key, /) -> bool: ...
    def count(self, key: _Key, /) -> int: ...
    @classmethod
    def load(
        cls,
        path: _StrPath,
        hash_func: Callable[[Any], int] | None = None,
        *,
        key: bytes | None = None,
        key_type: _KeyType | None = None,
    ) -> Self: ...
    @classmethod
    def load_bytes(
        cls,
        data: bytes,
        hash_func: Callable[[Any], int] | None = None,
        *,
        key: bytes | None = None,
        key_type: _KeyType | None = None,
    ) -> Self: ...

@final
class Retouched(MutableFilter):
    def __new__(
        cls,
        capacity: SupportsIndex,
        false_positive_rate: float,
        *,
        key: bytes | None = None,
        key_type: _KeyType | None = None,
    ) -> Self: ...
    def remove_false_positives(
        self, keys: Any, strategy: Literal["ratio", "minimum-fn", "maximum-fp", "random"] = "ratio"
    ) -> int: ...
    @classmethod
    def load(
        cls,
        path: _StrPath,
        hash_func: Callable[[Any], int] | None = None,
        *,
        key: bytes | None = None,
        key_type: _KeyType | None = None,
    ) -> Self: ...
    @classmethod
    def load_bytes(
        cls,
        data: bytes,
        hash_func: Callable[[Any], int] | None = None,
        *,
        key: bytes | None = None,
        key_type: _KeyType | None = None,
    ) -> Self: ...

@final
class WindowBloom(MutableFilter):
    def __new__(
        cls,
        capacity: SupportsIndex,
        false_positive_rate: float,
        seconds: float,
        *,
        key: bytes | None = None,
        key_type: _KeyType | None = None,
    ) -> Self: ...
    def add(self, key: _Key, /, now: float | None = None) -> bool: ...
    def contains(self, key: _Key, /, now: float | None = None) -> bool: ...
    @classmethod
    def load(
        cls,
        path: _StrPath,
        hash_func: Callable[[Any], int] | None = None,
        *,
        key: bytes | None = None,
        key_type: _KeyType | None = None,
    ) -> Self: ...
    @classmethod
    def load_bytes(
        cls,
        data: bytes,
        hash_func: Callable[[Any], int] | None = None,
        *,
        key: bytes | None = None,
        key_type: _KeyType | None = None,
    ) -> Self: ...

@final
class WindowCuckoo(MutableFilter):
    def __new__(
        cls,
        capacity: SupportsIndex,
        false_positive_rate: float,
        seconds: float,
        *,
        key: bytes | None = None,
        key_type: _KeyType | None = None,
    ) -> Self: ...
    def add(self, key: _Key, /, now: float | None = None) -> bool: ...
    def contains(self, key: _Key, /, now: float | None = None) -> bool: ...
    @classmethod
    def load(
        cls,
        path: _StrPath,
        hash_func: Callable[[Any], int] | None = None,
        *,
        key: bytes | None = None,
        key_type: _KeyType | None = None,
    ) -> Self: ...
    @classmethod
    def load_bytes(
        cls,
        data: bytes,
        hash_func: Callable[[Any], int] | None = None,
        *,
        key: bytes | None = None,
        key_type: _KeyType | None = None,
    ) -> Self: ...

@final
class Fuse(Filter):
    @staticmethod
    def build(
        keys: Any, false_positive_rate: float, *, key: bytes | None = None, key_type: _KeyType | None = None
    ) -> Fuse: ...
    @classmethod
    def load(
        cls,
        path: _StrPath,
        hash_func: Callable[[Any], int] | None = None,
        *,
        key: bytes | None = None,
        key_type: _KeyType | None = None,
    ) -> Self: ...
    @classmethod
    def load_bytes(
        cls,
        data: bytes,
        hash_func: Callable[[Any], int] | None = None,
        *,
        key: bytes | None = None,
        key_type: _KeyType | None = None,
    ) -> Self: ...

@final
class Ribbon(Filter):
    @staticmethod
    def build(
        keys: Any, false_positive_rate: float, *, key: bytes | None = None, key_type: _KeyType | None = None
    ) -> Ribbon: ...
    @classmethod
    def load(
        cls,
        path: _StrPath,
        hash_func: Callable[[Any], int] | None = None,
        *,
        key: bytes | None = None,
        key_type: _KeyType | None = None,
    ) -> Self: ...
    @classmethod
    def load_bytes(
        cls,
        data: bytes,
        hash_func: Callable[[Any], int] | None = None,
        *,
        key: bytes | None = None,
        key_type: _KeyType | None = None,
    ) -> Self: ...

@final
class Excepting(MutableFilter):
    def __new__(
        cls,
        filter: Filter,
        keys: Any,
        exceptions: Any,
        *,
        on_conflict: Literal["error", "block", "allow"] = "error",
    ) -> Self: ...
    @classmethod
    def load(
        cls,
        path: _StrPath,
        hash_func: Callable[[Any], int] | None = None,
        *,
        key: bytes | None = None,
        key_type: _KeyType | None = None,
    ) -> Self: ...
    @classmethod
    def load_bytes(
        cls,
        data: bytes,
        hash_func: Callable[[Any], int] | None = None,
        *,
        key: bytes | None = None,
        key_type: _KeyType | None = None,
    ) -> Self: ...

@final
class ForeignFilter(MutableFilter):
    def remove(self, key: _Key, /) -> bool: ...

def open(
    path: _StrPath,
    *,
    mmap: bool = False,
    verify: bool = False,
    format: str | None = None,
    fpr: float | None = None,
    probes: int | None = None,
    columns: int | None = None,
    column: str | int | None = None,
    row_group: int | None = None,
    key: str | bytes | None = None,
    granule: int | None = None,
    key_type: _KeyType | None = None,
    key_file: _StrPath | None = None,
    secret: bytes | None = None,
    **parameters: Any,
) -> Any: ...
def create(
    format: str,
    capacity: int | None = None,
    fpr: float | None = None,
    *,
    bits: int | None = None,
    probes: int | None = None,
    key_type: _KeyType | None = None,
    **parameters: Any,
) -> ForeignFilter: ...
def plan(
    keys: int | None = None,
    fpr: float | None = None,
    *,
    memory: int | None = None,
    delete: bool = False,
    grow: bool = False,
    window: bool = False,
    static: bool = False,
    exceptions: int = 0,
    cost_skip: float | None = None,
    cost_lookup: float | None = None,
    present: float | None = None,
    cost_gib: float | None = None,
    lookups: int | None = None,
) -> dict[str, Any]: ...
def _load(
    bytes: bytes, seen: int | None, given: str | None, is_wall: bool | None, hash_func: Callable[[Any], int] | None
) -> Filter: ...
def _map(path: _StrPath, secret: bytes | None, given: str | None) -> Filter: ...
def _open(
    bytes: bytes,
    format: str,
    parameters: list[str],
    settings: tuple[float | None, int | None, int | None],
    file_name: str | None,
    given: str | None,
) -> Filter: ...
