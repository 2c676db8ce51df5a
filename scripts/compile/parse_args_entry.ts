/** What is used of @std/cli. */

export { parseArgs } from "@std/cli/parse-args";
