/** Converts PM2's static file server. */

import { isMap, mapOf, onlyGiven } from "../model/merge_patch.ts";
import { type Lost, lost, texts, words } from "./imported.ts";

type App = Readonly<Record<string, unknown>>;

/** Whether PM2 runs its static file server, which it does even if a file `serve` exists. */
export function isServe({ script }: App): boolean {
  return script === "serve";
}

/** Folder and port of the static file server, which variables override; `env` is a profile's. */
export function serveArgs(app: App, env: Record<string, unknown> = {}): string[] {
  const [folder, port] = serveWords(app) ?? [];
  const { PM2_SERVE_PATH, PM2_SERVE_PORT, PM2_SERVE_HOST, PM2_SERVE_SPA } = texts({
    ...mapOf(app.env),
    ...env,
  });
  const bind = PM2_SERVE_HOST ? ["--bind", PM2_SERVE_HOST] : [];
  const spa = PM2_SERVE_SPA === "true" ? ["--spa"] : [];
  const [path, listen] = [PM2_SERVE_PATH || folder || ".", PM2_SERVE_PORT || port || "8080"];
  return ["serve-files", path, "--port", listen, ...bind, ...spa];
}

/** The arguments of the static file server; undefined if not just a folder and a port. */
function serveWords({ args }: App): readonly string[] | undefined {
  const given = words(args);
  return given.length > 2 || given.some((word) => word.startsWith("-")) ? undefined : given;
}

export function lostOfServe(app: App): Lost[] {
  const found = Object.entries(app)
    .filter(([key, value]) => /^env(_.+)?$/.test(key) && isMap(value))
    .flatMap(([key, env]) =>
      Object.entries(env as object).map(([name, value]) => ({ key, name, value }))
    )
    .filter(({ name, value }) =>
      SERVE_LOST.test(name) && !/^(false|null|undefined|)$/.test(`${value}`)
    )
    .map(({ key, name }) => lost([key, name], "procsup serve-files has no such option"));
  const words = serveWords(app) === undefined
    ? [lost("args", "PM2's server takes a folder and a port")]
    : [];
  return [...found, ...words];
}

/** The servers in the key `static` of a file, as apps. */
export function staticApps(given: unknown): App[] {
  const list = Array.isArray(given) ? given.filter(isMap) : [];
  return list.map(({ name, port, host, path, spa, ...rest }) => ({
    name: name ?? `static-page-server-${port}`,
    script: "serve",
    env: onlyGiven({
      ...{ PM2_SERVE_PORT: port, PM2_SERVE_HOST: host, PM2_SERVE_PATH: path, PM2_SERVE_SPA: spa },
      ...Object.fromEntries(
        Object.entries(rest).map(([key, value]) => [
          `PM2_SERVE_${key.toUpperCase()}`,
          isMap(value) ? true : value,
        ]),
      ),
    }),
  }));
}

/** Variables of PM2's static file server that have no counterpart. */
const SERVE_LOST = /^PM2_SERVE_(?!PATH$|PORT$|HOST$|SPA$)/;
