/** The entries of `env_file`: a path, or a file that may be missing. */

import type { EnvFileConfig, ProcessConfig } from "./process_config.ts";

/** Every entry with whether it must exist. */
export function envFilesOf({ envFile }: Pick<ProcessConfig, "envFile">): readonly EnvFileConfig[] {
  return envFile.map((file) => typeof file === "string" ? { path: file, required: true } : file);
}
