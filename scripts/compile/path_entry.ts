/** What is used of @std/path: procsup runs where paths are POSIX's. */

export { basename } from "npm:deno-std@1.4.0/path/posix/basename.js";
export { dirname } from "npm:deno-std@1.4.0/path/posix/dirname.js";
export { extname } from "npm:deno-std@1.4.0/path/posix/extname.js";
export { fromFileUrl } from "npm:deno-std@1.4.0/path/posix/from_file_url.js";
export { isAbsolute } from "npm:deno-std@1.4.0/path/posix/is_absolute.js";
export { join } from "npm:deno-std@1.4.0/path/posix/join.js";
export { resolve } from "npm:deno-std@1.4.0/path/posix/resolve.js";
export { relative } from "npm:deno-std@1.4.0/path/posix/relative.js";
export { toFileUrl } from "npm:deno-std@1.4.0/path/posix/to_file_url.js";
