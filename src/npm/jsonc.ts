/** The jsonc-parser package, bundled ahead: see scripts/built.ts. */

// @ts-types="npm:jsonc-parser@3.3.1"
export { findNodeAtLocation, type Node, parseTree, printParseErrorCode, visit } from "./jsonc.js";
