/** Connections to a run, with real processes that accept on one port. */

import { assert, assertEquals, assertRejects } from "@std/assert";
import { descriptorsOf, linkOf } from "../../src/platform/scan/process_table.ts";
import { otherEnd } from "../../src/platform/scan/listening_ports.ts";
import {
  connectToRun,
  type Meetings,
  NotMet,
  NotTheRun,
} from "../../src/platform/launch/run_connection.ts";
import { lookAt } from "../../src/platform/files/stat.ts";
import { BY_OUR_NAMES } from "../support/link_library.ts";
import { tempHome } from "../support/temp_home.ts";
import { waitFor } from "../support/wait_for.ts";

/** Every user may run it. */
const PYTHON = "/usr/bin/python3";

const ignore = Deno.build.os !== "linux" || lookAt(PYTHON) === undefined;

/** Prints in a single write, after which nobody reads. */
const TELL = `
import os, socket, time
def tell(*pids):
    line = " ".join(map(str, [listener.getsockname()[1], *pids]))
    os.write(1, (line + "\\n").encode())
`;

/** A Python program that prints its port and, in the same line, pids. */
class Server implements AsyncDisposable {
  readonly #child: Deno.ChildProcess;
  readonly #said: Promise<readonly number[]>;

  constructor(program: string, env: Record<string, string> = {}) {
    this.#child = new Deno.Command(PYTHON, {
      args: ["-c", `${TELL}${program}`],
      ...{ env, stdout: "piped", detached: true },
    }).spawn();
    const reader = this.#child.stdout.pipeThrough(new TextDecoderStream()).getReader();
    this.#said = reader.read().then(async ({ value }) => {
      await reader.cancel();
      return value!.trim().split(" ").map(Number);
    });
  }

  get pid(): number {
    return this.#child.pid;
  }

  /** Connects to the run of a process, which leads its group. */
  async connect(
    { wrapperPid = this.pid, runId = "none", isShared = false, ms = 5000 } = {},
    known: Meetings = new Map(),
  ): Promise<Deno.TcpConn> {
    const address = { hostname: "127.0.0.1", port: (await this.#said)[0]! };
    const run = { wrapperPid, runId };
    return await connectToRun({ run, address, isShared }, AbortSignal.timeout(ms), known);
  }

  async pids(): Promise<readonly number[]> {
    return (await this.#said).slice(1);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    for (const pid of await this.pids()) Deno.kill(pid, "SIGKILL");
    this.#child.kill("SIGKILL");
    await this.#child.status;
  }
}

/** Three processes accept from one socket, each in a session of its own. */
const shared = (accept: string) => `
listener = socket.create_server(("127.0.0.1", 0))
pids = []
for _ in range(3):
    pid = os.fork()
    if pid == 0:
        os.setsid()
        ${accept}
    pids.append(pid)
tell(*pids)
time.sleep(60)
`;

const ACCEPTS = {
  "wait in accept()": "while True: listener.accept()[0].recv(9)",
  "wait by epoll, of which the kernel wakes only the oldest idle one": `
        import select
        poll = select.epoll()
        poll.register(listener, select.EPOLLIN | select.EPOLLEXCLUSIVE)
        listener.setblocking(False)
        while poll.poll():
            try: listener.accept()[0].recv(9)
            except BlockingIOError: pass`.trim(),
};

for (const [how, accept] of Object.entries(ACCEPTS)) {
  Deno.test(`connectToRun() reaches each of three processes that share a socket and ${how}`, {
    ignore,
  }, async () => {
    await using server = new Server(shared(accept));
    const pids = await server.pids();
    assertEquals(pids.length, 3);
    for (const wrapperPid of pids) {
      using connection = await server.connect({ wrapperPid, isShared: true, ms: 30_000 });
      const { socket } = otherEnd(connection)!;
      assert(descriptorsOf(wrapperPid).some((path) => linkOf(path) === socket));
    }
  });
}

const SERVES = `
listener = socket.create_server(("127.0.0.1", 0))
tell()
held = []
while True: held.append(listener.accept())
`;

Deno.test("connectToRun() names the process that answers in place of the run", {
  ignore,
}, async () => {
  await using server = new Server(SERVES);
  const error = await assertRejects(
    () => server.connect({ wrapperPid: Deno.pid, ms: 2_000 }),
    NotTheRun,
  );
  assert(error.message.endsWith(`is answered by another process, pid ${server.pid}`));
});

Deno.test("connectToRun() tells whether others may accept in place of the run", {
  ignore,
}, async () => {
  await using server = new Server(SERVES);
  const errorOf = (isShared: boolean) =>
    assertRejects(() => server.connect({ wrapperPid: Deno.pid, isShared, ms: 2_000 }), NotTheRun);
  assertEquals((await errorOf(false)) instanceof NotMet, false);
  const shared = await errorOf(true);
  assert(shared instanceof NotMet);
  assert(shared.message.endsWith(": no connection of the check reached this instance"));
});

Deno.test("connectToRun() hands a connection of another run to its check", {
  ignore,
}, async () => {
  await using server = new Server(SERVES);
  const taken: Deno.TcpConn[] = [];
  const other = {
    hostname: "127.0.0.1",
    owners: { holds: (socket: string) => descriptorsOf(server.pid).map(linkOf).includes(socket) },
    take: (connection: Deno.TcpConn) => taken.length === 0 && taken.push(connection) > 0,
  };
  const meetings: Meetings = new Map();
  const connects = () =>
    server.connect({ wrapperPid: Deno.pid, isShared: true, ms: 2_000 }, meetings);
  const failed = assertRejects(connects, NotMet);
  await waitFor(() => meetings.size > 0);
  [...meetings.values()][0]!.waiting.add(other);
  await failed;
  using connection = taken[0]!;
  assert(other.owners.holds(otherEnd(connection)!.socket!));
});

Deno.test("connectToRun() remembers who accepts for other runs, and forgets those that are gone", {
  ignore,
}, async () => {
  await using server = new Server(SERVES);
  const known: Meetings = new Map();
  using _ = await server.connect({}, known);
  const { acceptors } = [...known.values()][0]!;
  assertEquals([...acceptors], [server.pid]);
  const gone = 2 ** 22 + 1;
  acceptors.clear();
  acceptors.add(gone);
  const other = () => server.connect({ wrapperPid: Deno.pid, ms: 2_000 }, known);
  await assertRejects(other, NotTheRun, `another process, pid ${server.pid}`);
  assertEquals([...acceptors], [server.pid]);
});

Deno.test("connectToRun() knows a process that has left the tree of its run by its run id", {
  ignore,
}, async () => {
  const runId = crypto.randomUUID();
  await using server = new Server(SERVES, { PROCSUP_RUN_ID: runId });
  using _ = await server.connect({ wrapperPid: Deno.pid, runId });
});

Deno.test("connectToRun() waits in vain for a process that listens and accepts nothing", {
  ignore,
}, async () => {
  await using server = new Server(`
listener = socket.create_server(("127.0.0.1", 0))
tell()
time.sleep(60)
`);
  await assertRejects(() => server.connect({ ms: 2_000 }), DOMException, "timeout");
});

Deno.test(
  "connectToRun() counts connections that are closed at once, unless others share the socket",
  {
    ignore,
  },
  async () => {
    await using server = new Server(`
listener = socket.create_server(("127.0.0.1", 0))
tell()
while True: listener.accept()[0].close()
`);
    (await server.connect()).close();
    await assertRejects(() => server.connect({ wrapperPid: Deno.pid, ms: 2_000 }), NotTheRun);
  },
);

/** An app of another user, in a container: its descriptors are hidden. */
const HIDDEN = `
import { connectToRun } from "${
  import.meta.resolve("../../src/platform/launch/run_connection.ts")
}";
const child = new Deno.Command("${PYTHON}", {
  args: ["-c", "import socket, time; s = socket.create_server(('127.0.0.1', 0));" +
    "print(s.getsockname()[1], flush=True); kept = [s.accept() for _ in range(999)]"],
  ...{ uid: 65534, gid: 65534, cwd: "/", detached: true, stdout: "piped" },
}).spawn();
const { value } = await child.stdout.getReader().read();
const address = { hostname: "127.0.0.1", port: Number(new TextDecoder().decode(value)) };
const connects = (wrapperPid, isShared, ms = 1_500) =>
  connectToRun({ run: { runId: "none", wrapperPid }, address, isShared }, AbortSignal.timeout(ms))
    .then(() => "own", ({ message }) => message.replace(/^port \\d+ is /, ""));
console.log(await connects(child.pid, false, 5000));
console.log(await connects(999999, false));
console.log(await connects(child.pid, true));
child.kill("SIGKILL");
Deno.exit();
`;

Deno.test(
  "connectToRun() does not rule out a run whose descriptors are hidden, unless it shares the socket",
  {
    ignore: ignore || Deno.uid() !== 0,
  },
  async () => {
    await using temp = tempHome();
    const { stdout } = await new Deno.Command("setpriv", {
      args: ["--bounding-set", "-sys_ptrace", "--inh-caps", "-sys_ptrace"]
        .concat(Deno.execPath(), "eval", BY_OUR_NAMES, HIDDEN),
      cwd: temp.path,
      stderr: "null",
    }).output();
    assertEquals(new TextDecoder().decode(stdout).trim().split("\n"), [
      "own",
      "answered by another process",
      "shared, and the system hides which instance answers: use type command, or a port of its own",
    ]);
  },
);
