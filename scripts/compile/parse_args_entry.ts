/** The used parts of @std/cli. */

export { parseArgs } from "@std/cli/parse-args";
