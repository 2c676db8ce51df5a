/**
 * Connections to a run. Several processes may accept on one port: instances that share a socket, an
 * old run and a new one, a stranger. So before anything is sent, the process that holds the other
 * end of the connection is looked up. On Linux only; elsewhere every connection counts as the run's.
 */

import type { ListenAddress } from "../model/listen_address.ts";
import type { Run } from "../model/process_state.ts";
import { sleep } from "./clock.ts";
import { isHere, listenersOn, otherEnd } from "./listening_ports.ts";
import { isLinux } from "./os.ts";
import { runIdOf } from "./process_environment.ts";
import { descriptorsOf, lackCheck, linkOf, processRow, processTable } from "./process_table.ts";
import { treesOf } from "./usage.ts";

/** What to connect to. */
export interface RunTarget {
  readonly run: Pick<Run, "runId" | "wrapperPid">;
  readonly address: ListenAddress;
  /** Whether other runs may accept from the same listening socket. */
  readonly isShared: boolean;
}

/** Another process answers, or the one that answers cannot be found out. */
export class NotTheRun extends Error {}

/**
 * Most connections at once. For a single one the kernel may always wake the same process, which
 * happens with EPOLLEXCLUSIVE; several at once reach the others.
 */
const MOST_AT_ONCE = 8;

/** Each pause between two rounds is longer than the one before. */
const PAUSE_STEP_MS = 5;
const LONGEST_PAUSE_MS = 100;

/** Interval of looks at a connection that was not accepted yet. */
const LOOK_MS = 5;

/**
 * Resolves with a connection that a process of the run has accepted. Tries new ones until the signal
 * aborts, then throws `NotTheRun` if others accepted, else the reason of the abort. Throws the error
 * of a failed connect, and of a lack of resources.
 */
export async function connectToRun(target: RunTarget, signal: AbortSignal): Promise<Deno.TcpConn> {
  const owners = new Owners(target);
  for (let round = 0;; round++) {
    const found = await tryAtOnce(Math.min(2 ** round, MOST_AT_ONCE), target, owners, signal);
    if (found !== undefined) return found;
    await sleep(Math.min(round * PAUSE_STEP_MS, LONGEST_PAUSE_MS), signal);
    if (signal.aborted) throw owners.problem ?? signal.reason;
  }
}

async function tryAtOnce(
  count: number,
  { address }: RunTarget,
  owners: Owners,
  signal: AbortSignal,
): Promise<Deno.TcpConn | undefined> {
  const enough = new AbortController();
  const either = AbortSignal.any([signal, enough.signal]);
  let found: Deno.TcpConn | undefined;
  const attempts = Array.from({ length: count }, async () => {
    const connection = await Deno.connect({ ...address, signal: either });
    let isKept = false;
    try {
      isKept = await owners.own(connection, either) && found === undefined;
    } finally {
      if (!isKept) connection.close();
    }
    if (!isKept) return;
    found = connection;
    enough.abort();
  });
  const failed = (await Promise.allSettled(attempts)).find(({ status }) => status === "rejected");
  if (found === undefined && failed !== undefined && !signal.aborted) {
    throw (failed as PromiseRejectedResult).reason;
  }
  return found;
}

/** Finds out whose connections are. What one look finds serves the next ones. */
class Owners {
  /** Why the last connection that was accepted does not count. */
  problem: NotTheRun | undefined;
  readonly #target: RunTarget;
  #members: readonly number[] = [];
  /** Processes that accepted other connections. */
  readonly #strangers = new Set<number>();

  constructor(target: RunTarget) {
    this.#target = target;
  }

  /** Whether the run accepts a connection; false also when the signal aborts before that. */
  async own(connection: Deno.TcpConn, signal: AbortSignal): Promise<boolean> {
    if (!isLinux || !isHere(connection.remoteAddr.hostname)) return true;
    const { port } = this.#target.address;
    for (; !signal.aborted; await sleep(LOOK_MS, signal)) {
      const end = otherEnd(connection);
      if (end === undefined) return this.#not(`port ${port} leads to another network namespace`);
      if (end.socket !== undefined) return this.#isOwn(end.socket);
      // Closed at once, or accepted only when a request comes (TCP_DEFER_ACCEPT).
      if (!end.isEstablished) return this.#listensAlone();
    }
    return false;
  }

  #not(why: string): false {
    this.problem = new NotTheRun(why);
    return false;
  }

  #isOwn(socket: string): boolean {
    const { address: { port }, isShared } = this.#target;
    const holder = this.#holderOf(socket);
    if (holder === "run" || (holder === "hidden" && !isShared)) return true;
    if (holder === "hidden") {
      return this.#not(
        `port ${port} is shared, and the system hides which instance answers: use type command, ` +
          "or a port of its own",
      );
    }
    const who = holder === "unknown" ? "" : `, pid ${holder}`;
    return this.#not(`port ${port} is answered by another process${who}`);
  }

  /** Whether no other process can accept from the port. */
  #listensAlone(): boolean {
    const { address: { port }, isShared } = this.#target;
    const sockets = isShared ? [] : listenersOn(port);
    if (sockets.length > 0) return sockets.every((socket) => this.#isOwn(socket));
    return this.#not(`port ${port} closes its connections before it is known who answers`);
  }

  /** Who has a socket: the run, the pid of another process, or a process that cannot be seen. */
  #holderOf(socket: string): "run" | "hidden" | "unknown" | number {
    const has = (pid: number) => descriptorsOf(pid).some((path) => linkOf(path) === socket);
    if (this.#members.some(has)) return "run";
    const known = [...this.#strangers].find(has);
    if (known !== undefined) return known;
    const check = lackCheck();
    const { runId, wrapperPid } = this.#target.run;
    const table = processTable();
    const tree = treesOf(new Set([wrapperPid]), table).get(wrapperPid) ?? [];
    this.#members = [wrapperPid, ...tree.map(({ pid }) => pid)];
    if (this.#members.some(has)) return "run";
    const other = table.find(({ pid }) => has(pid));
    check();
    if (other === undefined) return this.#members.some(isHidden) ? "hidden" : "unknown";
    // A daemon has left the tree of its run.
    if (runIdOf(other.pid) === runId) return "run";
    this.#strangers.add(other.pid);
    return other.pid;
  }
}

/** A program with capabilities, or another user's in a container without CAP_SYS_PTRACE. */
function isHidden(pid: number): boolean {
  return descriptorsOf(pid).every((path) => linkOf(path) === "") &&
    processRow(pid)?.zombie === false;
}
