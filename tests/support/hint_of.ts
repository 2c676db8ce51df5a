/** The hint of an error, as the command line shows it. */

import { type Hint, shellHint } from "../../src/model/hint.ts";

export function hintOf({ hint }: { readonly hint?: Hint | undefined }): string | undefined {
  return hint && shellHint(hint);
}
