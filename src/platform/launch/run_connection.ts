/**
 * Connections to a run. Several processes may accept on one port: instances that share a socket, an
 * old run and a new one, a stranger. So before anything is sent, the process that holds the other
 * end of the connection is looked up. On Linux only; elsewhere every connection counts as the run's.
 */

import type { ListenAddress } from "../../model/listen_address.ts";
import type { Run } from "../../model/process_state.ts";
import { sleep } from "../clock.ts";
import { isHere, listenersOn, otherEnd } from "../scan/listening_ports.ts";
import { isLinux } from "../os.ts";
import { runIdOf } from "../scan/process_environment.ts";
import {
  descriptorsOf,
  lackCheck,
  linkOf,
  type ProcessRow,
  processRow,
  processTable,
  recentProcessTable,
} from "../scan/process_table.ts";
import { treesOf } from "../scan/usage.ts";

/** What to connect to. */
export interface RunTarget {
  readonly run: Pick<Run, "runId" | "wrapperPid">;
  readonly address: ListenAddress;
  /** Whether other runs may accept from the same listening socket. */
  readonly isShared: boolean;
}

/** Another process answers, or the one that answers cannot be found out. */
export class NotTheRun extends Error {}

/** Each pause between two rounds is longer than the one before. */
const PAUSE_STEP_MS = 0.5;
const LONGEST_PAUSE_MS = 25;

/**
 * Connections at once. One at a time reaches each process that waits by plain epoll; with
 * EPOLLEXCLUSIVE the kernel wakes the same one each time, and only several at once reach the others.
 */
function atOnce(round: number): number {
  return round % 4 === 3 ? Math.min(round + 1, 8) : 1;
}

/** Pauses between looks at a connection that was not accepted yet. */
const FIRST_LOOK_MS = 1;
const LAST_LOOK_MS = 8;

/** Processes that accepted from a port, of any run, by port. */
export type KnownAcceptors = Map<number, Set<number>>;

/**
 * Resolves with a connection that a process of the run has accepted. Tries new ones until the signal
 * aborts, then throws `NotTheRun` if others accepted, else the reason of the abort. Throws the error
 * of a failed connect, and of a lack of resources.
 */
export async function connectToRun(
  target: RunTarget,
  signal: AbortSignal,
  known: KnownAcceptors = new Map(),
): Promise<Deno.TcpConn> {
  const owners = new Owners(
    target,
    known.getOrInsertComputed(target.address.port, () => new Set()),
  );
  for (let round = 0;; round++) {
    const found = await tryAtOnce(atOnce(round), target, owners, signal);
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

/**
 * A look at the descriptors of all processes takes a while: there is none while the first tries may
 * still meet the run, and then this many times longer without than with one. On a busy machine, looks
 * by each of several runs for the same neighbours would leave no time to reach anyone.
 */
const FIRST_SCAN_MS = 50;
const SCAN_PAUSE = 10;

/** Finds out whose connections are. What one look finds serves the next ones, also of other runs. */
class Owners {
  /** Why the last connection that was accepted does not count. */
  problem: NotTheRun | undefined;
  readonly #target: RunTarget;
  /** The processes of the run, at the last look. */
  #members: readonly number[];
  readonly #acceptors: Set<number>;
  #nextScan = performance.now() + FIRST_SCAN_MS;

  constructor(target: RunTarget, acceptors: Set<number>) {
    this.#target = target;
    this.#acceptors = acceptors;
    this.#members = isLinux ? membersOf(target.run.wrapperPid, recentProcessTable()) : [];
  }

  /** Whether the run accepts a connection; false also when the signal aborts before that. */
  async own(connection: Deno.TcpConn, signal: AbortSignal): Promise<boolean> {
    if (!isLinux || !isHere(connection.remoteAddr.hostname)) return true;
    const { port } = this.#target.address;
    for (let ms = FIRST_LOOK_MS; !signal.aborted; ms = Math.min(2 * ms, LAST_LOOK_MS)) {
      await sleep(ms, signal);
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
    const answered = `port ${port} is answered by another process`;
    const holder = this.#holderOf(socket);
    if (holder === undefined) {
      this.problem ??= new NotTheRun(answered);
      return false;
    }
    if (holder === "run" || (holder === "hidden" && !isShared)) return true;
    if (holder === "hidden") {
      return this.#not(
        `port ${port} is shared, and the system hides which instance answers: use type command, ` +
          "or a port of its own",
      );
    }
    return this.#not(holder === "unknown" ? answered : `${answered}, pid ${holder}`);
  }

  /** Whether no other process can accept from the port. */
  #listensAlone(): boolean {
    const { address: { port }, isShared } = this.#target;
    const sockets = isShared ? [] : listenersOn(port);
    if (sockets.length > 0) return sockets.every((socket) => this.#isOwn(socket));
    return this.#not(`port ${port} closes its connections before it is known who answers`);
  }

  /**
   * Who has a socket: the run, the pid of another process, or a process that cannot be seen.
   * Undefined if it is not the run as known so far, and it is too early to look further.
   */
  #holderOf(socket: string): "run" | "hidden" | "unknown" | number | undefined {
    const has = (pid: number) => descriptorsOf(pid).some((path) => linkOf(path) === socket);
    const check = lackCheck();
    const known = this.#members.find(has) ?? [...this.#acceptors].find(has);
    check();
    if (known !== undefined) return this.#runOf(known);
    const begun = performance.now();
    if (begun < this.#nextScan) return undefined;
    const table = processTable();
    this.#members = membersOf(this.#target.run.wrapperPid, table);
    const found = this.#members.find(has) ?? table.find(({ pid }) => has(pid))?.pid;
    check();
    const living = new Set(table.map(({ pid }) => pid));
    for (const pid of this.#acceptors) if (!living.has(pid)) this.#acceptors.delete(pid);
    this.#nextScan = performance.now() + SCAN_PAUSE * (performance.now() - begun);
    if (found !== undefined) return this.#runOf(found);
    return this.#members.some(isHidden) ? "hidden" : "unknown";
  }

  /** The run, or the pid of a process that is not of it. */
  #runOf(pid: number): "run" | number {
    this.#acceptors.add(pid);
    // A daemon has left the tree of its run.
    return this.#members.includes(pid) || runIdOf(pid) === this.#target.run.runId ? "run" : pid;
  }
}

/** The leader of a group, its other processes, and descendants that left it. */
function membersOf(pgid: number, table: readonly ProcessRow[]): number[] {
  return [pgid, ...(treesOf(new Set([pgid]), table).get(pgid) ?? []).map(({ pid }) => pid)];
}

/** A program with capabilities, or another user's in a container without CAP_SYS_PTRACE. */
function isHidden(pid: number): boolean {
  return descriptorsOf(pid).every((path) => linkOf(path) === "") &&
    processRow(pid)?.zombie === false;
}
