/** The standard library's globs, found without an import map: see src/README.md. */

// @ts-types="./glob_to_regexp.d.ts"
export { globToRegExp } from "npm:deno-std@1.4.0/path/glob_to_regexp.js";
