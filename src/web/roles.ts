/** Who may do what: every verb belongs to the lowest role that may carry it out. */

/** What a token is good for; each role includes the ones before it. */
export const ROLES = ["read", "operate", "admin"] as const;

/** One of them. */
export type Role = (typeof ROLES)[number];

/** Somebody who was let in. */
export interface Principal {
  /** Name of the token; empty for the daemon's own. */
  readonly name: string;
  readonly role: Role;
  readonly via: "token" | "cookie";
  /** By what it was let in: a name for it, or a session. Told to nobody. */
  readonly credential: string;
  /** Whose share of the connections it uses: the token's name, also in a session; empty for the owner. */
  readonly account: string;
}

/** Verbs below `admin`. Whatever is not named here, new verbs included, takes an admin. */
const ROLE_OF: Readonly<Record<string, Role>> = {
  list: "read",
  status: "read",
  why: "read",
  history: "read",
  wait: "read",
  logs: "read",
  events: "read",
  cron_list: "read",
  webhook_list: "read",
  system_metrics: "read",
  system_info: "read",
  ports: "read",
  metrics: "read",
  session: "read",
  openapi: "read",
  start_existing: "operate",
  stop: "operate",
  restart: "operate",
  reload: "operate",
  scale: "operate",
  signal: "operate",
  flush: "operate",
  save: "operate",
  cron_start: "operate",
  cron_stop: "operate",
  cron_run: "operate",
};

/** The lowest role that may carry out an action. */
export function roleFor(action: string): Role {
  return Object.hasOwn(ROLE_OF, action) ? ROLE_OF[action]! : "admin";
}

/**
 * The lowest role that may carry out an action with a payload: to start what is there, or to reload
 * it as it is, takes less than to make something else of it.
 */
export function roleNeeded(action: string, payload: unknown): Role {
  const has = (key: string) => typeof payload === "object" && payload !== null && key in payload;
  if (action === "start" && (typeof payload === "string" || has("target"))) {
    return roleFor("start_existing");
  }
  if (action === "rolling_reload" && !has("config")) return roleFor("reload");
  return roleFor(action);
}

/** Whether a role may do what takes another one. */
export function mayAct(role: Role, needed: Role): boolean {
  return ROLES.indexOf(role) >= ROLES.indexOf(needed);
}
