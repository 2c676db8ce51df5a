/** The versions of procsup and of its protocols, and the names that they use. */

export const VERSION = "0.1.0";

/** Number of the IPC protocol; clients of another number must upgrade. */
export const PROTOCOL = 1;

export const REST_BASE = "/api/v1";

/** Header with the secret of a browser's session. */
export const SECRET_HEADER = "procsup-session";
