/** What somebody may not do, where buttons are missing. */

import { mayAdminister, session } from "../data/store.ts";

/** Role and name; nothing for an admin. */
export function RoleNote() {
  if (mayAdminister.value || session.value === undefined) return null;
  const { role, name } = session.value;
  return <p class="faint small">{role === "read" ? "Read only" : "Operator"}: {name}</p>;
}
