/**
 * A client of a running procsup daemon, over its Unix socket or its web listener.
 *
 * ```ts ignore
 * import { Client } from "@procsup/procsup/client";
 *
 * const client = new Client(); // or: new Client({ url: "http://127.0.0.1:9615", token })
 * const api = await client.start({ name: "api", script: "/srv/api.ts" }, { wait: true });
 * for (const { name, state, pid } of await client.list()) console.log(name, state, pid);
 * for await (const { stream, line } of api.lines({ follow: true })) console.log(stream, line);
 * ```
 *
 * Permissions: for the socket of a home H `--allow-read=H --allow-write=H
 * --allow-net=unix:H/procsup.sock`, and `--allow-env=PROCSUP_HOME,HOME` unless H is given; for a URL
 * `--allow-net=HOST:PORT`. A `ProcsupError` with the code `forbidden` names what is missing.
 *
 * @module
 */

export * from "./client/client.ts";
export type * from "./client/answers.ts";
export * from "./library/public.ts";
