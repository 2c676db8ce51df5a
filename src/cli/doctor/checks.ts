/** What can be wrong with a home, its daemon and this machine, and what mends it. */

import { ProcsupError } from "../../model/errors.ts";
import { readFileIfAny } from "../../platform/atomic_file.ts";
import { readDaemonRecord, STATE_FORMAT } from "../../platform/daemon_record.ts";
import { takeLock } from "../../platform/lock.ts";
import { pathsIn } from "../../platform/paths.ts";
import { readProc } from "../../platform/process_table.ts";
import { serviceManager } from "../../platform/service_manager.ts";
import { DaemonClient } from "../../protocol/daemon_client.ts";
import { otherVersion, type Peer } from "../../protocol/peer.ts";

/** One thing that was looked at. */
export interface Finding {
  readonly check: string;
  readonly status: "ok" | "warning" | "error";
  readonly says: string;
  /** A command that mends it. */
  readonly fix?: string;
}

/** Everything, in the order in which it is best read. */
export async function examine(home: string): Promise<Finding[]> {
  const there = checkHome(home);
  const daemon = there.status === "ok" ? await checkDaemon(home) : [];
  return [there, ...daemon, ...checkState(home), checkService(home), ...checkLimits()];
}

function checkHome(home: string): Finding {
  const found = (status: Finding["status"], says: string, fix?: string): Finding => ({
    check: "home",
    status,
    says,
    ...(fix === undefined ? {} : { fix }),
  });
  try {
    const info = Deno.lstatSync(home);
    if (info.isSymlink || !info.isDirectory) {
      return found("error", `${home} is not a folder`, `mv ${home} ${home}.old`);
    }
    if (info.uid !== Deno.uid()) {
      return found(
        "error",
        `${home} belongs to user ${info.uid}`,
        `sudo chown -R $(id -u) ${home}`,
      );
    }
    const open = (info.mode! & 0o077) !== 0;
    return open
      ? found("error", `others may look into ${home}`, `chmod 700 ${home}`)
      : found("ok", `${home} is private`);
  } catch (error) {
    if (!(error instanceof Deno.errors.NotFound)) throw error;
    return found("ok", `${home} is not there yet; the first start makes it`);
  }
}

async function checkDaemon(home: string): Promise<Finding[]> {
  const peers: Peer[] = [];
  try {
    const { version } = await new DaemonClient(home, (peer) => void peers.push(peer)).call("ping");
    const other = peers[0] === undefined ? undefined : otherVersion(peers[0]);
    return [
      other === undefined
        ? { check: "daemon", status: "ok", says: `it answers, version ${version}` }
        : { check: "daemon", status: "warning", says: other, fix: "procsup upgrade" },
    ];
  } catch (error) {
    if (!(error instanceof ProcsupError)) throw error;
    return [silentDaemon(home)];
  }
}

function silentDaemon(home: string): Finding {
  const { socket, lock } = pathsIn(home);
  const check = "daemon";
  if (readFileIfAny(lock) !== undefined && !isFree(lock)) {
    const pid = readDaemonRecord(home)?.pid;
    const fix = pid === undefined ? {} : { fix: `kill -KILL ${pid} && procsup daemon --detach` };
    return { check, status: "error", says: "it runs and does not answer", ...fix };
  }
  const start = "procsup daemon --detach";
  try {
    Deno.lstatSync(socket);
    return { check, status: "warning", says: "a dead one left its socket", fix: start };
  } catch {
    return { check, status: "warning", says: "none runs", fix: start };
  }
}

function isFree(path: string): boolean {
  const lock = takeLock(path);
  lock?.[Symbol.dispose]();
  return lock !== undefined;
}

function checkState(home: string): Finding[] {
  const record = readDaemonRecord(home);
  if (record !== undefined && record.state > STATE_FORMAT) {
    const says = `version ${record.version} wrote it, which is newer than this program`;
    return [{ check: "state", status: "error", says, fix: "install procsup again" }];
  }
  const broken = listed(pathsIn(home).records).filter((name) => name.includes("broken"));
  return [
    broken.length === 0 ? { check: "state", status: "ok", says: "nothing unreadable" } : {
      check: "state",
      status: "warning",
      says: `${broken.length} unreadable files were set aside: ${broken.join(", ")}`,
      fix: `ls -l ${pathsIn(home).records}`,
    },
  ];
}

function checkService(home: string): Finding {
  const check = "boot";
  const manager = serviceManager();
  const files = ["/etc/systemd/system/procsup.service", "/etc/init.d/procsup"].concat(
    [`${Deno.env.get("HOME")}/.config/systemd/user/procsup.service`],
  );
  const text = files.map(readable).find((text) => text !== undefined);
  if (text?.includes(home)) return { check, status: "ok", says: "the daemon starts at boot" };
  if (manager === undefined) return { check, status: "ok", says: "no service manager here" };
  return {
    check,
    status: "warning",
    says: `${manager} does not start the daemon of this home at boot`,
    fix: "procsup startup install",
  };
}

/** Fewer descriptors or watches than this are used up by a few dozen apps. */
const FEW_FILES = 4096;
const FEW_WATCHES = 16384;

function checkLimits(): Finding[] {
  const findings: Finding[] = [];
  const limit = /^Max open files\s+(\d+)\s+(\d+)/m.exec(readProc("/proc/self/limits") ?? "")?.[2];
  if (limit !== undefined) {
    findings.push(atLeast("open files", Number(limit), FEW_FILES, "ulimit -n 65536"));
  }
  const watches = readProc("/proc/sys/fs/inotify/max_user_watches");
  if (watches !== undefined) {
    const fix = "sudo sysctl fs.inotify.max_user_watches=524288";
    findings.push(atLeast("inotify watches", Number(watches), FEW_WATCHES, fix));
  }
  return findings;
}

function atLeast(check: string, value: number, least: number, fix: string): Finding {
  return value >= least
    ? { check, status: "ok", says: `${value}` }
    : { check, status: "warning", says: `${value}, which is little`, fix };
}

function listed(folder: string): string[] {
  try {
    return [...Deno.readDirSync(folder)].map(({ name }) => name);
  } catch {
    return [];
  }
}

function readable(path: string): string | undefined {
  try {
    return Deno.readTextFileSync(path);
  } catch {
    return undefined;
  }
}
