/** The used parts of @std/path, for POSIX paths. */

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
