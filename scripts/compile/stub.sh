#!/bin/bash -p
# procsup @VERSION@, the portable form: this script, then a compressed Deno and the program. The
# script unpacks them once, into a folder of the user, and runs them from there. Other shells would
# drop variables with names such as discovery.type. With -p it runs no file that BASH_ENV names.
hash=@HASH@
case $0 in
  /*) self=$0 ;;
  */*) self=$PWD/$0 ;;
  *) self=$(command -v -- "$0") ;;
esac

# The runtime does not start in a directory that was removed. Commands that need it say so.
if ! [ . -ef "$PWD" ] && [ -z "$(pwd -P 2>/dev/null)" ]; then
  export PROCSUP_REMOVED_DIRECTORY=1
  cd /
fi

fail() { printf 'error: %s\n  hint: %s\n' "$1" "$2" >&2; exit 1; }

if [ -n "${PROCSUP_CACHE-}" ]; then cache=$PROCSUP_CACHE
elif [ -n "${XDG_CACHE_HOME-}" ]; then cache=$XDG_CACHE_HOME/procsup
elif [ -n "${HOME-}" ]; then cache=$HOME/.cache/procsup
else cache=${TMPDIR:-/tmp}/procsup-cache-$(id -u) # a service has no HOME
fi
case $cache in /*) ;; *) cache=$PWD/$cache ;; esac
own="set PROCSUP_CACHE to a folder of your own; with sudo: sudo -H"

# own_way FOLDER: we own every folder from it up to HOME or /. This is the usual case, and testing
# it starts no program.
own_way() {
  way=$1
  while [ -O "$way" ] && [ ! -L "$way" ]; do
    case $way in "${HOME-}" | /) return 0 ;; esac
    way=${way%/*}
    way=${way:-/}
  done
  return 1
}

# physical FOLDER: its path without links, even if it does not exist.
physical() (
  path=$1 rest=
  until cd -P "$path" 2>/dev/null; do
    rest=/${path##*/}$rest
    path=${path%/*}
    path=${path:-/}
  done
  path=$(pwd -P)
  printf '%s\n' "${path%/}$rest"
)

# check_way FOLDER: fails if another user could replace it or a folder above it. Sticky folders are
# safe. In a container, all users outside of it appear as one user, who also owns /.
check_way() {
  uid=$(id -u) gid=$(id -g) path=$1
  # shellcheck disable=SC2046
  set -- $(ls -ldn /)
  root=$3 private=0
  if [ "$gid" = "$uid" ]; then private=$gid; fi
  set -- /
  while [ "$path" != / ]; do
    if [ -e "$path" ]; then set -- "$@" "$path"; fi
    path=${path%/*}
    path=${path:-/}
  done
  open=$(find "$@" -prune \( ! -user 0 ! -user "$uid" ! -user "$root" -o ! -perm -1000 \
    \( -perm -0002 -o -perm -0020 ! -group 0 ! -group "$private" \) \))
  [ -z "$open" ] || fail "Refusing $cache: other users may change $open" "$own"
}

if ! own_way "$cache"; then
  cache=$(physical "$cache")
  check_way "$cache"
fi
dir=$cache/$hash

# whole DIR/*: all files exist and are unchanged. The archive gives them a time in 1970, and the
# mark a time one day later.
whole() {
  [ $# = @FILES@ ] && [ -f "$dir/.mark" ] || return 1
  for file; do
    if [ "$file" -nt "$dir/.mark" ]; then return 1; fi
  done
}

# owned FOLDER: it is ours, or root's and writable only by root. Nothing else is ever run.
owned() {
  [ -d "$1" ] && [ ! -L "$1" ] || return 1
  [ -O "$1" ] || [ -n "$(find "$1" -prune -user 0 ! -perm -0020 ! -perm -0002)" ]
}

digest() {
  if command -v sha256sum >/dev/null 2>&1; then sha256sum
  elif command -v shasum >/dev/null 2>&1; then shasum -a 256
  else openssl dgst -sha256 -r
  fi | cut -d' ' -f1
}

payload() { tail -c +@OFFSET@ "$self"; }

unpack() (
  umask 077
  mkdir -p "$cache" || fail "Cannot create $cache" "$own"
  if [ -L "$cache" ] || [ ! -O "$cache" ]; then
    fail "Refusing $cache: it is not a folder of yours" "$own"
  fi
  check_way "$cache"
  new=$(mktemp -d "$cache/.new.XXXXXX") || fail "Cannot write to $cache" "$own"
  trap 'rm -rf "$new"' EXIT
  trap 'exit 130' INT TERM HUP
  [ "$(payload | digest)" = "$hash" ] ||
    fail "$self is damaged: its checksum is wrong" "install procsup again"
  payload | @UNPACK@ | (cd "$new" && tar -xof -) ||
    fail "Cannot unpack into $cache: is the disk full?" "it takes 100 MB; or set PROCSUP_CACHE to another folder"
  "$new/deno" -V >/dev/null ||
    fail "What was unpacked into $cache does not run there: is it mounted noexec?" "$own"
  # Another process may have been faster. Move a damaged folder away as a whole: it may be in use.
  whole "$dir"/* && exit
  if [ -e "$dir" ]; then mkdir "$new/.old" && mv "$dir" "$new/.old/"; fi
  mv "$new" "$dir" && rm -rf "$dir/.old" "$dir/.new".*
)

refuse_foreign() {
  if [ -e "$dir" ] || [ -L "$dir" ]; then
    owned "$dir" || fail "Refusing $dir: it is not a folder of yours" "remove it"
  fi
}

refuse_foreign
if ! whole "$dir"/*; then
  if [ -t 2 ]; then printf 'unpacking procsup into %s, this once\n' "$cache" >&2; fi
  unpack || exit 1
  refuse_foreign
  export PROCSUP_UNPACKED=yes
fi

# A daemon without a PATH would find no program.
export PATH="${PATH:-/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin}"
export PROCSUP_EXECUTABLE="$self" PROCSUP_USER_DENO_DIR="${DENO_DIR-}"
export PROCSUP_USER_NO_UPDATE_CHECK="${DENO_NO_UPDATE_CHECK-}"
export DENO_DIR="$dir/.cache" DENO_NO_UPDATE_CHECK=1
exec "$dir/deno" run -q -A --no-prompt --no-config --no-lock --unstable-lazy-dynamic-imports \
  --v8-flags=--max-semi-space-size=1 "$dir/portable_entry.js" "$@"
exit 126
