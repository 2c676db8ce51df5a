/** The clipboard. */

import { toast } from "../shell/notices.ts";

export async function copyText(text: string): Promise<void> {
  try {
    await navigator.clipboard.writeText(text);
    toast("done", "Copied");
  } catch {
    toast("failed", "This browser does not let the page copy");
  }
}
