/** Types of a configuration file: its keys are in snake_case. */

import type { ProcessConfigInput } from "./config_input.ts";
import type { SecretSource } from "./process_config.ts";
import type { WebSettings } from "./listen_address.ts";
import type { WebhookEvent } from "./webhook.ts";

/** `restartPolicy` → `restart_policy`. */
export type FileKey<K extends string> = K extends `${infer When}HealthCheck` ? `${When}_healthcheck`
  : K extends `${infer Head}${infer Tail}`
    ? Head extends Lowercase<Head> ? `${Head}${FileKey<Tail>}`
    : `_${Lowercase<Head>}${FileKey<Tail>}`
  : K;

/** A map of the user's own keys is unchanged; so is a value without keys. */
export type FileValue<T> = T extends string | number | boolean | readonly unknown[] ? T
  : string extends keyof T ? T
  : T extends object ? FileInput<T>
  : T;

/** A configuration under the names that files use. */
export type FileInput<T> = {
  readonly [K in keyof T as K extends string ? FileKey<K> : never]: FileValue<T[K]>;
};

/** A process in a file. In a map its name is the key. */
export type FileProcess = Partial<FileInput<ProcessConfigInput>>;

/** A job in a file: its schedule beside the keys of a process, `command` a shell line. */
export type CronFileEntry = Omit<FileProcess, "cron"> & {
  /** 5 or 6 fields. */
  readonly schedule: string;
  /** IANA name; default: the machine's. */
  readonly timezone?: string;
  /** What happens when a run is due while the last one still runs. */
  readonly overlap?: "skip" | "kill" | "queue";
  /** Time limit of one run. */
  readonly timeout?: string | number;
  /** Start it by the schedule. */
  readonly enabled?: boolean;
  /** Run with `sh -c`. */
  readonly command?: string;
};

/** A webhook in a file. In a map its name is the key. */
export interface WebhookFileEntry {
  /** Unique. */
  readonly name?: string;
  /** http or https; a file that extends another one may leave it out. */
  readonly url?: string;
  /** Where the key of the signature comes from. */
  readonly secret?: SecretSource;
  /** Events that are sent; default: all. */
  readonly events?: WebhookEvent | readonly WebhookEvent[];
  /** Targets, one of which a process must match. */
  readonly only?: string | readonly string[];
  /** Time limit of one attempt; default 10s. */
  readonly timeout?: string | number;
  /** Attempts before a delivery is given up; default 10. */
  readonly max_attempts?: number;
  /** Deliveries that may wait; default 256. */
  readonly max_queued?: number;
  /** Delay before the second attempt; default 1s. */
  readonly retry_delay?: string | number;
}

/** Settings of `procsup run`. */
export interface RunFileEntry {
  /** Processes whose final exit stops everything; `procsup run` exits with their code. */
  readonly critical?: string | readonly string[];
}

/** What a profile may change. */
export interface ProfileFile {
  /** For every process. */
  readonly defaults?: FileProcess;
  /** Variables whose values come from elsewhere, for every process. */
  readonly secrets?: Readonly<Record<string, SecretSource>>;
  /** By name, or as a list of entries with a `name`. */
  readonly processes?: Readonly<Record<string, FileProcess>> | readonly FileProcess[];
  /** Jobs, the same way. */
  readonly cron?: Readonly<Record<string, CronFileEntry>> | readonly CronFileEntry[];
  /** Where the dashboard and the REST API listen. */
  readonly web?: Partial<WebSettings>;
  /** Webhooks for processes in trouble, by name or as a list of entries with a `name`. */
  readonly webhooks?: Readonly<Record<string, WebhookFileEntry>> | readonly WebhookFileEntry[];
  /** Only for `procsup run`: a daemon never ends with its processes. */
  readonly run?: RunFileEntry;
}

/** A whole file. */
export interface ConfigFile extends ProfileFile {
  /** Where editors find the schema. */
  readonly $schema?: string;
  /** Of the format. */
  readonly version?: 1;
  /** Files that this one builds on. */
  readonly extends?: string | readonly string[];
  /** Chosen by `--profile`. */
  readonly profiles?: Readonly<Record<string, ProfileFile>>;
}

/** The file as it is, checked by the compiler and completed by the editor. */
export function defineConfig(config: ConfigFile): ConfigFile {
  return config;
}
