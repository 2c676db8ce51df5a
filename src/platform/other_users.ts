/** Where root puts files for apps that run as other users, which cannot enter the home. */

/** Removed at the next boot. */
export const FOR_OTHER_USERS = "/var/run/procsup";

/** Creates that folder with mode 0755, whatever our umask. Throws file system errors. */
export function prepareForOtherUsers(): void {
  Deno.mkdirSync(FOR_OTHER_USERS, { recursive: true });
  Deno.chmodSync(FOR_OTHER_USERS, 0o755);
}
