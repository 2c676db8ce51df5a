/** `procsup alerts`. */

import { HOST } from "../../model/name.ts";
import { plainText } from "../../model/plain_text.ts";
import type { AlertJson } from "../../protocol/wire.ts";
import { type Column, printList } from "../columns.ts";
import type { CommandContext } from "../command.ts";
import { connect } from "../connect.ts";
import { clockTime } from "../human.ts";

const COLUMNS: readonly Column<AlertJson>[] = [
  { header: "NAME", priority: 0, value: ({ name }) => plainText(name === HOST ? "host" : name) },
  { header: "ALERT", priority: 0, value: ({ when }) => when },
  { header: "STATE", priority: 0, value: ({ state }) => state },
  { header: "SINCE", priority: 1, value: ({ since }) => since === null ? "-" : clockTime(since) },
  { header: "VALUE", priority: 2, value: ({ value }) => value || "-" },
];

/** Lists the alerts; exit code 1 if one fires. */
export async function alerts({ output, ...context }: CommandContext): Promise<number> {
  const all = await connect({ output, ...context }).call("alerts");
  const none = "no alerts\n  hint: procsup help alerting";
  await printList(output, COLUMNS, all, none);
  return all.some(({ state }) => state === "firing") ? 1 : 0;
}
