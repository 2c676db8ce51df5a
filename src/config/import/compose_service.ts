/** Health checks of compose services, and notes on their parts that are not supported. */

import { isMap } from "../../model/merge_patch.ts";
import { shellWord, singleQuoted } from "../../model/shell_line.ts";
import { portText } from "./images.ts";
import {
  convertedKeys,
  handled,
  type ImportTable,
  type Keys,
  reference,
  unknownInside,
} from "./imported.ts";

/** A variable that compose fills in, or a `$$`. */
const VARIABLE = /\$(?:(\$)|([A-Za-z_]\w*)|\{([A-Za-z_]\w*)(?::?([-?+])([^}]*))?\})/g;

/** A health check. In compose it does not restart the service. `inside` runs it in the container. */
export function health(value: unknown, inside: string): Keys {
  const test = testOf(value);
  if (test === undefined || !isMap(value)) return {};
  return {
    health_check: {
      type: "command",
      command: commandOf(test, inside),
      interval: orDefault(value.interval, "30s"),
      timeout: orDefault(value.timeout, "30s"),
      retries: orDefault(value.retries, 3),
      ...(value.start_period === undefined ? {} : { grace_period: value.start_period }),
      on_failure: "none",
    },
  };
}

/** Docker takes zero as not given. */
function orDefault(value: unknown, otherwise: unknown): unknown {
  return value === undefined || value === null || /^0+[a-z]*$/.test(String(value))
    ? otherwise
    : value;
}

/** The variables that compose fills in: the command of a health check has those of the app. */
export function healthVariables(value: unknown): Record<string, string> {
  const found = [...(testOf(value) ?? []).join(" ").matchAll(VARIABLE)];
  return Object.fromEntries(
    found.filter(([, dollar]) => dollar === undefined).map((
      [, , bare, name = bare, sign, text],
    ) => [
      name!,
      sign === "?"
        ? reference(name!)
        : reference(name!, sign === "-" && !text!.includes("$") ? text : ""),
    ]),
  );
}

function testOf(value: unknown): readonly string[] | undefined {
  if (!isMap(value) || value.disable === true || value.test === undefined) return undefined;
  const test = Array.isArray(value.test)
    ? value.test.map(String)
    : ["CMD-SHELL", String(value.test)];
  return test[0] === "NONE" ? undefined : test;
}

function commandOf([form, ...words]: readonly string[], inside: string): string {
  if (form !== "CMD-SHELL") return inside + words.map(quoted).join(" ");
  const line = words.join(" ");
  return inside === "" ? line.replaceAll("$$", "$") : `${inside}sh -c ${quoted(line)}`;
}

/** A word for the shell, which fills in what compose would. */
function quoted(word: string): string {
  let [at, text] = [0, ""];
  for (const match of word.matchAll(VARIABLE)) {
    if (match[1] !== undefined) continue;
    text += literal(word.slice(at, match.index)) + `"${match[0]}"`;
    at = match.index + match[0].length;
  }
  return at === 0 ? shellWord(word.replaceAll("$$", "$")) : text + literal(word.slice(at));
}

function literal(text: string): string {
  return text === "" ? "" : singleQuoted(text.replaceAll("$$", "$"));
}

type Service = Readonly<Record<string, unknown>>;

const KEYS: ImportTable<unknown, undefined> = {
  ...handled("build", "image", "command", "entrypoint", "environment", "env_file", "working_dir"),
  ...handled("depends_on", "restart", "healthcheck", "stop_signal", "stop_grace_period", "user"),
  ...handled("init", "container_name", "mem_limit", "cpus", "pids_limit", "ports", "expose"),
  ...handled("volumes", "deploy", "scale", "tty", "stdin_open"),
  networks: "processes share the network of this machine",
  logging: "procsup logs",
  profiles: "profiles, or autostart: false",
  ulimits: "limits",
};

/** Keys of nested maps that are converted. */
const NESTED: Readonly<Record<string, readonly string[]>> = {
  "deploy": ["replicas", "restart_policy", "resources"],
  "deploy.resources": ["limits"],
  "deploy.resources.limits": ["memory", "cpus", "pids"],
  "deploy.restart_policy": ["condition"],
  "healthcheck": ["test", "interval", "timeout", "retries", "start_period", "disable"],
};

/** One note for each part that is not converted; a service in a container has its ports and volumes. */
export function lost(service: Service, isInContainer: boolean): string[] {
  const { notes } = convertedKeys(KEYS, Object.entries(service), undefined);
  const files = [service.env_file ?? []].flat().filter(isMap);
  return [
    ...notes,
    ...(isInContainer ? [] : lostOutside(service)),
    ...unknownInside(service, NESTED),
    ...files.filter(({ required }) => required === false)
      .map(({ path }) => `env_file ${path}: it must exist, although compose does not require it`),
    ...(/\$\{\w+:?\+/.test(JSON.stringify(service).replaceAll("$$", ""))
      ? ["${NAME:+text}: stays as written, procsup has no such form"]
      : []),
  ];
}

/** Notes on what only a container has. */
function lostOutside({ ports, volumes, user }: Service): string[] {
  const list = (value: unknown): unknown[] => Array.isArray(value) ? value : [];
  return [
    ...(user === undefined ? [] : [lostUser(user)]),
    ...list(ports).map(portText).flatMap((port) => {
      const [, at, outside, inside] = /^(?:(.*):)?([^:]+):([^:/]+)(?:\/\w+)?$/.exec(port) ?? [];
      if (at === undefined && outside === inside) return [];
      return `ports ${port}: the process listens on its own port, ${inside}`;
    }),
    ...list(volumes).map((volume) =>
      `volumes ${isMap(volume) ? volume.target : volume}: the paths are those of this machine`
    ),
  ];
}

export function lostUser(user: unknown): string {
  return `user ${user}: uid, if it exists here`;
}
