/** What is used of @std/path: procsup runs where paths are POSIX's. */

export {
  basename,
  dirname,
  extname,
  fromFileUrl,
  isAbsolute,
  join,
  relative,
  resolve,
  toFileUrl,
} from "@std/path/posix";
