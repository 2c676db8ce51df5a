/** Recognizes files of other tools. */

import type { ConfigDocument } from "../document.ts";
import { isOwnName } from "../file_kind.ts";
import { compose } from "./compose.ts";
import type { Importer } from "./imported.ts";
import { pm2 } from "./pm2.ts";
import { processCompose } from "./process_compose.ts";
import { procfile } from "./procfile.ts";
import { supervisord } from "./supervisord.ts";
import { systemd } from "./systemd.ts";

export const IMPORTERS: readonly Importer[] = [
  pm2,
  supervisord,
  procfile,
  processCompose,
  compose,
  systemd,
];

/** The tool that a document belongs to; undefined for procsup. */
export function foreignFormat(
  document: ConfigDocument & { readonly kind: string },
): Importer | undefined {
  if (isOwnName(document.file)) return undefined;
  return IMPORTERS.find((importer) => importer.matches(document));
}
