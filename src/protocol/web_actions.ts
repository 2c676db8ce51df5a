/** The verbs about the web surface: what each takes and what it answers. */

/** Payload of `web_start` (spec 2.6). */
export interface WebStartPayload {
  /** `host:port`; default: where it listened last, else `127.0.0.1:9615`. */
  readonly listen?: string;
  /** An address that other machines can reach is refused without it. */
  readonly allow_remote?: boolean;
  /** More names by which browsers may call it. */
  readonly hosts?: readonly string[];
  /** How many WebSockets may be there at once; default 256. */
  readonly max_clients?: number;
}

/** Where the web surface is. Address and URL are empty while it is stopped. */
export interface WebJson {
  readonly status: "started" | "already_running" | "running" | "stopped";
  /** `host:port`. */
  readonly addr: string;
  readonly url: string;
  /** What other machines can reach; absent where none can. */
  readonly warning?: string;
}

/** A link that signs in, once. */
export interface WebLinkJson {
  readonly url: string;
  readonly expires_in_seconds: number;
}

/** A named token, without its secret. */
export interface TokenJson {
  readonly name: string;
  readonly role: "read" | "operate" | "admin";
  readonly created_at: string;
}

/** The machine and the daemon; memory in bytes. */
export interface SystemMetricsJson {
  /** All there is. */
  readonly total_memory: number;
  /** What programs hold. */
  readonly used_memory: number;
  /** What nobody uses. */
  readonly free_memory: number;
  /** What programs could get. */
  readonly available_memory: number;
  /** Size of the swap space. */
  readonly swap_total: number;
  /** How much of it is used. */
  readonly swap_used: number;
  /** Cores. */
  readonly cpu_count: number;
  /** Of all cores together. */
  readonly cpu_percent: number;
  /** Load average of a minute. */
  readonly cpu_load_1: number;
  /** Of five minutes. */
  readonly cpu_load_5: number;
  /** Of fifteen minutes. */
  readonly cpu_load_15: number;
  /** Since the machine was booted. */
  readonly uptime_seconds: number;
  /** Processes under supervision. */
  readonly process_count: number;
  /** Name of the machine. */
  readonly hostname: string;
  /** `linux` or `darwin`. */
  readonly platform: string;
  /** `x86_64` or `aarch64`. */
  readonly arch: string;
  /** The daemon itself. */
  readonly daemon: {
    readonly pid: number;
    readonly version: string;
    readonly memory_bytes: number;
    readonly uptime_seconds: number;
    /** Automatic restarts of processes in the last hour, as far as this daemon was there. */
    readonly restarts_last_hour: number;
  };
}

/** A process that listens on TCP ports, and on which. */
export interface PortsJson {
  /** Of the process. */
  readonly name: string;
  /** First 8 characters of the UUID. */
  readonly id: string;
  /** Where it listens. */
  readonly ports: readonly { readonly port: number; readonly address: string }[];
}

/** Where the daemon keeps what it knows, and how much room there is. */
export interface SystemInfoJson {
  /** The daemon's home. */
  readonly home: string;
  /** Its Unix socket. */
  readonly socket: string;
  /** When `save` wrote the list last, as ISO 8601; null when it never did. */
  readonly saved_at: string | null;
  /** Bytes of the file system that the home is on; 0 where that cannot be told. */
  readonly disk_total: number;
  /** Of those, what is left for its user. */
  readonly disk_available: number;
}

/** The rows of the action map. */
export interface WebActionMap {
  web_start: { payload: WebStartPayload | undefined; data: WebJson };
  web_stop: { payload: undefined; data: WebJson };
  web_status: { payload: undefined; data: WebJson };
  web_link: { payload: undefined; data: WebLinkJson };
  system_metrics: { payload: undefined; data: SystemMetricsJson };
  system_info: { payload: undefined; data: SystemInfoJson };
  ports: { payload: undefined; data: readonly PortsJson[] };
  token_create: {
    payload: { readonly name: string; readonly role?: string };
    data: TokenJson & { readonly token: string };
  };
  token_list: { payload: undefined; data: readonly TokenJson[] };
  token_revoke: { payload: { readonly name: string }; data: { readonly status: "revoked" } };
}
