#!/usr/bin/env bash
# Prints the Python that has redis-py, made in target/ where it is missing. The Debian packages that are named as arguments, each
# behind the program that shows that it is there (`redis-cli=redis-tools`), are installed by apt as root.
set -euo pipefail
cd "$(dirname "$0")/.."

redis_py=8.1.0
folder=$PWD/target/redis-clients

missing=()
python3 -c "import ensurepip, venv" 2>/dev/null || missing+=(python3-venv)
for package in "$@"; do
  command -v "${package%%=*}" >/dev/null || missing+=("${package#*=}")
done
((${#missing[@]} == 0)) || tools/apt-install.sh "redis clients" "${missing[@]}"

python=$folder/venv/bin/python
if [[ $("$python" -c "import redis; print(redis.__version__)" 2>/dev/null) != "$redis_py" ]]; then
  python3 -m venv "$folder/venv" >&2
  "$folder/venv/bin/pip" install --quiet "redis==$redis_py" >&2
fi
echo "$python"
