#!/usr/bin/env bash
# Query engines as clusters of processes: Ballista (a scheduler and two executors) with the SQL functions, and Spark (two workers, for each
# version below) with filters and with the Python package. What is missing is installed: python3-venv and Java by apt as root, packages from
# PyPI. Arguments go to the program of the Ballista cluster: [ROWS [ROUNDS]].
set -euo pipefail
cd "$(dirname "$0")/.."

export PYTHONDONTWRITEBYTECODE=1
target=${CARGO_TARGET_DIR:-$PWD/target}
export CARGO_TARGET_DIR=$target
folder=$target/cluster
workspace=engines/datafusion/Cargo.toml
# One that reads version 1 of Spark's filters only, and one that writes version 2. Both run on Java 17.
spark_versions=(3.5.9 4.3.0)
# DataFusion's Python package of the version that the crates are built with.
datafusion_version=54.1.0

fail() {
  echo "test-cluster: $1" >&2
  exit 1
}

# Prints the home of Java 17, if there is one.
java_home() {
  local home
  for home in "${JAVA_HOME:-}" /usr/lib/jvm/java-17-openjdk-* /usr/lib/jvm/*17*; do
    if [[ -n $home && -x $home/bin/java && $("$home/bin/java" -version 2>&1) == *'version "17.'* ]]; then
      echo "$home"
      return
    fi
  done
}

JAVA_HOME=$(java_home)
if [[ -z $JAVA_HOME ]]; then
  tools/apt-install.sh test-cluster openjdk-17-jre-headless
  JAVA_HOME=$(java_home)
  [[ -n $JAVA_HOME ]] || fail "Spark needs Java 17, which apt did not install: set JAVA_HOME"
fi
export JAVA_HOME
python3 -c "import ensurepip, venv" 2>/dev/null || tools/apt-install.sh test-cluster python3-venv

echo "test-cluster: a join on Ballista"
cargo build --release --manifest-path "$workspace" -p mayhap-datafusion-cluster
"$target/release/mayhap-datafusion-cluster" "$@"

# The wheels: the Python package, and the SQL functions for DataFusion's Python package.
tools/python-package.sh build >/dev/null
rm -rf "$folder/wheels"
"$target/python-package/build/bin/maturin" build --quiet --release --locked --manifest-path engines/datafusion/python/Cargo.toml --out "$folder/wheels"
wheels=("$target"/wheels/mayhap_filters-*.whl "$folder"/wheels/mayhap_datafusion-*.whl)

for version in "${spark_versions[@]}"; do
  echo "test-cluster: Spark $version"
  venv=$folder/spark-$version
  [[ -x $venv/bin/python ]] || python3 -m venv "$venv"
  "$venv/bin/pip" install --quiet --disable-pip-version-check -r engines/spark/requirements.txt \
    "pyspark==$version" "datafusion==$datafusion_version" || fail "pip did not install PySpark $version and DataFusion $datafusion_version"
  "$venv/bin/pip" install --quiet --disable-pip-version-check --force-reinstall --no-deps "${wheels[@]}"
  "$venv/bin/python" -m pytest -q -s -p no:cacheprovider engines/spark
done
