/**
 * procsup as a library: the supervisor of the `procsup` program, in this process. No daemon, no
 * token, no network. `close()` stops its processes. If a manager is killed, the next one on the same
 * directory adopts its processes.
 *
 * ```ts
 * import { Manager } from "@procsup/procsup";
 *
 * const logDir = await Deno.makeTempDir();
 * await using manager = await Manager.open({ logDir });
 * const greeter = await manager.start({
 *   name: "greeter",
 *   command: "sh -c 'echo hello; exec sleep 1000'",
 *   readyLog: "hello",
 * }, { wait: true });
 * for await (const { line } of greeter.lines({ follow: true })) if (line === "hello") break;
 * if (greeter.state !== "running") throw new Error("it does not run");
 * ```
 *
 * Permissions: `--allow-all` on Linux, where Deno needs it to read `/proc`; elsewhere
 * `--allow-read --allow-write --allow-run --allow-env --allow-sys --allow-net`. Without them
 * `Manager.open()` throws a `ProcsupError` with the code `forbidden` that names every missing one.
 *
 * Durations are strings with a unit (`"5s"`, `"1m30s"`) or numbers of nanoseconds. Returned figures
 * have the unit in their names (`uptimeMs`, `memBytes`).
 *
 * @module
 */

export { Manager } from "./manager/manager.ts";
export type { EventOptions, LogOptions, ManagerConfig } from "./manager/manager_options.ts";
export * from "./library/public.ts";
