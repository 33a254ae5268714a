"""The package itself: tags, size, documentation, types, memory, other interpreters."""

import doctest
import gc
import importlib.metadata
import os
import subprocess
import sys
import tracemalloc
import types
import zipfile
from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest

import mayhap


@pytest.fixture(scope="module")
def wheel():
    """The wheel that is installed; `make test-python` passes its path."""
    return Path(os.environ["MAYHAP_WHEEL"])


def test_the_wheel_is_for_the_stable_interface_and_does_not_claim_free_threading(wheel):
    _, _, python, abi, platform = wheel.stem.split("-")
    assert (python, abi) == ("cp311", "abi3")
    assert "t" not in abi.removeprefix("abi3") and "linux" in platform
    with zipfile.ZipFile(wheel) as files:
        names = files.namelist()
        metadata = next(files.read(name).decode() for name in names if name.endswith("/WHEEL"))
    tags = [line.removeprefix("Tag: ") for line in metadata.splitlines() if line.startswith("Tag: ")]
    assert tags and all(tag.startswith("cp311-abi3-") for tag in tags)
    assert {"mayhap/py.typed", "mayhap/_mayhap.pyi", "mayhap/__init__.py"} <= set(names)
    assert wheel.stat().st_size <= 4_000_000
    assert importlib.metadata.requires("mayhap-filters") is None
    assert importlib.metadata.version("mayhap-filters") == mayhap.__version__


def test_an_interpreter_that_is_not_the_main_one_refuses_the_import_in_one_sentence():
    program = """
import mayhap
try:
    import _interpreters as interpreters
except ImportError:
    import _xxsubinterpreters as interpreters
other = interpreters.create()
error = None
try:
    error = interpreters.run_string(other, "import mayhap")
except Exception as failure:
    error = failure
print(error)
"""
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    assert "ImportError" in done.stdout and "interpreter" in done.stdout, done.stdout
    assert len(done.stdout.strip().splitlines()) == 1


def test_the_import_loads_no_other_package():
    program = "import sys; import mayhap; print('numpy' in sys.modules, 'pyarrow' in sys.modules)"
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert done.stdout.split() == ["False", "False"]


def test_the_examples_in_the_documentation_run():
    module = types.ModuleType("documentation")
    tested = 0
    for name in mayhap.__all__:
        if text := getattr(mayhap, name).__doc__ if name != "__version__" else mayhap.__doc__:
            test = doctest.DocTestParser().get_doctest(text, {"mayhap": mayhap}, name, None, 0)
            result = doctest.DocTestRunner().run(test)
            assert result.failed == 0
            tested += result.attempted
    assert tested > 20, (tested, module)


def test_everything_public_is_documented():
    for name in mayhap.__all__:
        value = getattr(mayhap, name)
        if not isinstance(value, type) and not callable(value):
            continue
        assert value.__doc__, name
        if isinstance(value, type):
            for method, function in vars(value).items():
                assert method.startswith("_") or function.__doc__, f"{name}.{method}"


def resident():
    with open("/proc/self/statm") as file:
        return int(file.read().split()[1]) * os.sysconf("SC_PAGE_SIZE")


def test_nothing_leaks(tmp_path):
    arrow, numbers = pa.array([f"key {i}" for i in range(2000)]), np.arange(2000)
    texts = arrow.to_pylist()
    path = tmp_path / "f.mayhap"

    def work():
        filter = mayhap.Bloom(10_000, 0.01)
        for keys in (arrow, numbers, texts, arrow.dictionary_encode(), numbers[::2], iter(texts)):
            filter.add_many(keys, return_new=True)
        for keys in (arrow, numbers, texts):
            filter.contains_many(keys)
        filter.save(path)
        mayhap.Bloom.load(path, key_type="i64").stats()
        mayhap.open(path, mmap=True).contains_many(texts)
        filter | filter.copy()
        hashed = mayhap.Bloom(10, 0.1, hash_func=lambda key: 1)
        hashed.add(hashed)
        for wrong in (lambda: filter.add(1.5), lambda: filter.contains_many(pa.array([None, "a"])), lambda: mayhap.Bloom.load_bytes(b"x" * 1000)):
            with pytest.raises((TypeError, ValueError)):
                wrong()

    for _ in range(30):
        work()
    gc.collect()
    tracemalloc.start()
    work()
    gc.collect()
    before, memory = tracemalloc.get_traced_memory()[0], resident()
    for _ in range(150):
        work()
    gc.collect()
    after = tracemalloc.get_traced_memory()[0]
    tracemalloc.stop()
    assert after - before < 100_000, f"{after - before} bytes of Python objects"
    assert resident() - memory < 20_000_000, f"{resident() - memory} bytes of memory"


@pytest.mark.parametrize("example", sorted((Path(__file__).parents[1] / "examples").glob("*.py")), ids=lambda path: path.stem)
def test_examples_run(example, tmp_path):
    done = subprocess.run([sys.executable, example], cwd=tmp_path, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
