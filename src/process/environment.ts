/** The environment an app starts with. */

import { parseDotenv } from "../model/dotenv.ts";
import { messageOf, ProcsupError } from "../model/errors.ts";
import { baseName } from "../model/name.ts";
import type { ProcessConfig } from "../model/process_config.ts";
import { withoutNodeShim } from "../platform/node_shim.ts";
import { readForeignFile } from "../platform/foreign_file.ts";
import { isServiceVariable } from "../platform/notify.ts";
import { appUser } from "./app_user.ts";
import { type SecretCommands, secretVariables } from "./secrets.ts";

/** What one process's environment is made of. */
export interface EnvironmentSource {
  readonly name: string;
  readonly instanceIndex: number;
  readonly config: Pick<
    ProcessConfig,
    | "name"
    | "cwd"
    | "uid"
    | "gid"
    | "env"
    | "envFile"
    | "secrets"
    | "inheritEnv"
    | "incrementEnv"
    | "namespace"
  >;
}

/** Without these hardly any program runs: an app gets them also when it inherits nothing. */
const BASICS = ["PATH", "HOME", "USER", "LOGNAME", "SHELL", "LANG", "TZ", "TMPDIR"];

/**
 * What is inherited of the supervisor's own environment, the files, the configured overlay, and what
 * tells the app who it is. `PROCSUP_ID` is added by the launch.
 * Throws `invalid_config` when a file cannot be read, or a counted variable is no number.
 */
export function appEnvironment(
  inherited: Readonly<Record<string, string>>,
  source: EnvironmentSource,
  secrets: SecretCommands = "fetched",
): Record<string, string> {
  const { config, instanceIndex } = source;
  const env = {
    ...inheritedPart(inherited, config.inheritEnv),
    ...fileVariables(config),
    ...config.env,
    ...secretVariables(config, inherited, secrets),
  };
  for (const name of config.incrementEnv) {
    env[name] = String(numberOf(env[name], name, config.name) + instanceIndex);
  }
  return {
    ...env,
    PROCSUP_NAME: source.name,
    PROCSUP_BASE_NAME: baseName(source.name),
    PROCSUP_INSTANCE: String(instanceIndex),
    PROCSUP_NAMESPACE: config.namespace,
  };
}

/** What apps may inherit from this process: all but what is procsup's own, or meant for it alone. */
export function inheritedEnvironment(): Record<string, string> {
  const entries = Object.entries(withoutNodeShim(Deno.env.toObject()));
  return Object.fromEntries(
    entries.filter(([key]) => !key.startsWith("PROCSUP_") && !isServiceVariable(key)),
  );
}

function inheritedPart(
  inherited: Readonly<Record<string, string>>,
  which: boolean | readonly string[],
): Record<string, string> {
  if (which === true) return { ...inherited };
  const names = which === false ? BASICS : [...BASICS, ...which];
  return Object.fromEntries(
    names.flatMap((name) => inherited[name] === undefined ? [] : [[name, inherited[name]]]),
  );
}

function fileVariables(
  config: EnvironmentSource["config"],
): Record<string, string> {
  const { name, cwd, envFile } = config;
  const variables: Record<string, string> = {};
  for (const file of envFile) {
    const path = file.startsWith("/") ? file : `${cwd}/${file}`;
    try {
      const text = readForeignFile(path, { as: appUser(config) });
      Object.assign(variables, parseDotenv(text, path));
    } catch (error) {
      if (error instanceof ProcsupError) throw error;
      throw new ProcsupError(
        "invalid_config",
        `Cannot start "${name}": env_file "${path}" cannot be read: ${messageOf(error)}`,
      );
    }
  }
  return variables;
}

function numberOf(value: string | undefined, variable: string, name: string): number {
  if (value !== undefined && /^-?\d+$/.test(value)) return Number(value);
  throw new ProcsupError(
    "invalid_config",
    `Cannot start "${name}": increment_env names "${variable}", which is not set to a whole number`,
  );
}
