/** The webhooks of a daemon. Nothing is loaded unless one is configured. */

import { ifPossible, messageOf, ProcsupError } from "../../model/errors.ts";
import { didYouMean, nearestWord } from "../../model/nearest_word.ts";
import { exitOf, type ProcessChange } from "../../model/process_info.ts";
import type { Webhook } from "../../model/webhook.ts";
import { reportAt } from "../../model/webhook_rules.ts";
import type { Purpose } from "../../manager/check_config.ts";
import type { Supervisor } from "../../manager/supervisor.ts";
import { readFileIfAny, removeIfPossible } from "../../platform/files/atomic_file.ts";
import { sleep } from "../../platform/clock.ts";
import { isState, sealed, unsealed } from "../../platform/files/state_file.ts";
import type { WebhookJson, WebhookTestJson } from "../../protocol/wire.ts";
import type { Runner, RunnerParts } from "./runner.ts";
import type { KeyedWebhook } from "./sender.ts";
import { Turns } from "../../platform/concurrency.ts";
import { commandHint } from "../../model/hint.ts";

/** Interval of checking whether all deliveries are sent. */
const DRAIN_POLL_MS = 20;

type WebhooksParts = Omit<RunnerParts, "supervisor">;

export class Webhooks {
  readonly #parts: WebhooksParts;
  #runner: Runner | undefined;
  /** Events from before the webhooks run; undefined while none are collected. */
  #early: ProcessChange[] | undefined;
  #unlisten: (() => void) | undefined;
  #closed = false;
  /** Runs changes one at a time. */
  readonly #turns = new Turns();

  constructor(parts: WebhooksParts) {
    this.#parts = parts;
  }

  get #earlyPath(): string {
    return `${this.#parts.folder}/early`;
  }

  get #path(): string {
    return `${this.#parts.folder}/webhooks.json`;
  }

  /**
   * Returns a function that collects events until the webhooks run. Undefined without webhooks. Keeps
   * those that webhooks report on disk: if this daemon is killed before, the next one sends them.
   */
  early(): ((change: ProcessChange) => void) | undefined {
    if (!isState(this.#path)) return undefined;
    const early: ProcessChange[] = this.#early = readEarly(this.#earlyPath);
    return (change) => {
      if (this.#early !== early) return;
      early.push(change);
      if (reportAt(change.type) !== undefined) appendEarly(this.#earlyPath, change);
    };
  }

  /** Restores the webhooks of the previous daemon. Problems are only logged. */
  resume(supervisor: Supervisor): Promise<void> {
    return isState(this.#path)
      ? this.#turns.take(() => this.#resume(supervisor))
      : Promise.resolve();
  }

  async #resume(supervisor: Supervisor): Promise<void> {
    const { warn } = this.#parts;
    try {
      const [{ readRemembered }, { webhookKey }] = await Promise.all([
        import("./configured_webhooks.ts"),
        import("./sender.ts"),
      ]);
      const { value, problems } = readRemembered(this.#path);
      for (const problem of problems) warn(`Webhooks: ${problem}`);
      if (value === undefined) {
        throw new Error("the saved webhooks cannot be read: apply the configuration again");
      }
      const keyed = value.map(async (webhook) => {
        const key = await webhookKey(webhook).catch((error) => void warn(messageOf(error)));
        return { webhook, key: key ?? undefined };
      });
      await this.#run(supervisor, await Promise.all(keyed));
    } catch (error) {
      this.#early = undefined;
      warn(`Webhooks: ${messageOf(error)}`);
    }
  }

  list(): Promise<readonly Webhook[]> {
    return this.#turns.take(() => Promise.resolve(this.#keyed.map(({ webhook }) => webhook)));
  }

  /** Fetches their keys. Throws `invalid_config` if a secret cannot be read. */
  async keyed(
    webhooks: readonly Webhook[],
    purpose: Purpose = "start",
  ): Promise<KeyedWebhook[]> {
    if (webhooks.length === 0) return [];
    const { webhookKey } = await import("./sender.ts");
    return await Promise.all(
      webhooks.map(async (webhook) => ({ webhook, key: await webhookKey(webhook, purpose) })),
    );
  }

  configure(supervisor: Supervisor, webhooks: readonly KeyedWebhook[]): Promise<void> {
    return this.#turns.take(() => this.#configure(supervisor, webhooks));
  }

  async #configure(supervisor: Supervisor, webhooks: readonly KeyedWebhook[]): Promise<void> {
    if (webhooks.length === 0 && !isState(this.#path)) return;
    const { forget, remember } = await import("./configured_webhooks.ts");
    if (webhooks.length > 0) {
      remember(this.#path, webhooks.map(({ webhook }) => webhook));
      return await this.#run(supervisor, webhooks);
    }
    this.#runner?.configure([]);
    this.#stop();
    forget(this.#parts.folder);
  }

  /** Adds a webhook, or changes keys of one. Relative paths of a new one start at `home`. */
  set(
    supervisor: Supervisor,
    given: Readonly<Record<string, unknown>> & { readonly name: string },
    home: string,
  ): Promise<WebhookJson> {
    return this.#turns.take(async () => {
      const { changedWebhook } = await import("./configured_webhooks.ts");
      const all = this.#keyed;
      const at = all.findIndex(({ webhook }) => webhook.name === given.name);
      const webhook = changedWebhook(all[at]?.webhook, given, home);
      const [changed] = await this.keyed([webhook]);
      await this.#configure(supervisor, at < 0 ? [...all, changed!] : all.with(at, changed!));
      return this.status().find(({ name }) => name === webhook.name)!;
    });
  }

  /** Removes one. Throws `not_found`. */
  delete(supervisor: Supervisor, name: string): Promise<void> {
    return this.#turns.take(async () => {
      const all = this.#keyed;
      mustHave(name, all);
      await this.#configure(supervisor, all.filter(({ webhook }) => webhook.name !== name));
    });
  }

  get #keyed(): readonly KeyedWebhook[] {
    return this.#runner?.webhooks ?? [];
  }

  status(): WebhookJson[] {
    return this.#runner?.status() ?? [];
  }

  /** Sends a test message to one webhook, or to all. Throws `not_found`. */
  async test(name: string | undefined): Promise<WebhookTestJson[]> {
    await this.list();
    mustHave(name, this.#keyed);
    return await this.#runner!.test(name);
  }

  /** Waits up to `patienceMs` for pending deliveries, then stops. */
  async close(patienceMs = 0): Promise<void> {
    const deadline = performance.now() + patienceMs;
    while (this.#runner?.idle === false && performance.now() < deadline) {
      await sleep(DRAIN_POLL_MS);
    }
    this.#closed = true;
    this.#stop();
  }

  async #run(supervisor: Supervisor, webhooks: readonly KeyedWebhook[]): Promise<void> {
    if (this.#runner !== undefined) return this.#runner.configure(webhooks);
    const { Runner } = await import("./runner.ts");
    if (this.#closed) return;
    const runner = new Runner({ ...this.#parts, supervisor }, webhooks);
    this.#runner = runner;
    this.#unlisten = supervisor.events.listen((change) => runner.notify(change));
    const early = this.#early ?? [];
    this.#early = undefined;
    for (const change of early) runner.notify(change);
    removeIfPossible(this.#earlyPath);
  }

  #stop(): void {
    this.#unlisten?.();
    this.#runner?.close();
    this.#runner = this.#early = undefined;
  }
}

/** A daemon that was killed may have written half a line. So each write begins a new one. */
function appendEarly(path: string, change: ProcessChange): void {
  const text = `\n${sealed(change)}`;
  // A full disk is reported elsewhere.
  ifPossible(() => Deno.writeTextFileSync(path, text, { append: true, mode: 0o600 }));
}

function readEarly(path: string): ProcessChange[] {
  const lines = ifPossible(() => readFileIfAny(path))?.split("\n") ?? [];
  const changes = lines.flatMap((line) => ifPossible(() => unsealed(line) as ProcessChange) ?? []);
  return changes.map((change) => (
    { ...change, at: new Date(change.at), exit: exitOf(change.exit) }
  ));
}

/** Throws `not_found` if no webhook has the name, or if there are no webhooks. */
function mustHave(name: string | undefined, webhooks: readonly KeyedWebhook[]): void {
  const names = webhooks.map(({ webhook }) => webhook.name);
  if (names.length === 0) {
    throw new ProcsupError("not_found", "No webhook is configured", {
      hint: commandHint("webhook set", "<name>", { url: "<url>" }),
    });
  }
  if (name === undefined || names.includes(name)) return;
  const near = nearestWord(name, names);
  const advice = near === undefined ? `expected one of ${names.join(", ")}` : didYouMean(near);
  throw new ProcsupError("not_found", `No webhook "${name}": ${advice}`);
}
