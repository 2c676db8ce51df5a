/** The YAML package, bundled ahead: see scripts/built.ts. Loaded by `import()` when there is YAML. */

// @ts-types="npm:yaml@2.9.1"
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
} from "./yaml.js";
