#!/bin/bash -p
# Starts procsup with the Deno that npm installed (hoisted or not, with or without its install
# script), otherwise with the one on PATH. Other shells would drop variables with names such as
# discovery.type. With -p it runs no file that BASH_ENV names.
self=$(readlink -f "$0" 2>/dev/null || realpath "$0")
package=${self%/*/*}
# The runtime does not start in a directory that was removed. Commands that need it say so.
if ! [ . -ef "$PWD" ] && [ -z "$(pwd -P 2>/dev/null)" ]; then
  export PROCSUP_REMOVED_DIRECTORY=1
  cd /
fi
run() {
  PROCSUP_EXECUTABLE=$self
  PROCSUP_USER_DENO_DIR=${DENO_DIR-}
  PROCSUP_USER_NO_UPDATE_CHECK=${DENO_NO_UPDATE_CHECK-}
  # Keep the cache in the package, so that uninstalling removes it.
  if [ -w "$package" ]; then DENO_DIR=$package/.cache; export DENO_DIR; fi
  DENO_NO_UPDATE_CHECK=1
  export PROCSUP_EXECUTABLE PROCSUP_USER_DENO_DIR PROCSUP_USER_NO_UPDATE_CHECK DENO_NO_UPDATE_CHECK
  exec "$@"
}
for deno in "$package"/node_modules/@deno/*/deno "$package"/../@deno/*/deno \
  "$package"/node_modules/deno/deno "$package"/../deno/deno "$(command -v deno)"; do
  [ -x "$deno" ] || continue
  run "$deno" run -q -A --no-prompt --no-config --no-lock --unstable-lazy-dynamic-imports \
    --v8-flags=--max-semi-space-size=1 "$package/lib/npm_entry.js" "$@"
done
printf 'error: procsup found no Deno beside it, nor on PATH\n  hint: npm install -g deno\n' >&2
exit 1
