#!/bin/sh
# QGIS of a newer Debian, beside the one of this machine: unpacked into a folder, and run in it. As root, on Debian with apt-get.
#
#   test/qgis/newer.sh install /var/tmp/qgis sid          # about 450 MB to fetch
#   QGIS=test/qgis/newer.sh QGIS_ROOT=/var/tmp/qgis npm test -- test/qgis/plugin.ts
#
# Nothing of it is installed on this machine: packages are unpacked, not configured.
set -eu

fetch() {
  folder=$1 suite=$2 apt=$1/.apt
  mkdir -p "$apt/etc/apt.conf.d" "$apt/etc/preferences.d" "$apt/state/lists/partial" "$apt/cache/archives/partial"
  : > "$apt/state/status"
  echo "deb [signed-by=/usr/share/keyrings/debian-archive-keyring.gpg] http://deb.debian.org/debian $suite main" > "$apt/etc/sources.list"
  set -- -o Dir::Etc="$apt/etc" -o Dir::Etc::sourceparts=/nowhere -o Dir::State="$apt/state" -o Dir::State::status="$apt/state/status" \
    -o Dir::Cache="$apt/cache" -o APT::Sandbox::User=root -o Acquire::Languages=none
  apt-get "$@" -qq update
  apt-get "$@" -qq -y --download-only --no-install-recommends install \
    base-files bash coreutils dash libc-bin qgis python3-qgis python3-gdal python3-numpy libgl1-mesa-dri fonts-dejavu-core ca-certificates
  for package in "$apt"/cache/archives/base-files_*.deb "$apt"/cache/archives/*.deb; do dpkg-deb -x "$package" "$folder"; done
  for library in blas lapack; do
    ln -sf "$library/lib$library.so.3" "$folder/usr/lib/$(dpkg-architecture -qDEB_HOST_MULTIARCH 2> /dev/null || echo x86_64-linux-gnu)/"
  done
  cp /etc/passwd /etc/group "$folder/etc/"
  chroot "$folder" ldconfig
}

# In mounts of its own, which end with it: this machine's temporary files, the plugin and its tests are where they are here.
run() {
  root=$(cd "$(dirname "$0")/../.." && pwd)
  # shellcheck disable=SC2016 # Expanded inside.
  exec unshare --mount -- sh -c '
    set -eu
    into=$1 repository=$2 folder=$PWD
    shift 2
    for each in /proc /dev /tmp "$repository" "$(dirname "$TMPDIR")" "$folder"; do
      mkdir -p "$into$each"
      mount --bind "$each" "$into$each"
    done
    exec chroot "$into" /bin/sh -c "cd \"\$0\" && exec qgis \"\$@\"" "$folder" "$@"
  ' sh "$QGIS_ROOT" "$root" "$@"
}

case ${1:-} in
  install) fetch "$2" "${3:-sid}" ;;
  *) run "$@" ;;
esac
