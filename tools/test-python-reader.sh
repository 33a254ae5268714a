#!/usr/bin/env bash
# Lets the reader in docs/formats, which is written after the format's page, answer for files of every kind, fresh ones and those in
# golden/native, and compares its answers with mayhap's.
set -euo pipefail
cd "$(dirname "$0")/.."

export PYTHONDONTWRITEBYTECODE=1
folder=$PWD/target/python-reader
python=$folder/venv/bin/python
rm -rf "$folder/files"
if ! "$python" -c "import xxhash" 2>/dev/null; then
  python3 -c "import ensurepip, venv" 2>/dev/null || tools/apt-install.sh "python reader" python3-venv
  python3 -m venv "$folder/venv"
  "$folder/venv/bin/pip" install --quiet "xxhash>=3,<4"
fi

MAYHAP_ANSWERS=$folder/files cargo test -q --workspace --test it -- --exact native::answers::a_file_of_every_form_answers_as_its_filter
for golden in golden/native/*.mayhap; do
  cmp "$golden" "$folder/files/golden-$(basename "$golden")"
done
"$python" tools/compare_python_reader.py "$folder/files"

# As a person would use it, with a secret that the file does not contain.
secret=$(printf 'sixteen secrets.' | od -An -tx1 | tr -d ' \n')
"$python" docs/formats/read_mayhap.py "$folder/files/words" "$secret" <"$folder/files/words.txt" | cmp - "$folder/files/words.expected"
