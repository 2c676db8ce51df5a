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

/** Others that share the socket took every connection, which says nothing about the run. */
export class NotMet extends NotTheRun {}

/** Each pause between two rounds is longer than the one before. */
const PAUSE_STEP_MS = 2;
const LONGEST_PAUSE_MS = 25;

/** Between rounds that are late, so that others get the processor. */
const LEAST_PAUSE_MS = 1;

/**
 * Connections at once. One at a time reaches each process that waits by plain epoll; with
 * EPOLLEXCLUSIVE the kernel wakes the same one each time, and only several at once reach the others.
 */
function atOnce(round: number): number {
  return round % 4 === 3 ? Math.min(round + 1, 8) : 1;
}

/** Connections to a shared socket that are not decided yet. */
const MOST_OPEN = 16;

/** Pauses between looks at a connection that was not accepted yet. */
const FIRST_LOOK_MS = 1;
const LAST_LOOK_MS = 8;

/** The descriptors of processes by pid, read as they are needed. */
type Look = Map<number, ReadonlySet<string>>;

/** Delay of a look: many connections are accepted at once, and share one. */
const LOOK_DELAY_MS = 2;

/** Checks of runs that may accept from one port. */
class PortMeetings {
  /** Processes that accepted from it, of any run. */
  readonly acceptors = new Set<number>();
  /** Those in progress. */
  readonly waiting = new Set<Waiting>();
  #next: Promise<Look> | undefined;

  /** A look that begins after this call, so that it has what was accepted before. */
  look(): Promise<Look> {
    return this.#next ??= sleep(LOOK_DELAY_MS).then(() => {
      this.#next = undefined;
      return new Map();
    });
  }
}

/** A check that waits for its run to accept. */
interface Waiting {
  readonly hostname: string;
  readonly owners: Pick<Owners, "holds">;
  /** Whether it takes a connection that its run has accepted. */
  take(connection: Deno.TcpConn): boolean;
}

/** What the checks of all runs share, by port. */
export type Meetings = Map<number, PortMeetings>;

/**
 * Resolves with a connection that a process of the run has accepted. Tries new ones until the signal
 * aborts, then throws `NotTheRun` if others accepted (`NotMet` if they may), else the reason of the
 * abort. Throws the error of a failed connect, and of a lack of resources.
 */
export async function connectToRun(
  target: RunTarget,
  signal: AbortSignal,
  meetings: Meetings = new Map(),
): Promise<Deno.TcpConn> {
  const { hostname, port } = target.address;
  const met = meetings.getOrInsertComputed(port, () => new PortMeetings());
  const owners = new Owners(target, met);
  const enough = new AbortController();
  const either = AbortSignal.any([signal, enough.signal]);
  let found: Deno.TcpConn | undefined;
  let failure: { readonly error: unknown } | undefined;
  const take = (connection: Deno.TcpConn) => {
    if (either.aborted) return false;
    found = connection;
    enough.abort();
    return true;
  };
  const self = { hostname, owners, take };
  const attempt = async () => {
    try {
      await connectOnce(target, self, met, either);
    } catch (error) {
      if (either.aborted) return;
      failure = { error };
      enough.abort();
    }
  };
  met.waiting.add(self);
  const open = new Set<Promise<void>>();
  let due = performance.now();
  for (let round = 0; !either.aborted; round++) {
    for (let rest = Math.min(atOnce(round), MOST_OPEN - open.size); rest > 0; rest--) {
      const over = attempt().finally(() => open.delete(over));
      open.add(over);
    }
    due += Math.min((round + 1) * PAUSE_STEP_MS, LONGEST_PAUSE_MS);
    // Who accepts is decided anew for each connection: on a busy machine a look at one may take long.
    if (!target.isShared) await Promise.all(open);
    await sleep(Math.max(due - performance.now(), LEAST_PAUSE_MS), either);
  }
  met.waiting.delete(self);
  await Promise.all(open);
  if (found !== undefined) return found;
  throw failure === undefined ? owners.problem ?? signal.reason : failure.error;
}

/** Connects, and hands the connection to the check of the run that accepts it, if there is one now. */
async function connectOnce(
  { address }: RunTarget,
  { owners, take }: Waiting & { readonly owners: Owners },
  met: PortMeetings,
  signal: AbortSignal,
): Promise<void> {
  const connection = await Deno.connect({ ...address, signal });
  let isTaken = false;
  try {
    isTaken = await owners.own(connection, signal) && take(connection);
    if (isTaken || met.waiting.size === 0) return;
    const socket = otherEnd(connection)?.socket;
    if (socket === undefined) return;
    const look = await met.look();
    isTaken = [...met.waiting].some(({ hostname, owners, take }) =>
      hostname === address.hostname && owners.holds(socket, look) && take(connection)
    );
  } finally {
    if (!isTaken) connection.close();
  }
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
  readonly #met: PortMeetings;
  #nextScan = performance.now() + FIRST_SCAN_MS;

  constructor(target: RunTarget, met: PortMeetings) {
    this.#target = target;
    this.#met = met;
    const { wrapperPid, runId } = target.run;
    // A daemon has left the tree of its run.
    const daemons = [...met.acceptors].filter((pid) => runIdOf(pid) === runId);
    this.#members = isLinux ? [...membersOf(wrapperPid, recentProcessTable()), ...daemons] : [];
  }

  /** Whether the run accepts a connection; false also when the signal aborts before that. */
  async own(connection: Deno.TcpConn, signal: AbortSignal): Promise<boolean> {
    if (!isLinux || !isHere(connection.remoteAddr.hostname)) return true;
    const { address: { port }, isShared } = this.#target;
    for (let ms = FIRST_LOOK_MS; !signal.aborted; ms = Math.min(2 * ms, LAST_LOOK_MS)) {
      await sleep(ms, signal);
      const end = otherEnd(connection);
      if (end === undefined) return this.#not(`port ${port} leads to another network namespace`);
      if (end.socket !== undefined) {
        return this.#isOwn(end.socket, isShared ? await this.#met.look() : new Map());
      }
      // Closed at once, or accepted only when a request comes (TCP_DEFER_ACCEPT).
      if (!end.isEstablished) return this.#listensAlone();
    }
    return false;
  }

  /** Whether a process of the run, as far as they are known, has a socket. */
  holds(socket: string, look: Look): boolean {
    const member = this.#members.find((pid) => look.getOrInsertComputed(pid, linksOf).has(socket));
    if (member !== undefined) this.#met.acceptors.add(member);
    return member !== undefined;
  }

  #not(why: string): false {
    this.problem = new NotTheRun(why);
    return false;
  }

  #answered(by = ""): false {
    const { address: { port }, isShared } = this.#target;
    const why = `port ${port} is answered by another process${by}`;
    if (!isShared) return this.#not(why);
    this.problem = new NotMet(`${why}: no connection of the check reached this instance`);
    return false;
  }

  #isOwn(socket: string, look: Look): boolean {
    const { address: { port }, isShared } = this.#target;
    const holder = this.#holderOf(socket, look);
    if (holder === undefined) return this.problem === undefined && this.#answered();
    if (holder === "run" || (holder === "hidden" && !isShared)) return true;
    if (holder === "hidden") {
      return this.#not(
        `port ${port} is shared, and the system hides which instance answers: use type command, ` +
          "or a port of its own",
      );
    }
    return this.#answered(holder === "unknown" ? "" : `, pid ${holder}`);
  }

  /** Whether no other process can accept from the port. */
  #listensAlone(): boolean {
    const { address: { port }, isShared } = this.#target;
    const sockets = isShared ? [] : listenersOn(port);
    const look: Look = new Map();
    if (sockets.length > 0) return sockets.every((socket) => this.#isOwn(socket, look));
    const why = `port ${port} closes its connections before it is known who answers`;
    if (!isShared) return this.#not(why);
    this.problem ??= new NotMet(why);
    return false;
  }

  /**
   * Who has a socket: the run, the pid of another process, or a process that cannot be seen.
   * Undefined if it is not the run as known so far, and it is too early to look further.
   */
  #holderOf(socket: string, look: Look): "run" | "hidden" | "unknown" | number | undefined {
    const has = (pid: number) => descriptorsOf(pid).some((path) => linkOf(path) === socket);
    if (this.holds(socket, look)) return "run";
    const check = lackCheck();
    const begun = performance.now();
    if (begun < this.#nextScan) return undefined;
    const known = [...this.#met.acceptors].find(has);
    check();
    if (known !== undefined) return this.#scanned(begun, this.#runOf(known));
    const table = processTable();
    this.#members = membersOf(this.#target.run.wrapperPid, table);
    const found = this.#members.find(has) ?? table.find(({ pid }) => has(pid))?.pid;
    check();
    const living = new Set(table.map(({ pid }) => pid));
    const { acceptors } = this.#met;
    for (const pid of acceptors) if (!living.has(pid)) acceptors.delete(pid);
    const hidden = () => this.#members.some(isHidden) ? "hidden" : "unknown";
    return this.#scanned(begun, found === undefined ? hidden() : this.#runOf(found));
  }

  #scanned<T>(begun: number, result: T): T {
    this.#nextScan = performance.now() + SCAN_PAUSE * (performance.now() - begun);
    return result;
  }

  /** The run, or the pid of a process that is not of it. */
  #runOf(pid: number): "run" | number {
    this.#met.acceptors.add(pid);
    // A daemon has left the tree of its run.
    return this.#members.includes(pid) || runIdOf(pid) === this.#target.run.runId ? "run" : pid;
  }
}

/** The descriptors of a process. Throws for lack of one of our own. */
function linksOf(pid: number): ReadonlySet<string> {
  const check = lackCheck();
  const links = new Set(descriptorsOf(pid).map(linkOf));
  check();
  return links;
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
