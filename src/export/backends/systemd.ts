/** The systemd backend, which runs `systemctl` and `journalctl`. */

import { ProcsupError } from "../../model/errors.ts";
import { basename } from "@std/path";
import { readFileIfAny, removeFile, replaceFile } from "../../platform/files/atomic_file.ts";
import { Client } from "../client.ts";
import type { Exported } from "../export_stack.ts";
import { fileOf, unitName, wantedUnits } from "../systemd.ts";
import {
  Backend,
  type Copy,
  type Explanation,
  type LogFlags,
  type Place,
  restartsText,
  type Rollout,
  shortName,
  withoutCopies,
} from "./backend.ts";

/** The folder of the administrator's units. */
const FOLDER = "/etc/systemd/system";

/** The beginning of every exported unit file. */
const HEADING = "# Written by procsup export systemd ";

const PROPERTIES = "Id,Type,Job,InvocationID,ActiveState,SubState,Result,ExecMainStatus,NRestarts";

const systemctl = new Client("systemctl");
const journalctl = new Client("journalctl");

type Properties = Readonly<Record<string, string>>;

/** True if the stack's export wrote a file. Names do not tell: "shop-eu" begins like "shop". */
export function isUnitOf(stack: string, name: string, text: string): boolean {
  if (!text.startsWith(HEADING)) return false;
  const target = `${stack}.target`;
  return name === target ||
    text.split("\n").some((line) => line === `PartOf=${target}` || line === `WantedBy=${target}`);
}

export class Systemd extends Backend {
  readonly #target = `${this.stack}.target`;

  /** Throws `forbidden` unless run by root. */
  constructor(place: Place) {
    super(place);
    if (Deno.uid() === 0) return;
    throw new ProcsupError("forbidden", `Only root changes the units of ${FOLDER}`, {
      hint: "sudo procsup … --on systemd",
    });
  }

  async up({ stack, files }: Exported): Promise<Rollout[]> {
    const paths = files.map(({ path }) => path);
    const units = stack.apps.flatMap(wantedUnits);
    const sockets = paths.filter((path) => path.endsWith(".socket"));
    await this.#refuseForeign(paths);
    await this.#remove(paths, units);
    const changed = files.filter(({ path, text }) => readFileIfAny(`${FOLDER}/${path}`) !== text);
    for (const { path, text } of changed) {
      replaceFile(`${FOLDER}/${path}`, text);
      Deno.chmodSync(`${FOLDER}/${path}`, 0o644);
    }
    await systemctl.output(["daemon-reload"]);
    await systemctl.output(["enable", "--quiet", this.#target, ...units]);
    // Stop units that have changed; then start all units that are not running.
    const stale = [...sockets, ...units].filter((unit) =>
      changed.some(({ path }) => path === fileOf(unit))
    );
    if (stale.length > 0) await systemctl.output(["stop", ...stale]);
    await systemctl.output(["start", "--no-block", ...sockets, this.#target, ...units]);
    return await this.#rollouts(units);
  }

  async list(): Promise<Copy[]> {
    const copies = await this.#copies();
    const idle = this.#files().filter((file) => file.endsWith("@.service"))
      .map((file) => shortName(this.stack, file).replace("@.service", ""))
      .filter((name) => !copies.some(({ app }) => app === name));
    return [...copies, ...idle.map((app) => withoutCopies(app))];
  }

  /** The units that are loaded, without those that only start others. */
  async #copies(): Promise<Copy[]> {
    const units = (await this.#units()).filter((unit) => !/\.(target|socket)$/.test(unit));
    return (await this.#show(units)).map((unit) => this.#copy(unit));
  }

  /** The units of an app's copies. Throws `wrong_state` for an app with a schedule. */
  async #servicesOf(app: string): Promise<string[]> {
    const names = (await this.#copies()).filter((copy) => copy.app === app).map(({ name }) => name);
    if (!names.some((name) => name.endsWith(".timer"))) {
      return names.map((name) => `${unitName(this.stack, name)}.service`);
    }
    throw new ProcsupError("wrong_state", `"${app}" has a timer, and no copies to replace`, {
      hint: "Its next run takes what was applied",
    });
  }

  async logs(apps: readonly string[], { follow, lines, print }: LogFlags): Promise<number> {
    await Promise.all(apps.map((app) => this.#rowsOf(app)));
    const units = (apps.length > 0 ? apps : ["*"]).flatMap((app) => this.#journalOf(app));
    const flags = [...follow ? ["--follow"] : [], "--no-pager", `--lines=${lines}`];
    return await journalctl.relayed([...flags, ...units], print);
  }

  async why(app: string): Promise<Explanation> {
    const copies = await this.#rowsOf(app);
    const flags = ["--no-pager", "--lines=10", "-o", "cat"];
    const journal = await journalctl.output([...flags, ...this.#journalOf(app)]);
    return { copies, history: journal.trimEnd().split("\n").toReversed() };
  }

  async scale(app: string, copies: (now: number) => number): Promise<Rollout[]> {
    const template = `${unitName(this.stack, app)}@.service`;
    if (readFileIfAny(`${FOLDER}/${template}`) === undefined) {
      await this.#rowsOf(app);
      throw new ProcsupError("wrong_state", `"${app}" is one unit, and no template of units`, {
        hint: {
          text: "Set instances to 2 or more in the file, and apply it",
          command: { verb: "up", flags: { on: "systemd" } },
        },
      });
    }
    const now = await this.#servicesOf(app);
    const count = copies(now.length);
    const wanted = Array.from({ length: count }, (_, i) => template.replace("@.", `@${i + 1}.`));
    const less = now.filter((unit) => !wanted.includes(unit));
    const more = wanted.filter((unit) => !now.includes(unit));
    if (less.length > 0) await systemctl.output(["disable", "--now", "--quiet", ...less]);
    if (more.length > 0) await systemctl.output(["enable", "--now", "--quiet", ...more]);
    return await this.#rolloutsOf(app, wanted);
  }

  async reload(app: string): Promise<Rollout[]> {
    const units = await this.#servicesOf(app);
    if (units.length === 0) await this.#rowsOf(app);
    // Otherwise systemd refuses a unit whose StartLimitBurst is used up. It may also not be loaded.
    // Without names, the command would be about all units of the machine.
    else await systemctl.ask(["reset-failed", ...units]);
    for (const unit of units) {
      await systemctl.output(["restart", unit]);
      const [rollout] = await this.#rollouts([unit]);
      if (!rollout!.ok) return [rollout!];
    }
    return await this.#rolloutsOf(app, units);
  }

  async down(): Promise<string[]> {
    const apps = new Set((await this.list()).map(({ app }) => app));
    await this.#remove([], []);
    await systemctl.output(["daemon-reload"]);
    return [...apps];
  }

  /** Stops and removes the stack's units that are not in `files` and `units`. */
  async #remove(files: readonly string[], units: readonly string[]): Promise<void> {
    // A job runs on: its timer is wanted, and starts its service.
    const isWanted = (unit: string) =>
      [unit, unit.replace(/\.service$/, ".timer")].some((one) => units.includes(one));
    const gone = (await this.#units()).filter((unit) =>
      !files.includes(fileOf(unit)) || (unit.includes("@") && !isWanted(unit))
    );
    if (gone.length > 0) {
      await systemctl.output(["disable", "--now", "--quiet", ...gone]);
      await systemctl.ask(["reset-failed", ...gone]);
    }
    for (const path of this.#files()) if (!files.includes(path)) removeFile(`${FOLDER}/${path}`);
  }

  /** Unit files that exports of the stack wrote. */
  #files(): string[] {
    return [...Deno.readDirSync(FOLDER)].filter(({ name, isFile }) =>
      isFile && isUnitOf(this.stack, name, readFileIfAny(`${FOLDER}/${name}`) ?? "")
    ).map(({ name }) => name);
  }

  /** Units of those files, with each instance of a template. */
  async #units(): Promise<string[]> {
    const units = await Promise.all(
      this.#files().map(async (file) => {
        if (!file.includes("@.")) return [file];
        const pattern = file.replace("@.", "@*.");
        const words = ["--all", "--plain", "--no-legend", "--full", pattern];
        return (await systemctl.output(["list-units", ...words])).split("\n")
          .map((line) => line.trim().split(/\s+/)[0]!).filter((unit) => unit.includes("@"));
      }),
    );
    return units.flat();
  }

  /** Throws `name_taken` if a unit of another origin, or a system target, has the same name. */
  async #refuseForeign(files: readonly string[]): Promise<void> {
    // A "network.target" in this folder would replace that of the system.
    const known = await systemctl.output([
      "show",
      "--property=FragmentPath",
      "--value",
      this.#target,
    ]);
    const paths = files.map((file) => `${FOLDER}/${file}`);
    for (const path of known.trim() === "" ? paths : [known.trim(), ...paths]) {
      const there = readFileIfAny(path);
      if (there === undefined || isUnitOf(this.stack, basename(path), there)) continue;
      throw this.foreign(`"${path}"`);
    }
  }

  async #show(units: readonly string[]): Promise<Properties[]> {
    if (units.length === 0) return [];
    const text = await systemctl.output(["show", `--property=${PROPERTIES}`, ...units]);
    return text.trim().split("\n\n").map((block) =>
      Object.fromEntries(block.split("\n").map((line) => line.split(/=(.*)/s).slice(0, 2)))
    );
  }

  #copy(unit: Properties): Copy {
    const { Id = "", ActiveState = "", SubState = "", Result, ExecMainStatus, NRestarts } = unit;
    const name = shortName(this.stack, Id).replace(/\.service$/, "");
    const why = Result === "success" ? "" : `${Result}, exit code ${ExecMainStatus}`;
    return {
      name,
      app: name.replace(/(@\d+)?(\.timer)?$/, ""),
      state: `${ActiveState} (${SubState})`,
      ready: ActiveState === "active",
      ...{ node: "-", image: "-" },
      reason: [why, restartsText(Number(NRestarts))].filter(Boolean).join(", "),
    };
  }

  async #rolloutsOf(app: string, units: readonly string[]): Promise<Rollout[]> {
    if (units.length > 0) return await this.#rollouts(units);
    return [{ app, ok: true, text: withoutCopies(app).state }];
  }

  /** Waits until units have started or failed. */
  async #rollouts(units: readonly string[]): Promise<Rollout[]> {
    // A unit is active as soon as its program runs: only at the next look has it stayed so.
    let started = new Set<string>();
    return await this.settled(async () => {
      const shown = await this.#show(units);
      const before = started;
      started = new Set(shown.map(({ InvocationID = "" }) => InvocationID));
      return shown.map((unit) => {
        const { name: app, state, reason } = this.#copy(unit);
        const active = before.has(unit.InvocationID ?? "") ? true : undefined;
        // An app that runs once is activating until it ends.
        const activating = state === "activating (start)" && unit.Type === "oneshot"
          ? active
          : undefined;
        // A unit whose job waits for another unit is inactive.
        const inactive = unit.Result === "success" && !Number(unit.Job) ? true : undefined;
        const ok = { active, activating, inactive, failed: false }[unit.ActiveState!];
        return { app, ok, state, reason };
      });
    });
  }

  /** The flags that select the lines of an app. */
  #journalOf(app: string): string[] {
    return [".service", "@*.service"].map((end) => `--unit=${unitName(this.stack, app)}${end}`);
  }

  /** The rows of an app. Throws `process_not_found` if there are none. */
  async #rowsOf(app: string): Promise<Copy[]> {
    return this.ofApp(app, await this.list(), (copy) => copy.app);
  }
}
