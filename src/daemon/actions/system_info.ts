/** `system_info`: where the daemon keeps what it knows, and how much room there is. */

import { diskOf } from "../../platform/disk.ts";
import type { SystemInfoJson } from "../../protocol/web_actions.ts";
import type { ActionContext } from "./context.ts";

/** The daemon's home. */
export async function systemInfo({ paths }: ActionContext): Promise<SystemInfoJson> {
  const { total, available } = await diskOf(paths.home);
  return {
    home: paths.home,
    socket: paths.socket,
    saved_at: modifiedAt(paths.saved),
    disk_total: total,
    disk_available: available,
  };
}

function modifiedAt(path: string): string | null {
  try {
    return Deno.statSync(path).mtime?.toISOString() ?? null;
  } catch {
    return null;
  }
}
