/**
 * What is used of the YAML package, loaded by `import()` when there is YAML. The package is
 * CommonJS, and by its own name the bundler would lose the names of what it exports.
 */

export {
  type Alias,
  Document,
  type ErrorCode,
  isAlias,
  isMap,
  isScalar,
  isSeq,
  Lexer,
  type Node,
  parseDocument,
} from "yaml";
