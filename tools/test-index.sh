#!/usr/bin/env bash
# Lets pyarrow and DuckDB write folders of Parquet, CSV and JSON, indexes them, and asks `mayhap which` for values of every file.
set -euo pipefail
cd "$(dirname "$0")/.."

folder=$PWD/target/index-writers
python=$folder/venv/bin/python
target=${CARGO_TARGET_DIR:-$PWD/target}
if ! "$python" -c "import duckdb, pyarrow" 2>/dev/null; then
  python3 -c "import ensurepip, venv" 2>/dev/null || tools/apt-install.sh index python3-venv
  python3 -m venv "$folder/venv"
  "$folder/venv/bin/pip" install --quiet pyarrow duckdb
fi
PYTHONDONTWRITEBYTECODE=1 "$python" clients/index/folders.py "$target/debug/mayhap"
