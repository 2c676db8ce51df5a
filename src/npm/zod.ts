/** zod/mini, found without an import map: see src/README.md. */

export * from "npm:zod@4.6.7/mini";
