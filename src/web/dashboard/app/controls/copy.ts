/** The clipboard. */

import { toast } from "../shell/notices.ts";

/** Puts a text there, and says so. */
export async function copyText(text: string): Promise<void> {
  try {
    await navigator.clipboard.writeText(text);
    toast("done", "Copied");
  } catch {
    toast("failed", "This browser does not let the page copy");
  }
}
