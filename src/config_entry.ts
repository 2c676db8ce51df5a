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

export { defineConfig } from "./model/config_file.ts";
export type {
  ConfigFile,
  CronFileEntry,
  FileInput,
  FileKey,
  FileProcess,
  FileValue,
  ProfileFile,
  RunFileEntry,
  WebhookFileEntry,
} from "./model/config_file.ts";
export type { WebSettings } from "./model/listen_address.ts";
export * from "./model/public_config.ts";
export type { WebhookEvent, WebhookFormat } from "./model/webhook.ts";
