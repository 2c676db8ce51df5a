/**
 * The service manager of this machine, its relation to this process, and reports to systemd.
 *
 * Reports use system calls: Deno has datagram sockets only with `--unstable-net`, and no abstract
 * addresses. The `systemd-notify` program is not the main process of the unit.
 */

import { readFileIfAny } from "./files/atomic_file.ts";
import { C, openLibc, SOCK_DGRAM } from "./libc.ts";
import { isLinux, outputOf } from "./os.ts";
import { lookAt } from "./files/stat.ts";

/** The service managers with which procsup can start at boot. */
export type ServiceManager = "systemd" | "launchd" | "openrc";

/** The service manager of this machine; undefined without a known one. */
export function serviceManager(): ServiceManager | undefined {
  if (Deno.build.os === "darwin") return "launchd";
  if (!isLinux) return undefined;
  // Both may be installed: the running one counts.
  if (systemdRuns()) return "systemd";
  if (lookAt("/sbin/openrc-run") !== undefined) return "openrc";
  return ["/lib/systemd/systemd", "/usr/lib/systemd/systemd"].some(lookAt) ? "systemd" : undefined;
}

/** Whether systemd runs this machine, not only is installed: sd_booted(3). */
export function systemdRuns(): boolean {
  return lookAt("/run/systemd/system") !== undefined;
}

/** Version of systemd on this machine; 0 if unknown. */
export function systemdVersion(): number {
  return Number(/^systemd (\d+)/.exec(outputOf("systemctl", ["--version"]) ?? "")?.[1] ?? 0);
}

/** The service manager that started this process as its unit `procsup`, and restarts it. */
export function startedBy(): ServiceManager | null {
  const { env, pid } = Deno;
  if (env.get("SYSTEMD_EXEC_PID") === String(pid)) return "systemd";
  if (env.get("XPC_SERVICE_NAME") === "procsup") return "launchd";
  return env.get("RC_SVCNAME") === "procsup" ? "openrc" : null;
}

/** A service manager that works answers sooner. */
const PATIENCE_MS = 5000;

/**
 * Whether the service manager is stopping everything, not this process alone: the machine shuts
 * down, or the user's session ends.
 */
export async function everythingEnds(manager: ServiceManager | null): Promise<boolean> {
  if (manager === "systemd") return await systemdStops();
  return manager === "openrc" && await openrcStops();
}

async function systemdStops(): Promise<boolean> {
  // Only a user's service manager sets it.
  const scope = Deno.env.has("MANAGERPID") ? ["--user"] : [];
  return await said("systemctl", ...scope, "is-system-running") === "stopping";
}

/** OpenRC changes the runlevel before it stops anything; under sysvinit, ask init. */
async function openrcStops(): Promise<boolean> {
  const level = (readFileIfAny("/run/openrc/softlevel") ?? "").trim();
  if (/^(shutdown|reboot|single)$/.test(level)) return true;
  return /^\S+ [016]$/.test(await said("runlevel"));
}

/** The output of a program; empty if it is missing or too slow. */
async function said(program: string, ...args: string[]): Promise<string> {
  try {
    const { stdout } = await new Deno.Command(program, {
      args,
      stdin: "null",
      stderr: "null",
      signal: AbortSignal.timeout(PATIENCE_MS),
    }).output();
    return new TextDecoder().decode(stdout).trim();
  } catch {
    return "";
  }
}

const SYMBOLS = {
  socket: { parameters: ["i32", "i32", "i32"], result: "i32" },
  connect: { parameters: ["i32", "buffer", "u32"], result: "i32" },
  send: { parameters: ["i32", "buffer", "usize", "i32"], result: "isize" },
  close: { parameters: ["i32"], result: "i32" },
} as const satisfies Deno.ForeignLibraryInterface;

/** Longest path of a Unix socket, in bytes. */
const MAX_PATH = 107;

/** Whether a message was sent; `busy` if too many are waiting to be read. */
export type Notified = "sent" | "busy" | "nobody listens";

/** A full queue must not hold up the caller: it is full while systemd reloads its units. */
const MSG_DONTWAIT = 0x40;

/**
 * Sends `READY=1` and the like, one per line, to the socket in `NOTIFY_SOCKET` (a path, or `@` and
 * an abstract name). Returns whether it was sent, not whether it had an effect. Throws if the C
 * library cannot be loaded.
 */
export function notifyService(socket: string, state: string): Notified {
  const address = socketAddress(socket);
  if (!isLinux || address === undefined) return "nobody listens";
  const call = openLibc(SYMBOLS);
  const fd = call.socket(C.AF_UNIX, SOCK_DGRAM, 0);
  if (fd < 0) return "busy";
  try {
    if (call.connect(fd, address, address.length) !== 0) return "nobody listens";
    const message = new TextEncoder().encode(state);
    const sent = call.send(fd, message, BigInt(message.length), MSG_DONTWAIT);
    return Number(sent) === message.length ? "sent" : "busy";
  } finally {
    call.close(fd);
  }
}

/** `struct sockaddr_un` of Linux; undefined for an invalid address. */
export function socketAddress(socket: string): Uint8Array<ArrayBuffer> | undefined {
  const path = new TextEncoder().encode(socket);
  if (!/^[/@]./.test(socket) || path.length > MAX_PATH) return undefined;
  const abstract = socket.startsWith("@");
  // A path ends with a zero byte. An abstract name has none.
  const bytes = new Uint8Array(2 + path.length + (abstract ? 0 : 1));
  new DataView(bytes.buffer).setUint16(0, C.AF_UNIX, true);
  bytes.set(path, 2);
  if (abstract) bytes[2] = 0;
  return bytes;
}
