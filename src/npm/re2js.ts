/** re2js, found without an import map: see src/README.md. */

export { RE2JS } from "npm:re2js@2.10.0";
