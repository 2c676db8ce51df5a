#!/bin/sh
# Installs procsup; usage() says how. Piped into a shell it has no file of its own to read.
set -eu

usage() {
  cat <<'EOF'
Installs procsup for one user or, with a --prefix of the machine's, for all. Needs no root.

  install.sh [--prefix DIR] [--version X] [--from DIR|URL]    into DIR/bin, ~/.local by default
  install.sh --uninstall [--prefix DIR]                       removes it; apps and their logs stay

The executable is checked against SHA256SUMS of the same place, and run, before it takes its own.
EOF
}

prefix=${PROCSUP_INSTALL:-}
version=latest
from=${PROCSUP_RELEASES:-}
uninstall=

fail() { printf 'error: %s\n' "$1" >&2; exit 1; }

while [ $# -gt 0 ]; do
  case $1 in
    --prefix | --version | --from)
      [ $# -gt 1 ] || fail "$1 wants a value"
      case $1 in --prefix) prefix=$2 ;; --version) version=$2 ;; --from) from=$2 ;; esac
      shift 2 ;;
    --uninstall) uninstall=yes; shift ;;
    -h | --help) usage; exit 0 ;;
    *) fail "Unknown word $1 (--help tells)" ;;
  esac
done

[ -n "$prefix" ] || prefix=${HOME:?is not set: name a --prefix}/.local
case $prefix in /*) ;; *) prefix=$PWD/$prefix ;; esac
bin=$prefix/bin/procsup

# Removes all versions that the portable form unpacked, and nothing else.
remove_unpacked() {
  cache=${PROCSUP_CACHE:-${XDG_CACHE_HOME:-${HOME:-/nonexistent}/.cache}/procsup}
  for mark in "$cache"/*/.mark; do
    if [ -e "$mark" ]; then rm -rf "${mark%/.mark}"; fi
  done
  rmdir "$cache" 2>/dev/null || true
}

if [ -n "$uninstall" ]; then
  [ -e "$bin" ] || fail "There is no $bin"
  if "$bin" ping >/dev/null 2>&1; then
    fail "A daemon runs: end it and its apps first with $bin shutdown"
  fi
  rm "$bin" || fail "Cannot remove $bin"
  remove_unpacked
  echo "Removed $bin. Logs and settings stay in ${PROCSUP_HOME:-${HOME:-}/.procsup}"
  exit 0
fi

case $(uname -s)-$(uname -m) in
  Linux-x86_64) asset=procsup-linux-x64 ;;
  Linux-aarch64 | Linux-arm64) asset=procsup-linux-arm64 ;;
  Darwin-x86_64) asset=procsup-macos-x64 ;;
  Darwin-arm64) asset=procsup-macos-arm64 ;;
  *) fail "There is no executable for $(uname -s) on $(uname -m); npm install -g procsup may do" ;;
esac

if [ -z "$from" ]; then
  releases=https://github.com/procsup/procsup/releases
  case $version in
    latest) from=$releases/latest/download ;;
    *) from=$releases/download/v${version#v} ;;
  esac
fi
from=${from#file://}

# wget follows redirections to any URL, and some versions then ignore --https-only. So this function
# checks each redirection.
wget_https() {
  wget --help 2>&1 | grep -q max-redirect ||
    fail "This wget would follow a redirection to http: install curl"
  url=$1
  for _ in 1 2 3 4 5 6 7 8; do
    if answer=$(LC_ALL=C wget -S --https-only --max-redirect=0 -O "$2" "$url" 2>&1); then
      [ -s "$2" ]
      return
    fi
    to=$(printf '%s\n' "$answer" | sed -n 's/^ *[Ll]ocation: *\([^ ]*\).*/\1/p' | tail -n 1)
    case $to in
      https://*) url=$to ;;
      /*) url=https://$(printf '%s\n' "${url#https://}" | cut -d/ -f1)$to ;;
      *) return 1 ;;
    esac
  done
  return 1
}

# Never switches from https to http, not even by a redirection.
get() {
  case $from in
    https://*) proto='=https' ;;
    http://*) proto='=http,https' ;;
    *) cp "$from/$1" "$2"; return ;;
  esac
  if command -v curl >/dev/null 2>&1; then
    curl -fsSL --proto "$proto" --retry 2 -o "$2" "$from/$1"
  elif ! command -v wget >/dev/null 2>&1; then
    fail "curl or wget is needed"
  elif [ "$proto" = '=https' ]; then
    wget_https "$from/$1" "$2"
  else
    wget -q -O "$2" "$from/$1"
  fi
}

digest() {
  if command -v sha256sum >/dev/null 2>&1; then sha256sum <"$1"
  elif command -v shasum >/dev/null 2>&1; then shasum -a 256 <"$1"
  else openssl dgst -sha256 -r <"$1"
  fi | cut -d' ' -f1
}

work=$(mktemp -d)
trap 'rm -rf "$work" "$bin.new.$$"' EXIT
trap 'exit 130' INT TERM

get SHA256SUMS "$work/SHA256SUMS" || fail "Cannot get SHA256SUMS from $from"
# A local build has one executable, named procsup.
wanted=$(awk -v name="$asset" '$2 == name { print $1 }' "$work/SHA256SUMS")
if [ -z "$wanted" ]; then
  asset=procsup
  wanted=$(awk '$2 == "procsup" { print $1 }' "$work/SHA256SUMS")
fi
[ -n "$wanted" ] || fail "$from has nothing for this machine"
get "$asset" "$work/procsup" || fail "Cannot get $asset from $from"
[ "$(digest "$work/procsup")" = "$wanted" ] ||
  fail "$asset is damaged: its checksum is wrong; nothing was changed"

# Test it beside its destination, because other folders may be mounted noexec.
mkdir -p "$prefix/bin" || fail "Cannot write to $prefix: choose another --prefix"
cp "$work/procsup" "$bin.new.$$" || fail "Cannot write to $prefix: choose another --prefix"
chmod 755 "$bin.new.$$"
shown=$("$bin.new.$$" version) || fail "$asset does not run on this machine; nothing was changed"
mv -f "$bin.new.$$" "$bin" || fail "Cannot replace $bin"
echo "Installed $shown as $bin"

case :${PATH:-}: in
  *:"$prefix/bin":*) ;;
  *) echo "Add it to your PATH:  export PATH=\"$prefix/bin:\$PATH\"" ;;
esac
if "$bin" ping >/dev/null 2>&1; then
  echo "A daemon runs: replace it under your apps with  procsup upgrade"
fi
