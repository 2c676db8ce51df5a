/** Commands on targets, such as `stop`, `send` and `reload`, and `save`, `resurrect` and `shutdown`. */

import { hasCode, ifPossible, ProcsupError } from "../../model/errors.ts";
import { shellWord } from "../../model/shell_line.ts";
import { parseSignal } from "../../model/signal.ts";
import { lookAt } from "../../platform/files/stat.ts";
import type { CommandContext } from "../command.ts";
import { connect, withDaemonStarted } from "../connect.ts";
import { counted } from "../human.ts";
import { confirmed, printDone, writeMessage } from "../output.ts";
import { forEachTarget, printResults } from "../results.ts";

export async function stop(context: CommandContext): Promise<number> {
  await refuseFiles(context);
  const [force, timeout] = [context.flags.on("force"), context.flags.text("timeout")];
  return await forEachTarget(
    context,
    (client, target) => client.call("stop", { target, force, timeout }),
  );
}

/** Stops and deletes the targets; asks first if the target is `all`. */
export async function remove(context: CommandContext): Promise<number> {
  await refuseFiles(context);
  const all = context.positionals.includes("all");
  if (all && !confirmed(context, "Stop and delete every app?")) return 1;
  return await forEachTarget(context, (client, target) => client.call("delete", { target }));
}

/** Empties the logs of the targets. */
export function flush(context: CommandContext): Promise<number> {
  return forEachTarget(context, (client, target) => client.call("flush", { target }));
}

/** Reloads the targets and waits until they have stayed up; in batches with `--batch` or `--rollback`. */
export async function reload(context: CommandContext): Promise<number> {
  await refuseFiles(context);
  const { flags, output } = context;
  const wait = !flags.on("no-wait");
  const [batch, rollback] = [flags.text("batch"), flags.on("rollback")];
  if (batch === undefined && !rollback) {
    return await forEachTarget(
      context,
      (client, target) => client.call("reload", { target, wait }),
    );
  }
  const payload = {
    batch_size: batch && /^\d+$/.test(batch) ? Number(batch) : batch,
    wait_ready: wait,
    rollback_on_failure: rollback,
  };
  let rolledBack = false;
  const code = await forEachTarget(context, async (client, target) => {
    const data = await client.call("rolling_reload", { target, ...payload });
    rolledBack ||= data.rolled_back;
    return data;
  });
  if (rolledBack) output.note("rolled back: the old configuration is on all of them");
  return code;
}

/** Restarts the targets, with changes by flags, and waits until they have stayed up. */
export async function restart(context: CommandContext): Promise<number> {
  await refuseFiles(context);
  const { command, flags, rest } = context;
  const wait = !flags.on("no-wait");
  const given = flags.names();
  if (
    rest !== undefined ||
    command.flags.some(({ name }) => name !== "no-wait" && given.includes(name))
  ) {
    return await (await import("./start.ts")).restartChanged(context, wait);
  }
  return await forEachTarget(context, (client, target) => client.call("restart", { target, wait }));
}

/** Saves the list of processes. */
export async function save(context: CommandContext): Promise<void> {
  const client = connect(context);
  const data = await client.call("save");
  await printDone(context.output, data, `saved ${counted(data.count, "app")}`);
}

/** Restores the saved processes. Exit code 1 if some could not be restored. */
export async function resurrect(context: CommandContext): Promise<number> {
  const data = await withDaemonStarted(context, () => connect(context).call("resurrect"));
  await printDone(context.output, data, `resurrected ${counted(data.count, "app")}`);
  if (data.count === 0 && data.errors.length === 0) {
    context.output.note("every saved app exists already; to start stopped ones: procsup start all");
  }
  for (const error of data.errors) writeMessage(`✘ ${error}\n`);
  return data.errors.length === 0 ? 0 : 1;
}

/** Scales an app to N, or by +N or -N, and waits until new instances have stayed up. */
export async function scale(context: CommandContext): Promise<number> {
  const [target, instances] = context.positionals as [string, string];
  const { output } = context;
  const wait = !context.flags.on("no-wait");
  const data = await connect(context).call("scale", { target, instances, wait });
  const { results } = data;
  if (results.length === 0 || !output.isForPeople) {
    return await printResults(output, data, `${target} has that many instances already`);
  }
  return await printResults(output, { status: "started", results });
}

/** Sends a signal to the targets. */
export async function signal(context: CommandContext): Promise<number> {
  const [word, ...targets] = context.positionals as [string, ...string[]];
  const signal = signalOf(word, targets);
  const command = { ...context, positionals: targets };
  return await forEachTarget(
    command,
    (client, target) => client.call("signal", { target, signal }),
  );
}

function signalOf(word: string, targets: readonly string[]): string {
  try {
    return parseSignal(word);
  } catch (error) {
    // The words are in the wrong order: `signal api HUP`.
    const other = targets.at(-1)!;
    const isSignal = ifPossible(() => parseSignal(other)) !== undefined;
    if (!(error instanceof ProcsupError) || !isSignal) throw error;
    const order = [other, word, ...targets.slice(0, -1)].map(shellWord).join(" ");
    throw new ProcsupError(error.code, error.message, { hint: `procsup signal ${order}` });
  }
}

/** Sends its words as a line to the app. */
export async function send(context: CommandContext): Promise<number> {
  const [target, ...words] = context.positionals as [string, ...string[]];
  const text = words.join(" ") + (context.flags.on("no-newline") ? "" : "\n");
  const command = { ...context, positionals: [target] };
  return await forEachTarget(command, (client, target) => client.call("send", { target, text }));
}

/** Throws `bad_request` if a word is a configuration file in this folder. */
async function refuseFiles({ command, positionals }: CommandContext): Promise<void> {
  // Read the disk and load the file kinds only for names with a dot, which are rare.
  for (const word of positionals.filter((word) => word.includes("."))) {
    const { isConfigName } = await import("../../config/file_kind.ts");
    if (!isConfigName(word) || !lookAt(word)?.isFile) continue;
    const starts = command.name === "restart" || command.name === "reload";
    const file = shellWord(word);
    throw new ProcsupError("bad_request", `Cannot ${command.name} "${word}": it is a file`, {
      hint: starts
        ? `procsup start ${file} applies what has changed in it; for new code: procsup ${command.name} <name>`
        : `procsup down ${file} stops and deletes its apps; for some: procsup ${command.name} <name>`,
    });
  }
}

/** Stops every process and the daemon, and waits until it has released its home. Asks first. */
export async function shutdown(context: CommandContext): Promise<number> {
  if (!confirmed(context, "Stop every app and the daemon?")) return 1;
  const client = connect(context);
  const { readDaemonRecord } = await import("../../platform/daemon_record.ts");
  const daemon = context.host === undefined ? readDaemonRecord(context.home) : undefined;
  const data = await client.call("shutdown").catch((error) => unhinted(error, context));
  const code = await printResults(context.output, data, "");
  if (daemon === undefined) context.output.note("daemon stopped");
  else {
    const isOver = await (await import("../detach.ts")).untilShutDown(context.home, daemon);
    const what = isOver ? "daemon stopped" : `the daemon (pid ${daemon.pid}) has not ended yet`;
    const { service } = daemon;
    const again = service ? `; ${service} starts another one, without the apps` : "";
    context.output.note(what + again);
  }
  return code;
}

/** Replaces the hint to start a daemon with an app. */
async function unhinted(error: unknown, { host, home }: CommandContext): Promise<never> {
  if (!hasCode(error, "daemon_unreachable")) throw error;
  // The run files of another machine cannot be read here.
  const hint = host === undefined ? await unsupervisedHint(home) : undefined;
  throw new ProcsupError(error.code, error.message, { hint });
}

async function unsupervisedHint(home: string): Promise<string> {
  const { RunFiles } = await import("../../platform/launch/run_files.ts");
  const { pathsIn } = await import("../../platform/files/paths.ts");
  const files = new RunFiles(pathsIn(home).run);
  return [...files.list()].some((runId) => files.read(runId, "exit") === undefined)
    ? "Apps may run without it; to stop them: procsup daemon --detach, then procsup shutdown"
    : "There is nothing to stop";
}
