/** The keys of `web`, `webhooks` and `alerts` in a configuration file. */

import type { KeyTable } from "./key_table.ts";
import { DEFAULT_LISTEN } from "./listen_address.ts";
import { alertType, SECRET } from "./process_keys.ts";
import { WEBHOOK_EVENTS, WEBHOOK_FORMATS } from "./webhook.ts";

/** A part of a path, other than `.` and `..`. */
const SEGMENT = "(/[A-Za-z0-9_~-][A-Za-z0-9._~-]*)";

/** `web`: where the dashboard and the REST API listen. */
export const WEB_KEYS: KeyTable = {
  listen: {
    type: "text",
    format: "listen",
    default: DEFAULT_LISTEN,
    variables: true,
    help: "host:port",
  },
  allow_remote: {
    type: "boolean",
    default: false,
    help: "Allow an address that other machines can reach",
  },
  hosts: {
    type: "list",
    of: {
      type: "text",
      pattern: ["^[^\\s/:@]+(:[0-9]{1,5})?$", "the name of a host, or host:port behind a proxy"],
    },
    maxItems: 100,
    default: [],
    variables: true,
    help: "More host names that browsers may use; links have the first one",
  },
  base_path: {
    type: "text",
    pattern: [`^(/|${SEGMENT}+)$`, "a path such as /procsup, without a slash at its end"],
    default: "/",
    help: "Path below which a proxy serves it",
  },
  trusted_proxies: {
    type: "list",
    of: { type: "text", format: "address_range" },
    maxItems: 100,
    default: [],
    variables: true,
    help: "Addresses of proxies whose X-Forwarded-For and X-Forwarded-Host hold",
  },
  tls: {
    type: "object",
    named: "TlsFiles",
    help: "Serve HTTPS with these files in PEM; plain HTTP without it",
    keys: {
      cert: { type: "path", required: true, help: "Certificate, followed by its chain" },
      key: {
        type: "path",
        required: true,
        secretFile: true,
        help: "Private key; only its owner may read it",
      },
    },
  },
  max_clients: {
    type: "int",
    min: 1,
    max: 10_000,
    default: 256,
    help: "Maximum number of open WebSockets",
  },
};

/** `alerts` at the top level of a file: those of the host. */
export const HOST_ALERT_KEYS: KeyTable = {
  alerts: {
    type: "list",
    of: alertType("host_alert"),
    maxItems: 100,
    single: true,
    default: [],
    help: "Conditions of the host's figures that events and webhooks report",
    note: "Figures: cpu, memory, load and disk.free, which is that of the home.",
  },
};

/** An entry of `webhooks`. */
export const WEBHOOK_KEYS: KeyTable = {
  name: {
    type: "text",
    format: "name",
    required: true,
    help: "Unique name",
    note: "In a map it is the key.",
  },
  url: {
    type: "text",
    format: "webhook_url",
    required: true,
    variables: true,
    masked: "always",
    flag: { value: "URL" },
    help: "http:// or https://",
  },
  format: {
    type: "choice",
    choices: WEBHOOK_FORMATS,
    default: "standard",
    flag: { value: "FORMAT" },
    help: "What is sent: standard, which is Standard Webhooks, or the format of a chat service",
  },
  secret: {
    ...SECRET,
    masked: "always",
    help: "Key of the signature: whsec_… or at least 24 bytes",
  },
  events: {
    type: "list",
    of: { type: "choice", choices: WEBHOOK_EVENTS },
    minItems: 1,
    single: true,
    default: [...WEBHOOK_EVENTS],
    flag: { name: "event", value: "EVENT" },
    help: "Events that are sent",
  },
  only: {
    type: "list",
    of: { type: "text" },
    minItems: 1,
    single: true,
    default: ["all"],
    flag: { value: "TARGET" },
    help: "Targets, one of which a process must match",
  },
  timeout: {
    type: "duration",
    least: "1ms",
    default: "10s",
    flag: {},
    help: "Time limit of one attempt",
  },
  max_attempts: {
    type: "int",
    min: 1,
    max: 100,
    default: 10,
    flag: {},
    help: "Attempts before a delivery is given up",
  },
  max_queued: {
    type: "int",
    min: 1,
    max: 10_000,
    default: 256,
    flag: {},
    help: "Deliveries that may wait; the oldest is dropped first",
  },
  retry_delay: {
    type: "duration",
    least: "1ms",
    default: "1s",
    flag: {},
    help: "Delay before the second attempt; it doubles up to 5m",
  },
};
