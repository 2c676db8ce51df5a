/** The used parts of jsonc-parser. */

export { findNodeAtLocation, parseTree, printParseErrorCode, visit } from "jsonc-parser";
