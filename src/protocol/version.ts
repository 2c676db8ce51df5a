/** The versions of procsup and of its protocols. */

export const VERSION = "0.1.0";

/** Number of the IPC protocol; clients of another number must upgrade. */
export const PROTOCOL = 1;

export const REST_BASE = "/api/v1";
