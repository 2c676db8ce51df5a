/** The used parts of the YAML package. */

export { Document, isAlias, isMap, isScalar, isSeq, parseDocument } from "yaml";
