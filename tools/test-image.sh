#!/usr/bin/env bash
# Builds the image of packaging/docker from the unpacked tarball, and runs its command in it: `test-image.sh FOLDER`. buildah builds it, because it
# needs no daemon. Where it cannot (it wants namespaces), a folder is filled with what the Dockerfile copies; the output says which.
set -euo pipefail
context=$1
work=$(mktemp -d)
server=
finish() {
  [[ -z $server ]] || kill "$server" 2>/dev/null || true
  wait
  if [[ -n ${container:-} ]]; then "${buildah[@]}" rm "$container" >/dev/null; fi
  rm -rf "$work"
}
trap finish EXIT
buildah=(buildah --storage-driver vfs --root "$work/storage" --runroot "$work/run")
file=$context/docker/Dockerfile

if "${buildah[@]}" build --isolation chroot --quiet --tag mayhap --file "$file" "$context" >"$work/log" 2>&1 \
  && container=$("${buildah[@]}" from --pull=never mayhap 2>>"$work/log") && root=$("${buildah[@]}" mount "$container" 2>>"$work/log"); then
  echo "image: built with buildah"
  "${buildah[@]}" inspect --type image mayhap >"$work/image.json"
  python3 - "$work/image.json" >"$work/settings" <<'PYTHON'
import json, sys
config = json.load(open(sys.argv[1]))["OCIv1"]["config"]
assert list(config["ExposedPorts"]) == ["6380/tcp"] and list(config["Volumes"]) == ["/data"], config
print(config["User"])
print(*config["Entrypoint"], *config["Cmd"])
PYTHON
else
  echo "image: buildah does not work here ($(tail -1 "$work/log")); checked as a folder"
  container=
  root=$work/root
  mkdir "$root"
  sed -nE 's/^COPY (--chown=(\S+) )?(\S+) (\S+)$/\2 \3 \4/p' "$file" | while read -r owner from to; do
    [[ -n $to ]] || { to=$from from=$owner owner=0:0; }
    cp -r "$context/$from" "$root$to"
    chown -R "$owner" "$root$to"
  done
  sed -n 's/^USER //p' "$file" >"$work/settings"
  sed -nE 's/^(ENTRYPOINT|CMD) \[(.*)\]/\2/p' "$file" | tr -d '",' | paste -sd' ' >>"$work/settings"
fi
{ read -r user; read -r -a command; } <"$work/settings"
[[ $user == 65532:65532 ]] || { echo "image: the user is $user" >&2; exit 1; }
[[ $(cd "$root" && find . -type f) == ./mayhap ]] || { echo "image: it contains more than the program" >&2; exit 1; }

# Without a password, a port that is open to other machines is refused.
if chroot --userspec="$user" "$root" "${command[@]}" >"$work/refused" 2>&1; then echo "image: it starts without a password" >&2; exit 1; fi
grep -q MAYHAP_PASSWORD "$work/refused"
MAYHAP_PASSWORD=secret chroot --userspec="$user" "$root" "${command[@]}" --port 16382 --max-memory 64mb >"$work/serve.log" 2>&1 &
server=$!
for ((tries = 0; tries < 300; tries++)); do
  [[ $(REDISCLI_AUTH=secret redis-cli -p 16382 PING 2>/dev/null) != PONG ]] || break
  sleep 0.1
done
[[ $(REDISCLI_AUTH=secret redis-cli -p 16382 BF.ADD seen apple) == 1 ]] || { cat "$work/serve.log" >&2; exit 1; }
[[ $(redis-cli -p 16382 BF.ADD seen pear) == *NOAUTH* ]] || { echo "image: it answers without the password" >&2; exit 1; }
# As `docker stop` does.
kill -TERM "$server"
wait "$server"
server=
[[ $(stat --format=%u "$root/data") == 65532 && -n $(ls "$root/data") ]] || { echo "image: no data was written" >&2; exit 1; }
