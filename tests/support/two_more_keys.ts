/**
 * Adds a duration key and a size key to the key table. Import it before the program, so that all
 * that derives from the table has them.
 */

import type { Key } from "../../src/model/key_table.ts";
import { PROCESS_KEYS } from "../../src/model/process_keys.ts";

const more: Readonly<Record<string, Key>> = {
  linger_time: {
    type: "duration",
    default: "3s",
    live: true,
    help: "Time that it lingers",
    group: "Restarts",
    flag: { aliases: ["linger"] },
  },
  cache_room: {
    type: "size",
    least: "1KB",
    masked: "always",
    help: "Room of its cache",
    group: "Restarts",
    flag: {},
  },
};

Object.assign(PROCESS_KEYS, more);
