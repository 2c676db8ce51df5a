/** The environment an app starts with. */

import { parseDotenv } from "../model/dotenv.ts";
import { messageOf, ProcsupError } from "../model/errors.ts";
import { baseName } from "../model/name.ts";
import type { ProcessConfig } from "../model/process_config.ts";
import { resolve } from "../npm/path.js";
import { withoutNodeShim } from "../platform/node_shim.ts";
import { readForeignFile } from "../platform/foreign_file.ts";
import { isServiceVariable } from "../platform/notify.ts";
import { type AppUser, appUser, startingEnvironment } from "./app_user.ts";
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
  const user = appUser(config);
  const env = {
    ...startingEnvironment(inherited, config, user),
    ...fileVariables(config, user),
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

function fileVariables(
  { name, cwd, envFile }: EnvironmentSource["config"],
  user: AppUser | undefined,
): Record<string, string> {
  const variables: Record<string, string> = {};
  for (const file of envFile) {
    const path = resolve(cwd, file);
    try {
      const text = readForeignFile(path, { as: user });
      Object.assign(variables, parseDotenv(text, path));
    } catch (error) {
      if (error instanceof ProcsupError) throw error;
      throw new ProcsupError(
        "invalid_config",
        `Cannot start "${name}": env_file "${path}" cannot be read: ${messageOf(error)}`,
        { cause: error },
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
