#!/usr/bin/env bash
# The service with a million users, to play with: PostgreSQL and Redis in a temporary folder, gone with Ctrl-C.
set -euo pipefail
cd "$(dirname "$0")/../.."
tools/install-postgres.sh
tools/install-redis-tools.sh
cargo build --release -p mayhap-module -p guard
release=$(realpath "${CARGO_TARGET_DIR:-target}/release")

as_postgres() { if [[ $EUID == 0 ]]; then (cd / && runuser -u postgres -- "$@"); else "$@"; fi; }
programs=$(compgen -G "/usr/lib/postgresql/*/bin" | sort -V | tail -1 || pg_config --bindir)
# Not in TMPDIR, which may be root's own, or too long for the name of a socket.
folder=$(as_postgres mktemp -d /tmp/guard-XXXXXX)
redis=
clean() {
  [[ -z $redis ]] || kill "$redis" 2>/dev/null || true
  as_postgres "$programs/pg_ctl" -D "$folder/data" --mode=immediate stop >/dev/null 2>&1 || true
  rm -rf "$folder"
}
trap clean EXIT

as_postgres "$programs/initdb" -D "$folder/data" --username=postgres --auth=trust --encoding=UTF8 --locale=C >/dev/null
as_postgres "$programs/pg_ctl" -D "$folder/data" -l "$folder/log" --wait -o "-k $folder -c listen_addresses=" start >/dev/null
psql() { "$programs/psql" --quiet --host="$folder" --username=postgres "$@"; }
psql --file=examples/guard/schema.sql
psql --command="INSERT INTO users SELECT 'user-' || n, n || '@example.org' FROM generate_series(0, 999999) n"

redis-server --port 0 --unixsocket "$folder/redis.sock" --save "" --dir "$folder" --loadmodule "$release/libmayhap_module.so" >"$folder/redis.log" &
redis=$!
until redis-cli -s "$folder/redis.sock" PING >/dev/null 2>&1; do
  kill -0 "$redis" || { cat "$folder/redis.log" >&2; exit 1; }
  sleep 0.1
done

cat <<'TRY'
try:  curl -i localhost:8080/users/user-7      # answered-by: database, then cache
      curl -i localhost:8080/users/nobody      # answered-by: filter
      curl -d '{"name": "ann", "email": "ann@example.org"}' localhost:8080/users
      curl localhost:8080/metrics
TRY
"$release/guard" --postgres "host=$folder user=postgres" --redis "redis+unix://$folder/redis.sock" "$@"
