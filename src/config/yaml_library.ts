/**
 * The YAML library, to be loaded by `import()` when there is YAML to read or write. It is named here
 * by static exports, because a bundler gives an `import()` of a CommonJS package a default export only.
 */

export { Document, isMap, isScalar, isSeq, parseDocument } from "yaml";
