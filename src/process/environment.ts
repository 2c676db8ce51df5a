/** The environment an app starts with. */

import { parseDotenv } from "../model/dotenv.ts";
import type { FieldChange } from "../model/config_diff.ts";
import { envFilesOf } from "../model/env_files.ts";
import { ifPossible, messageOf, ProcsupError, refuseStart } from "../model/errors.ts";
import { baseName } from "../model/name.ts";
import type { ProcessConfig } from "../model/process_config.ts";
import { resolve } from "@std/path";
import type { OtherUser } from "../platform/users/as_user.ts";
import { readForeignFile } from "../platform/files/foreign_file.ts";
import { checksum } from "../platform/files/state_file.ts";
import {
  appUser,
  type Inheriting,
  startingEnvironment,
  type UserConfig,
} from "../platform/users/app_user.ts";
import { fileSecret, type Secretive } from "../platform/launch/secrets.ts";
import type { World } from "../platform/world.ts";

/** What one process's environment is made of. */
export interface EnvironmentSource {
  /** UUID. */
  readonly id: string;
  readonly name: string;
  readonly instanceIndex: number;
  readonly config:
    & Secretive
    & Pick<ProcessConfig, "env" | "envFile" | "incrementEnv" | "namespace">;
}

/**
 * Combines inherited variables (the supervisor's or a shell's), env files, configured variables,
 * secrets, and the `PROCSUP_*` variables that identify the app. The launch adds `PROCSUP_RUN_ID`.
 * Throws `invalid_config` when a file cannot be read, or a counted variable is not a number.
 */
export function appEnvironment(
  { inherited, secrets }: Pick<World, "inherited" | "secrets">,
  source: EnvironmentSource,
): Record<string, string> {
  const { config, instanceIndex } = source;
  const user = appUser(config);
  const env = {
    ...startingEnvironment(inherited, config, user),
    ...fileVariables(config, user),
    ...config.env,
    ...secrets.variables(config),
  };
  for (const name of config.incrementEnv) {
    env[name] = String(numberOf(env[name], name, config.name) + instanceIndex);
  }
  return {
    ...env,
    PROCSUP_ID: source.id,
    PROCSUP_NAME: source.name,
    PROCSUP_BASE_NAME: baseName(source.name),
    PROCSUP_INSTANCE: String(instanceIndex),
    PROCSUP_NAMESPACE: config.namespace,
  };
}

/** Checksums of what files set, by the key that names them: `env_file`, `secrets.DB_PASSWORD`. */
export type FileContents = Readonly<Record<string, string>>;

/** What the files of a configuration set now. Throws `invalid_config` if one cannot be read. */
export function fileContents(config: EnvironmentSource["config"]): FileContents {
  const contents: Record<string, string> = {};
  for (const [name, { file }] of Object.entries(config.secrets)) {
    if (file === undefined) continue;
    contents[`secrets.${name}`] = checksum(fileSecret(name, file, config));
  }
  if (config.envFile.length > 0) {
    const variables = fileVariables(config, appUser(config));
    contents.env_file = checksum(JSON.stringify(variables));
  }
  return contents;
}

/** The keys whose files now set something else than at the launch of a run, without values. */
export function contentChanges(
  config: EnvironmentSource["config"],
  launched: FileContents | undefined,
): readonly FieldChange[] {
  if (launched === undefined) return [];
  // A file that cannot be read is reported where the configuration is checked.
  const now = ifPossible(() => fileContents(config)) ?? {};
  return Object.keys(now).filter((field) =>
    launched[field] !== undefined && launched[field] !== now[field]
  )
    .map((field) => ({ field }));
}

/** Names of the variables that an app inherits from `shell_env`, where the supervisor's differ. */
export function takenFromShell(
  supervisor: Readonly<Record<string, string>>,
  config: UserConfig & Inheriting,
): string[] {
  if (config.shellEnv === undefined) return [];
  const user = appUser(config);
  const own = startingEnvironment(supervisor, { inheritEnv: config.inheritEnv }, user);
  return Object.entries(startingEnvironment(supervisor, config, user))
    .filter(([name, value]) => own[name] !== value).map(([name]) => name).sort();
}

/** The variables of the files. Throws `invalid_config` naming one that cannot be read. */
export function fileVariables(
  config: EnvironmentSource["config"],
  user: OtherUser | undefined,
): Record<string, string> {
  const { name, cwd } = config;
  const variables: Record<string, string> = {};
  for (const file of envFilesOf(config)) {
    const path = resolve(cwd, file.path);
    try {
      const text = readForeignFile(path, { as: user });
      Object.assign(variables, parseDotenv(text, path));
    } catch (error) {
      if (error instanceof ProcsupError) throw error;
      if (!file.required && error instanceof Deno.errors.NotFound) continue;
      const problem = `env_file "${path}" cannot be read: ${messageOf(error)}`;
      refuseStart(name, problem, { cause: error });
    }
  }
  return variables;
}

function numberOf(value: string | undefined, variable: string, name: string): number {
  if (value !== undefined && /^-?\d+$/.test(value)) return Number(value);
  const problem = `increment_env names "${variable}", which is not set to a whole number`;
  return refuseStart(name, problem);
}
