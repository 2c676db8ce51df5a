/**
 * Types for a configuration file that is a program, such as `procsup.config.ts`.
 *
 * ```ts
 * import { defineConfig } from "@procsup/procsup/config";
 *
 * export default defineConfig({
 *   defaults: { restart_policy: "always" },
 *   processes: {
 *     api: { script: "api.ts", instances: 2, health_check: { type: "http", url: "http://127.0.0.1:8000/" } },
 *   },
 * });
 * ```
 *
 * @module
 */

import type { ProcessConfigInput } from "./model/config_input.ts";
import type { SecretSource } from "./model/process_config.ts";
import type { WebSettings } from "./model/listen_address.ts";
import type { WebhookEvent, WebhookFormat } from "./model/webhook.ts";

export type { WebSettings } from "./model/listen_address.ts";
export type * from "./model/config_input.ts";
export type * from "./model/process_config.ts";
export { SIGNAL_NAMES, type SignalName } from "./model/signal.ts";
export type { WebhookEvent, WebhookFormat } from "./model/webhook.ts";

/** `restartPolicy` → `restart_policy`. */
export type FileKey<K extends string> = K extends `${infer When}HealthCheck` ? `${When}_healthcheck`
  : K extends `${infer Head}${infer Tail}`
    ? Head extends Lowercase<Head> ? `${Head}${FileKey<Tail>}`
    : `_${Lowercase<Head>}${FileKey<Tail>}`
  : K;

/** Converts the keys of nested objects. Maps with the user's own keys stay as they are. */
export type FileValue<T> = T extends string | number | boolean | readonly unknown[] ? T
  : string extends keyof T ? T
  : T extends object ? FileInput<T>
  : T;

/** A configuration under the names that files use. */
export type FileInput<T> = {
  readonly [K in keyof T as K extends string ? FileKey<K> : never]: FileValue<T[K]>;
};

/** A process in a file. In a map, the key is its name. */
export type FileProcess = Partial<FileInput<ProcessConfigInput>>;

/** A cron job in a file: a schedule and the keys of a process. */
export type CronFileEntry = Omit<FileProcess, "cron"> & {
  /** Cron expression of 5 or 6 fields; with 6, the first is seconds. */
  readonly schedule: string;
  /** IANA time zone; defaults to the machine's. */
  readonly timezone?: string;
  /** What to do when a run is due while the last one still runs. */
  readonly overlap?: "skip" | "kill" | "queue";
  /** Time limit of one run. */
  readonly timeout?: string | number;
  /** Whether the schedule starts it. */
  readonly enabled?: boolean;
  /** Shell command line, run with `sh -c`. */
  readonly command?: string;
};

/** A webhook in a file. In a map, the key is its name. */
export interface WebhookFileEntry {
  /** Unique name. */
  readonly name?: string;
  /** Where to post, http or https. A file that extends another one may leave it out. */
  readonly url?: string;
  /** What is sent; default `standard`, which is Standard Webhooks. */
  readonly format?: WebhookFormat;
  /** Source of the key that signs deliveries. */
  readonly secret?: SecretSource;
  /** Events to send; defaults to all. */
  readonly events?: WebhookEvent | readonly WebhookEvent[];
  /** Targets: a process is reported if it matches one of them. */
  readonly only?: string | readonly string[];
  /** Time limit of one attempt; default 10s. */
  readonly timeout?: string | number;
  /** Attempts before a delivery is given up; default 10. */
  readonly max_attempts?: number;
  /** Deliveries that may be queued; default 256. */
  readonly max_queued?: number;
  /** Delay before the second attempt; default 1s. */
  readonly retry_delay?: string | number;
}

/** An alert of the host: its condition, or an object with it. */
export type HostAlertEntry = string | {
  /** Condition, such as `load > 8 for 5m`. */
  readonly when: string;
  /** Time without the condition until it is resolved; default 1m. */
  readonly resolve_after?: string | number;
};

/** Settings of `procsup run`. */
export interface RunFileEntry {
  /** Processes whose final exit stops everything; `procsup run` exits with their code. */
  readonly critical?: string | readonly string[];
  /** Processes whose failure after their last restart stops everything, with their exit code. */
  readonly exit_on_failure?: string | readonly string[];
}

/** The keys that a profile may set. */
export interface ProfileFile {
  /** Defaults for every process. */
  readonly defaults?: FileProcess;
  /** Secret variables of every process, each with the source of its value. */
  readonly secrets?: Readonly<Record<string, SecretSource>>;
  /** Processes, as a map by name or a list of entries with a `name`. */
  readonly processes?: Readonly<Record<string, FileProcess>> | readonly FileProcess[];
  /** Cron jobs, as a map by name or a list of entries with a `name`. */
  readonly cron?: Readonly<Record<string, CronFileEntry>> | readonly CronFileEntry[];
  /** Where the dashboard and the REST API listen. */
  readonly web?: Partial<WebSettings>;
  /** Webhooks, as a map by name or a list of entries with a `name`. */
  readonly webhooks?: Readonly<Record<string, WebhookFileEntry>> | readonly WebhookFileEntry[];
  /** Conditions of the host's figures, such as `disk.free < 2GB`. */
  readonly alerts?: HostAlertEntry | readonly HostAlertEntry[];
  /** Settings of `procsup run`. The daemon ignores them: it outlives its processes. */
  readonly run?: RunFileEntry;
}

/** A configuration file. */
export interface ConfigFile extends ProfileFile {
  /** URL of the JSON Schema, for editors. */
  readonly $schema?: string;
  /** Version of the file format. */
  readonly version?: 1;
  /** Files that this one extends. */
  readonly extends?: string | readonly string[];
  /** Profiles by name; `--profile` selects one. */
  readonly profiles?: Readonly<Record<string, ProfileFile>>;
}

/** Returns `config` unchanged. It lets the compiler check and the editor complete a configuration. */
export function defineConfig(config: ConfigFile): ConfigFile {
  return config;
}
