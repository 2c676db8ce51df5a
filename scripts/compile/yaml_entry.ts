/** What is used of the YAML package. */

export { Document, isMap, isScalar, isSeq, parseDocument } from "yaml";
