#!/usr/bin/env bash
# Lets pyarrow and DuckDB write folders of Parquet, CSV and JSON, indexes them, and asks `mayhap which` for values of every file.
set -euo pipefail
cd "$(dirname "$0")/.."

folder=$PWD/target/index-writers
python=$folder/venv/bin/python
target=${CARGO_TARGET_DIR:-$PWD/target}
if ! "$python" -c "import duckdb, pyarrow" 2>/dev/null; then
  if ! python3 -c "import ensurepip, venv" 2>/dev/null; then
    if ! command -v apt-get >/dev/null || [[ $EUID != 0 ]]; then
      echo "index: python3-venv is installed by apt as root; run 'make test-index' there" >&2; exit 1
    fi
    apt-get update -qq && apt-get install -qq -y python3-venv >/dev/null
  fi
  python3 -m venv "$folder/venv"
  "$folder/venv/bin/pip" install --quiet pyarrow duckdb
fi
PYTHONDONTWRITEBYTECODE=1 "$python" clients/index/folders.py "$target/debug/mayhap"
