#!/bin/sh
# procsup @VERSION@, the portable form: this script, then a compressed Deno and the program. It unpacks
# them once, into a folder of the user's own, and runs them from there.
hash=@HASH@
case $0 in
  /*) self=$0 ;;
  */*) self=$PWD/$0 ;;
  *) self=$(command -v -- "$0") ;;
esac

fail() { printf 'error: %s\n  hint: %s\n' "$1" "$2" >&2; exit 1; }

if [ -n "${PROCSUP_CACHE-}" ]; then cache=$PROCSUP_CACHE
elif [ -n "${XDG_CACHE_HOME-}" ]; then cache=$XDG_CACHE_HOME/procsup
elif [ -n "${HOME-}" ]; then cache=$HOME/.cache/procsup
else fail "Cannot find a folder to unpack to" "set HOME or PROCSUP_CACHE"
fi
dir=$cache/$hash

# A folder that somebody else put there is never run from.
owned() { [ -d "$1" ] && [ ! -L "$1" ] && [ -O "$1" ]; }

digest() {
  if command -v sha256sum >/dev/null 2>&1; then sha256sum <"$1"
  elif command -v shasum >/dev/null 2>&1; then shasum -a 256 <"$1"
  elif command -v openssl >/dev/null 2>&1; then openssl dgst -sha256 -r <"$1"
  else fail "Cannot check what is unpacked" "install sha256sum, shasum or openssl"
  fi | cut -d' ' -f1
}

unpack() {
  umask 077
  mkdir -p "$cache" || fail "Cannot create $cache" "set PROCSUP_CACHE to a folder of your own"
  owned "$cache" || fail "Refusing $cache: it is not a folder of yours" "set PROCSUP_CACHE to another"
  chmod 700 "$cache"
  new=$cache/.new.$$
  rm -rf "$new"
  mkdir "$new" || fail "Cannot unpack into $cache" "set PROCSUP_CACHE to a folder of your own"
  trap 'rm -rf "$new"' EXIT
  trap 'exit 130' INT TERM HUP
  tail -c +@OFFSET@ "$self" >"$new/payload" || fail "Cannot read $self" "install procsup again"
  [ "$(digest "$new/payload")" = "$hash" ] ||
    fail "$self is damaged: its checksum is wrong" "install procsup again"
  @UNPACK@"$new/payload" | (cd "$new" && tar -xf -) ||
    fail "Cannot unpack into $cache: is the disk full?" "set PROCSUP_CACHE to another folder"
  rm "$new/payload"
  # Another one may have been faster; then this one lands inside of it.
  mv "$new" "$dir" && rm -rf "$dir/${new##*/}"
  trap - EXIT INT TERM HUP
}

umask_before=$(umask)
[ -d "$dir" ] || unpack
umask "$umask_before"
owned "$dir" || fail "Refusing $dir: it is not a folder of yours" "remove it"

# A daemon without a PATH would find no program.
PATH=${PATH:-/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin}
export PATH
PROCSUP_EXECUTABLE=$self
PROCSUP_USER_DENO_DIR=${DENO_DIR-}
DENO_DIR=$dir/cache
DENO_NO_UPDATE_CHECK=1
export PROCSUP_EXECUTABLE PROCSUP_USER_DENO_DIR DENO_DIR DENO_NO_UPDATE_CHECK
exec "$dir/deno" run -q -A --no-prompt --no-config --no-lock --v8-flags=--max-semi-space-size=1 \
  "$dir/portable_entry.js" "$@"
exit 126
