#!/usr/bin/env bash
# The Python package: `build` writes the wheel to target/wheels, `test` installs it into a venv in target/ and tests it with the packages
# that people pass arrays from, `bench` compares it with its peers. What is missing is installed: python3-venv by apt as root, the rest
# from PyPI.
set -euo pipefail
cd "$(dirname "$0")/.."

export PYTHONDONTWRITEBYTECODE=1
target=${CARGO_TARGET_DIR:-$PWD/target}
export CARGO_TARGET_DIR=$target
package=bindings/python
folder=$target/python-package
wheels=$target/wheels

venv() {
  python3 -c "import ensurepip, venv" 2>/dev/null || tools/apt-install.sh "python package" python3-venv
  [[ -x $folder/$1/bin/python ]] || python3 -m venv "$folder/$1"
}

# Installs what a list of requirements names, unless it is there.
requirements() {
  if ! cmp -s "$package/$2" "$folder/$1/installed"; then
    "$folder/$1/bin/pip" install --quiet --disable-pip-version-check -r "$package/$2"
    cp "$package/$2" "$folder/$1/installed"
  fi
}

build() {
  venv build
  requirements build requirements-build.txt
  rm -rf "$wheels"
  PATH=$folder/build/bin:$PATH maturin build --quiet --release --locked --manifest-path "$package/Cargo.toml" --out "$wheels"
  ls "$wheels"/mayhap_filters-*.whl
}

install_wheel() {
  "$folder/$1/bin/pip" install --quiet --disable-pip-version-check --force-reinstall --no-deps "$wheels"/mayhap_filters-*.whl
  MAYHAP_WHEEL=$(ls "$wheels"/mayhap_filters-*.whl)
  export MAYHAP_WHEEL
}

case ${1:-} in
build)
  build
  ;;
test)
  build
  venv test
  requirements test requirements-test.txt
  install_wheel test
  MAYHAP=$(realpath "$target/debug/mayhap")
  export MAYHAP
  python=$folder/test/bin/python
  # Where the package's own sources are not found instead of what was installed.
  (cd "$folder" && "$python" -m mypy.stubtest mayhap && "$python" -m mypy --strict --cache-dir "$folder/mypy" -c \
    'import mayhap; is_new: bool = mayhap.Bloom(10, 0.1).add("a"); union: mayhap.Cuckoo = mayhap.Cuckoo(1, 0.1).union()')
  "$python" -m pytest -q -p no:cacheprovider "$package/tests"
  # The source distribution has all crates that it needs, and is built by cargo alone.
  PATH=$folder/build/bin:$PATH maturin sdist --manifest-path "$package/Cargo.toml" --out "$folder/sdist"
  rm -rf "$folder/unpacked" && mkdir "$folder/unpacked"
  tar xzf "$folder"/sdist/mayhap_filters-*.tar.gz -C "$folder/unpacked" --strip-components 1
  (cd "$folder/unpacked" && cargo build --quiet --release --locked --manifest-path bindings/python/Cargo.toml)
  ;;
bench)
  shift
  build
  venv bench
  requirements bench requirements-bench.txt
  install_wheel bench
  cargo build --release --manifest-path benchmarks/Cargo.toml --bin python_peer
  export MAYHAP_RUST_BATCH=$target/release/python_peer
  "$folder/bench/bin/python" "$package/benchmarks/bench.py" "$@"
  ;;
*)
  echo "usage: $0 build | test | bench [--quick] [--markdown FILE]" >&2
  exit 2
  ;;
esac
