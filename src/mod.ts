/**
 * procsup as a library: the supervisor of the `procsup` program, in this process. No daemon, no
 * token, no network. Its processes end with `close()`; those of a manager that was killed are taken
 * up by the next one on the same directory.
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
 * Permissions: `--allow-all` on Linux, where Deno lets nothing less read `/proc`; elsewhere
 * `--allow-read --allow-write --allow-run --allow-env --allow-sys --allow-net`. Without them
 * `Manager.open()` throws a `ProcsupError` with the code `forbidden` that names every missing one.
 *
 * Durations are strings with a unit (`"5s"`, `"1m30s"`) or numbers of nanoseconds; what is given back
 * has the unit in its name (`uptimeMs`, `memBytes`).
 *
 * @module
 */

export { Manager } from "./manager/manager.ts";
export type { EventOptions, LogOptions, ManagerConfig } from "./manager/manager_options.ts";
export * from "./library/public.ts";
export type { ProcessDefaults } from "./model/config_input.ts";
