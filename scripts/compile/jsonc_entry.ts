/** What is used of jsonc-parser. */

export { findNodeAtLocation, parseTree, printParseErrorCode, visit } from "jsonc-parser";
