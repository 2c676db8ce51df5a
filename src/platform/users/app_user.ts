/** The user that an app runs as, if not the supervisor's own. */

import { refuseStart } from "../../model/errors.ts";
import type { ProcessConfig } from "../../model/process_config.ts";
import { parseId } from "../../model/user_id.ts";
import { findGroup, findUser, type OtherUser } from "./as_user.ts";

export type UserConfig = Pick<ProcessConfig, "name" | "uid" | "gid">;

/**
 * The user of a configuration with `uid` or `gid`; undefined when that is our own. Throws
 * `invalid_config` when there is no such user or group, or when we are not root.
 */
export function appUser({ name, uid, gid }: UserConfig): OtherUser | undefined {
  if (uid === undefined && gid === undefined) return undefined;
  const known = uid === undefined ? { uid: Deno.uid()! } : userOf(name, uid);
  const group = gid === undefined
    ? known.gid ?? refuseStart(name, noGroup(uid))
    : groupOf(name, gid);
  if (known.uid === Deno.uid() && group === Deno.gid()) return undefined;
  if (Deno.uid() !== 0) {
    const [key, value] = uid === undefined ? ["gid", gid] : ["uid", uid];
    refuseStart(name, `${key} ${JSON.stringify(value)} needs a supervisor that runs as root`);
  }
  return { ...known, gid: group };
}

function userOf(name: string, uid: string | number): Pick<OtherUser, "uid"> & Partial<OtherUser> {
  const user = findUser(uid);
  if (user !== undefined) return user;
  const id = parseId(uid);
  if (id !== undefined) return { uid: id };
  return refuseStart(name, `uid ${JSON.stringify(uid)} is not a user of this machine`);
}

function groupOf(name: string, gid: string | number): number {
  return parseId(gid) ?? findGroup(String(gid)) ??
    refuseStart(name, `gid ${JSON.stringify(gid)} is not a group of this machine`);
}

function noGroup(uid: string | number | undefined): string {
  return `uid ${JSON.stringify(uid)} is not a user of this machine, so gid must be set too`;
}

/** Hardly any program runs without these: an app gets them even if it inherits nothing. */
const BASICS = ["PATH", "HOME", "USER", "LOGNAME", "SHELL", "LANG", "TZ", "TMPDIR"];

export type Inheriting = Pick<ProcessConfig, "inheritEnv" | "shellEnv">;

/**
 * The environment that an app starts with: inherited variables, and those that a login of its user
 * sets. From another user's shell it gets only the basics and what `inherit_env` names: the rest
 * may hold that user's secrets.
 */
export function startingEnvironment(
  supervisor: Readonly<Record<string, string>>,
  { inheritEnv, shellEnv }: Inheriting,
  user?: OtherUser,
): Record<string, string> {
  const inherited = shellEnv ?? supervisor;
  const all = inheritEnv === true && (shellEnv === undefined || user === undefined);
  const named = typeof inheritEnv === "object" ? inheritEnv : [];
  const env: Record<string, string> = {};
  for (const key of all ? Object.keys(inherited) : [...BASICS, ...named]) {
    if (inherited[key] !== undefined) env[key] = inherited[key];
  }
  const { name, home } = user ?? {};
  if (name === undefined || home === undefined) return env;
  return { ...env, HOME: home, USER: name, LOGNAME: name };
}
