/** Users and groups of this machine. */

import { systemProgram } from "./as_user.ts";
import { readFileIfAny } from "./atomic_file.ts";
import { outputOf } from "./os.ts";

interface User {
  readonly uid: number;
  readonly gid: number;
  readonly name: string;
  readonly home: string;
}

/** A user by name or id, or undefined. */
export function findUser(user: string | number): User | undefined {
  const row = findRow("passwd", user);
  if (row === undefined) return undefined;
  return { name: row[0]!, uid: Number(row[2]), gid: Number(row[3]), home: row[5]! };
}

/** A group's id by its name, or undefined. */
export function findGroup(group: string | number): number | undefined {
  const row = findRow("group", group);
  return row === undefined ? undefined : Number(row[2]);
}

/** Whether a user or group is given by its number. */
export function isId(user: string | number): boolean {
  return /^\d+$/.test(String(user));
}

/** The fields of a database entry: from its file, else from `getent`. */
function findRow(database: "passwd" | "group", key: string | number): string[] | undefined {
  const field = isId(key) ? 2 : 0;
  const rows = (readFileIfAny(`/etc/${database}`) ?? "").split("\n").map((row) => row.split(":"));
  return rows.find((row) => row[field] === String(key)) ?? getent(database, String(key));
}

/** Finds users of a directory service, who are in no file. */
function getent(database: string, key: string): string[] | undefined {
  const program = systemProgram("getent");
  if (program === undefined) return undefined;
  const row = outputOf(program, ["--", database, key])?.trim();
  return row ? row.split(":") : undefined;
}
