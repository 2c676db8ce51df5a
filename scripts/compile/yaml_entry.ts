/** The used parts of the YAML package. */

export { Document, isAlias, isMap, isScalar, isSeq, Lexer, parseDocument } from "yaml";
