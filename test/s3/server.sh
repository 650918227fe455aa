#!/bin/sh
# Starts an S3-compatible server on loopback for the storage suite, and prints the variables it needs:
#
#   eval "$(test/s3/server.sh start)" && npm test -- src/adapters/storage; test/s3/server.sh stop
#
# The server is Versity's gateway (Apache-2.0) over a throw-away folder. It is built once by Go from the module proxy and
# kept in $S3_SERVER_DIR. Others were tried: moto is installed faster but checks no signature, so that half of what the
# suite asks about presigned addresses cannot be seen with it.
set -eu

VERSION=v1.8.0
DIR=${S3_SERVER_DIR:-${XDG_CACHE_HOME:-$HOME/.cache}/groundtrack-s3}
PORT=${S3_SERVER_PORT:-17070}
KEY=groundtrack
SECRET=groundtrack-secret
WAIT_SECONDS=20
SERVER=$DIR/versitygw-$VERSION/versitygw

install() {
  [ -x "$SERVER" ] && return
  command -v go > /dev/null || { echo 'test/s3/server.sh needs Go to build the server' >&2; exit 1; }
  echo "Building versitygw $VERSION, some minutes the first time" >&2
  GOBIN=$DIR/versitygw-$VERSION go install "github.com/versity/versitygw/cmd/versitygw@$VERSION" >&2
}

stop() {
  [ -f "$DIR/pid" ] || return 0
  kill "$(cat "$DIR/pid")" 2> /dev/null || true
  rm -rf "$DIR/pid" "$DIR/data" "$DIR/metadata"
}

start() {
  install
  stop
  mkdir -p "$DIR/data" "$DIR/metadata"
  # Metadata in files of their own: not every file system has extended attributes.
  ROOT_ACCESS_KEY_ID=$KEY ROOT_SECRET_ACCESS_KEY=$SECRET \
    nohup "$SERVER" --quiet --port "127.0.0.1:$PORT" posix --sidecar "$DIR/metadata" "$DIR/data" > "$DIR/log" 2>&1 < /dev/null &
  echo $! > "$DIR/pid"
  tries=0
  until curl --silent --output /dev/null "http://127.0.0.1:$PORT/"; do
    tries=$((tries + 1))
    [ $tries -lt $WAIT_SECONDS ] || { echo "The S3 server did not start:" >&2; cat "$DIR/log" >&2; stop; exit 1; }
    sleep 1
  done
  echo "export TEST_S3_ENDPOINT=http://127.0.0.1:$PORT TEST_S3_KEY=$KEY TEST_S3_SECRET=$SECRET"
}

case ${1:-start} in
  start) start ;;
  stop) stop ;;
  *) echo 'usage: test/s3/server.sh [start|stop]' >&2; exit 2 ;;
esac
