/** croner, importable without an import map: see src/README.md. */

export { Cron } from "npm:croner@11.0.1";
