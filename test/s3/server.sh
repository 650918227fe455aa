#!/bin/sh
# Starts an S3-compatible server on loopback for the suites that need one, and prints the variables they need:
#
#   eval "$(test/s3/server.sh start)" && npm test -- src/adapters/storage test/s3; test/s3/server.sh stop
#
# The server is S3Proxy (Apache-2.0) over a throw-away folder: one archive from Maven Central, 103 MB, kept in
# $S3_SERVER_DIR, and a Java 17 to run it. It checks signatures, content types, expiry and If-Match. Others were tried: moto
# checks no signature, s3rver no content type, s3s-fs no If-Match; Versity's gateway passes too, but must be built for minutes.
set -eu

VERSION=3.3.0
SHA256=7f9e895bf6694a7e0296ffb49c0c3f1b87cd5ea92bfd55f6faf56f6f821f5592
DIR=${S3_SERVER_DIR:-${XDG_CACHE_HOME:-$HOME/.cache}/groundtrack-s3}
PORT=${S3_SERVER_PORT:-17070}
KEY=groundtrack
SECRET=groundtrack-secret
WAIT_SECONDS=30
JAR=$DIR/s3proxy-$VERSION.jar

install() {
  command -v java > /dev/null || { echo 'test/s3/server.sh needs Java 17 (Debian: default-jre-headless)' >&2; exit 1; }
  mkdir -p "$DIR"
  if [ ! -f "$JAR" ]; then
    echo "Fetching S3Proxy $VERSION" >&2
    curl --silent --show-error --fail --retry 3 --output "$JAR.part" "https://repo1.maven.org/maven2/org/gaul/s3proxy/$VERSION/s3proxy-$VERSION-jar-with-dependencies.jar"
    mv "$JAR.part" "$JAR"
  fi
  echo "$SHA256  $JAR" | sha256sum --check --status || { echo "$JAR is not the file that was asked for" >&2; rm -f "$JAR"; exit 1; }
}

stop() {
  [ -f "$DIR/pid" ] || return 0
  kill "$(cat "$DIR/pid")" 2> /dev/null || true
  rm -rf "$DIR/pid" "$DIR/data"
}

start() {
  install
  stop
  mkdir -p "$DIR/data"
  cat > "$DIR/s3proxy.conf" << END
s3proxy.endpoint=http://127.0.0.1:$PORT
s3proxy.authorization=aws-v4
s3proxy.identity=$KEY
s3proxy.credential=$SECRET
jclouds.provider=filesystem-nio2
jclouds.identity=unused
jclouds.credential=unused
jclouds.filesystem.basedir=$DIR/data
END
  nohup java -Xmx512m -jar "$JAR" --properties "$DIR/s3proxy.conf" > "$DIR/log" 2>&1 < /dev/null &
  echo $! > "$DIR/pid"
  tries=0
  until curl --silent --output /dev/null "http://127.0.0.1:$PORT/"; do
    tries=$((tries + 1))
    [ $tries -lt $WAIT_SECONDS ] || { echo "The S3 server did not start:" >&2; cat "$DIR/log" >&2; stop; exit 1; }
    sleep 1
  done
  echo "export TEST_S3_ENDPOINT=http://127.0.0.1:$PORT TEST_S3_KEY=$KEY TEST_S3_SECRET=$SECRET S3_SERVER_DATA=$DIR/data"
}

case ${1:-start} in
  start) start ;;
  install) install && echo "$JAR" ;; # For those who run it elsewhere.
  stop) stop ;;
  *) echo 'usage: test/s3/server.sh [start|install|stop]' >&2; exit 2 ;;
esac
