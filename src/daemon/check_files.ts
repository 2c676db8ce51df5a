/** Checks configuration files as a daemon of this user would, without one. Runs nothing they name. */

import type { LoadedConfig, LoadedProcess } from "../config/load_config.ts";
import { ConfigProblem } from "../config/problem.ts";
import { startProblems } from "../manager/check_config.ts";
import { messageOf, ProcsupError } from "../model/errors.ts";
import { lowered } from "../model/plain_text.ts";
import { Secrets } from "../platform/launch/secrets.ts";
import { pathsIn } from "../platform/files/paths.ts";
import { systemName } from "../platform/os.ts";
import { sharedCheckProblem } from "../process/launch_setup.ts";
import { readTls } from "./tls_files.ts";

export interface FileFindings {
  /** What would keep a process from starting, or a setting from taking effect. */
  readonly problems: readonly ConfigProblem[];
  /** What this environment lacks, and that of a daemon may have. */
  readonly warnings: readonly ConfigProblem[];
}

type Checked = Pick<LoadedConfig, "files" | "processes" | "settings">;

/** Checks processes of files, and the settings. `home` is that of the daemon which would start them. */
export async function findingsIn(
  loaded: Checked,
  home: string,
  system: string = systemName(),
): Promise<FileFindings> {
  const inherited = Deno.env.toObject();
  const world = { inherited, secrets: new Secrets(inherited), apps: pathsIn(home).apps };
  const found = loaded.processes.flatMap((process, index) => {
    const others = loaded.processes.slice(0, index).map(({ config }) => config);
    return startProblems(process.config, { world, others, purpose: "look" })
      .map(({ error, ofSupervisor }) => (
        { problem: placed(process, error, loaded.files[0]!), ofSupervisor }
      ));
  });
  const settings = await settingProblems(loaded);
  return {
    problems: [
      ...found.filter(({ ofSupervisor }) => !ofSupervisor).map(({ problem }) => problem),
      ...settings.problems,
    ],
    warnings: [
      ...found.filter(({ ofSupervisor }) => ofSupervisor).map(({ problem }) => problem),
      ...settings.warnings,
      ...loaded.processes.flatMap((process) => {
        const problem = sharedCheckProblem(process.config, system);
        if (problem === undefined) return [];
        const hint = "Use type: command, or give each instance a port of its own by increment_env";
        const error = new ProcsupError("invalid_config", problem, { hint });
        return placed(process, error, loaded.files[0]!);
      }),
    ],
  };
}

function placed({ config: { name }, place }: LoadedProcess, error: ProcsupError, file: string) {
  const message = lowered(error.message);
  const what = message.includes(`"${name}"`) ? message : `"${name}": ${message}`;
  return new ConfigProblem(place?.file ?? file, what, { place, hint: error.hint });
}

async function settingProblems(
  { files, settings: { web, webhooks = [] } }: Checked,
): Promise<FileFindings> {
  const problems: ConfigProblem[] = [];
  const warnings: ConfigProblem[] = [];
  const check = async (act: () => unknown, into: ConfigProblem[]) => {
    try {
      await act();
    } catch (error) {
      if (!(error instanceof ProcsupError)) throw error;
      into.push(new ConfigProblem(files[0]!, lowered(messageOf(error)), { hint: error.hint }));
    }
  };
  const { tls } = web ?? {};
  if (tls !== undefined) await check(() => readTls(tls), problems);
  for (const webhook of webhooks) {
    const { webhookKey } = await import("./webhooks/sender.ts");
    const isVariable = webhook.secret?.env !== undefined;
    await check(() => webhookKey(webhook, "look"), isVariable ? warnings : problems);
  }
  return { problems, warnings };
}
