/** The other tools, and whose a file is. */

import type { ConfigDocument } from "../document.ts";
import { compose } from "./compose.ts";
import type { Importer } from "./imported.ts";
import { pm2 } from "./pm2.ts";
import { procfile } from "./procfile.ts";
import { supervisord } from "./supervisord.ts";

/** Every tool whose files are understood. */
export const IMPORTERS: readonly Importer[] = [pm2, supervisord, procfile, compose];

/** The tool that a document is of, undefined when it is procsup's own. */
export function foreignFormat(
  document: ConfigDocument & { readonly kind: string },
): Importer | undefined {
  return IMPORTERS.find((importer) => importer.matches(document));
}
