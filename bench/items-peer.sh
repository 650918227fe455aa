#!/usr/bin/env bash
# pgstac and stac-fastapi with the items of `npm run bench:items -- --export items.ndjson`, to be asked beside us with
# `--peer-folder`, which starts it from its folder.
# Wants PostgreSQL with PostGIS from the distribution, and Python's package index. Ends with Ctrl-C; leaves its folder behind.
#
#     bench/items-peer.sh items.ndjson folder [port]
set -euo pipefail

items=$(realpath "$1")
mkdir -p "$2"
folder=$(realpath "$2")
port=${3:-8099}
pg_port=$((port + 1))
bin=${PG_BIN:-$(find /usr/lib/postgresql -maxdepth 2 -name bin | sort | tail -n 1)}

# PostgreSQL does not run as root.
as() { if [ "$(id -u)" = 0 ]; then runuser -u postgres -- "$@"; else "$@"; fi; }

if [ ! -x "$folder/venv/bin/uvicorn" ]; then
  python3 -m venv "$folder/venv"
  "$folder/venv/bin/pip" install --quiet "pypgstac[psycopg]" stac-fastapi.pgstac uvicorn
fi
if [ ! -d "$folder/pg" ]; then
  mkdir "$folder/pg"
  if [ "$(id -u)" = 0 ]; then chown postgres "$folder/pg"; fi
  as "$bin/initdb" --pgdata "$folder/pg" --username postgres --auth trust >/dev/null
fi
as "$bin/pg_ctl" --pgdata "$folder/pg" --wait --log "$folder/pg/log" \
  --options "-p $pg_port -c listen_addresses=127.0.0.1 -c unix_socket_directories= -c shared_buffers=512MB -c fsync=off" start >/dev/null
trap 'as "$bin/pg_ctl" --pgdata "$folder/pg" --mode fast stop >/dev/null' EXIT

export PGHOST=127.0.0.1 PGPORT=$pg_port PGUSER=postgres PGPASSWORD=none PGDATABASE=pgstac
export POSTGRES_USER=postgres POSTGRES_PASS=none POSTGRES_DBNAME=pgstac POSTGRES_PORT=$pg_port
export POSTGRES_HOST_READER=127.0.0.1 POSTGRES_HOST_WRITER=127.0.0.1
if ! psql --dbname postgres --tuples-only --command "select 1 from pg_database where datname = 'pgstac'" | grep -q 1; then
  psql --quiet --dbname postgres --command 'create database pgstac'
  "$folder/venv/bin/pypgstac" migrate >/dev/null
  echo '{"type":"Collection","stac_version":"1.0.0","id":"scenes","description":"Scenes","license":"proprietary","links":[],"extent":{"spatial":{"bbox":[[-180,-90,180,90]]},"temporal":{"interval":[["2021-01-01T00:00:00Z",null]]}}}' \
    >"$folder/collection.json"
  "$folder/venv/bin/pypgstac" load collections "$folder/collection.json" --method upsert
  began=$(date +%s.%N)
  "$folder/venv/bin/pypgstac" load items "$items" --method insert
  echo "pypgstac loaded $(wc -l <"$items") items in $(echo "$(date +%s.%N) - $began" | bc) s"
  psql --quiet --command 'vacuum analyze'
fi
"$folder/venv/bin/pip" list --format freeze 2>/dev/null | grep -i -E '^(pypgstac|stac-fastapi|stac_fastapi|uvicorn)' || true
"$folder/venv/bin/uvicorn" stac_fastapi.pgstac.app:create_app --factory --host 127.0.0.1 --port "$port" --workers 1 --log-level error &
echo $! >"$folder/uvicorn.pid"
trap 'kill "$(cat "$folder/uvicorn.pid")"; wait; as "$bin/pg_ctl" --pgdata "$folder/pg" --mode fast stop >/dev/null' EXIT
trap 'exit 0' INT TERM
until (exec 3<>"/dev/tcp/127.0.0.1/$port") 2>/dev/null; do sleep 0.2; done
echo "peer at http://127.0.0.1:$port"
wait
