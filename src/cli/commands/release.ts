/**
 * `procsup release`: fetches, builds and tests a release of an app beside the one that runs, and then
 * changes the app's configuration to it. Which release runs is part of the configuration, so that the
 * daemon replaces the runs, rolls back, and goes on after it was killed, as with every change.
 */

import { messageOf, ProcsupError, quote } from "../../model/errors.ts";
import { commandHint } from "../../model/hint.ts";
import { baseName } from "../../model/name.ts";
import type { ProcessConfig } from "../../model/process_config.ts";
import { inRelease, releasePlace } from "../../model/release_folder.ts";
import { readContexts } from "../../contexts/contexts.ts";
import { absolute, pathsIn } from "../../platform/files/paths.ts";
import { takeLock } from "../../platform/files/lock.ts";
import { appUser } from "../../platform/users/app_user.ts";
import { selectProcesses } from "../../protocol/select_processes.ts";
import type { ProcessJson } from "../../protocol/wire.ts";
import { type Column, printList, right } from "../columns.ts";
import type { CommandContext } from "../command.ts";
import { connect } from "../connect.ts";
import { reportError } from "../report_error.ts";
import { printResults } from "../results.ts";
import { heading, type ReleaseRecord, ReleaseStore } from "../release/release_store.ts";
import { fetchCommands, onlyAbsolute, parseSource, type Source } from "../release/source.ts";
import { targetNamed } from "../target_flags.ts";
import { refuseFlags, refuseMore, wordAfter } from "../unknown_word.ts";

const KEEP = 5;

/** Makes a release, or lists or undoes them; on each of several machines until one fails. */
export async function release(context: CommandContext): Promise<number> {
  const { flags, positionals: [first = "", ...more] } = context;
  const isVerb = first === "list" || first === "undo";
  const app = isVerb ? wordAfter(`release ${first}`, more[0], "an app") : first;
  refuseMore(isVerb ? `release ${first}` : "release", more, isVerb ? 1 : 0);
  if (isVerb) refuseFlags(context, `release ${first}`, ["hosts"]);
  const hosts = flags.text("hosts")?.split(",");
  const from = flags.text("from");
  const isElsewhere = hosts !== undefined || context.host !== undefined;
  // A mistake in it is reported before anything happens, on this machine.
  const source = from === undefined
    ? undefined
    : parseSource(from, isElsewhere ? onlyAbsolute : absolute);
  if (isElsewhere) return await releaseThere(context, hosts);
  const here = await placed(context, app);
  if (first === "list") return await list(context, here);
  return first === "undo" ? await undo(context, here) : await make(context, here, source);
}

type Keys = Pick<ProcessConfig, "cwd" | "entrypoint" | "uid" | "gid">;

function keysOf({ config }: ProcessJson): Keys {
  return config as unknown as Keys;
}

/** An app of this machine, and its releases. */
interface Placed {
  readonly app: string;
  readonly config: Keys;
  readonly base: string;
  /** The release that runs. */
  readonly current: number | undefined;
  readonly store: ReleaseStore;
}

async function placed(context: CommandContext, target: string): Promise<Placed> {
  const processes = selectProcesses(await connect(context).call("list"), [target]);
  const names = [...new Set(processes.map(({ name }) => baseName(name)))];
  const [app = target] = names;
  if (names.length > 1) {
    throw new ProcsupError(
      "ambiguous_target",
      `${quote(target)} is several apps: ${names.join(", ")}`,
      {
        hint: "Release them one after the other",
      },
    );
  }
  const [first] = processes;
  if (first === undefined) throw new ProcsupError("process_not_found", "There are no apps");
  const config = keysOf(first);
  const { base, release: current } = releasePlace(config.cwd);
  const user = appUser({ ...config, name: app });
  return { app, config, base, current, store: new ReleaseStore(base, user) };
}

async function make(
  context: CommandContext,
  here: Placed,
  given: Source | undefined,
): Promise<number> {
  const { flags, output } = context;
  const { app, base, current = null, store } = here;
  const keep = flags.int("keep") ?? KEEP;
  if (keep < 1) {
    throw new ProcsupError("bad_request", `Invalid --keep ${keep}: expected at least 1`);
  }
  using lock = takeLock(pathsIn(context.home).releasing);
  if (lock === undefined) {
    throw new ProcsupError("wrong_state", "Another release of this daemon is being made");
  }
  const last = store.of(app)[0]?.record;
  const from = flags.text("from") ?? last?.from;
  if (from === undefined) {
    throw new ProcsupError("bad_request", "--from is missing: this is the first release", {
      hint: commandHint("release", app, { from: "git@host:shop.git#v1" }),
    });
  }
  const source = given ?? parseSource(from, absolute);
  const [build, test] = [flags.text("build") ?? last?.build, flags.text("test") ?? last?.test];
  const number = await store.create();
  const folder = store.folder(number);
  let revision = "";
  try {
    await using log = store.output(number);
    const run = async (words: readonly string[], shown = words.join(" ")) => {
      await log.write(heading(shown));
      await store.run(words, words[0] === "sh" ? folder : base, log);
    };
    for (const words of fetchCommands(source, folder)) await run(words);
    for (const command of [build, test]) {
      if (command !== undefined) await run(["sh", "-c", command], command);
    }
    if (source.kind === "git") revision = await store.revision(number);
    const at = new Date().toISOString();
    await store.write(number, { app, from, revision, after: current, at, build, test });
  } catch (error) {
    await store.remove(number);
    const what = `Release ${number} of ${quote(app)} is not made: ${messageOf(error)}`;
    throw new ProcsupError(error instanceof ProcsupError ? error.code : "start_failed", what, {
      hint: `The app was not touched. The output is in ${folder}.log`,
    });
  }
  output.note(`release ${number}${revision && ` (${revision.slice(0, 12)})`} is in ${folder}`);
  const code = await change(context, here, number);
  if (code === 0) await prune(context, here, number, keep);
  return code;
}

/** Goes back to the release before the current one. */
async function undo(context: CommandContext, here: Placed): Promise<number> {
  const { app, current, store } = here;
  const record = current === undefined ? undefined : store.record(current);
  const before = record?.after ?? undefined;
  if (record === undefined) {
    throw new ProcsupError("wrong_state", `Cannot undo a release of ${quote(app)}: there is none`);
  }
  if (before !== undefined && store.record(before) === undefined) {
    throw new ProcsupError("wrong_state", `Cannot undo release ${current}: ${before} was removed`, {
      hint: commandHint("release list", app),
    });
  }
  return await change(context, here, before);
}

/** Changes the configuration. The daemon replaces what runs, and rolls back if that fails. */
async function change(
  context: CommandContext,
  { app, config: now }: Placed,
  release: number | undefined,
): Promise<number> {
  const client = connect(context);
  const config = { ...inRelease(now, release) };
  const done = await client.call("reconfigure", { target: app, config, wait_ready: true });
  const { results, rolled_back: rolledBack } = done;
  if (rolledBack) context.output.note(`${app}: the release before runs on all of them again`);
  const down = results.filter(({ ok, state }) =>
    ok && (state === "crashed" || state === "errored")
  );
  const again = await Promise.all(
    down.map(({ name }) => client.call("restart", { target: name, wait: true })),
  );
  const restarted = again.flatMap((bulk) => bulk.results);
  return await printResults(context.output, {
    status: done.status,
    results: results.map((one) => restarted.find(({ id }) => id === one.id) ?? one),
  }, `${app} runs that release already`);
}

async function prune(
  context: CommandContext,
  { base, current, store }: Placed,
  release: number,
  keep: number,
): Promise<void> {
  const all = await connect(context).call("list");
  const places = all.map((process) => releasePlace(keysOf(process).cwd));
  const used = places.flatMap((place) => place.base === base ? place.release ?? [] : []);
  const before = current === undefined ? [] : [current];
  await store.prune(keep, [release, ...used, ...before]);
}

interface Listed extends ReleaseRecord {
  readonly name: string;
  readonly current: boolean;
}

const COLUMNS: readonly Column<Listed>[] = [
  right("RELEASE", 0, ({ name }) => name),
  { header: "STATE", priority: 0, value: ({ current }) => current ? "current" : "" },
  { header: "REVISION", priority: 2, value: ({ revision }) => revision.slice(0, 12) },
  { header: "FROM", priority: 1, value: ({ from }) => from },
  { header: "AT", priority: 1, value: ({ at }) => at },
];

async function list({ output }: CommandContext, { app, current, store }: Placed): Promise<number> {
  const rows = store.of(app).map(({ release, record }): Listed => {
    return { name: String(release), ...record, current: release === current };
  });
  await printList(output, COLUMNS, rows, "no releases");
  return 0;
}

/** Runs the command on other machines. Stops at the first that fails. */
async function releaseThere(
  { command, flags, positionals, host, output }: CommandContext,
  hosts: readonly string[] | undefined,
): Promise<number> {
  const given = flags.names();
  const words = command.flags.filter(({ name }) => name !== "hosts" && given.includes(name))
    .flatMap(({ name }) => [`--${name}`, String(flags.text(name))]);
  const all = ["release", ...positionals, ...words, "-o", output.format];
  if (hosts === undefined) return await host!.run(all);
  const { contexts } = readContexts();
  const machines = await Promise.all(hosts.map(async (name) => {
    const { host } = await targetNamed(name, flags, contexts);
    if (host !== undefined) return host;
    throw new ProcsupError("bad_request", `Invalid --hosts: "${name}" is not a machine`);
  }));
  for (const [at, machine] of machines.entries()) {
    output.note(`${machine.machine}:`);
    const code = await machine.run(all).catch((error) => reportError(error, command.name));
    if (code === 0) continue;
    const left = machines.slice(at + 1).map(({ machine }) => machine).join(", ");
    if (left !== "") output.note(`${machine.machine} failed; not tried: ${left}`);
    return code;
  }
  return 0;
}
