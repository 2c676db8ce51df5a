/** What counts as a file change, with the real file system. */

import { assert, assertEquals, assertThrows } from "@std/assert";
import { ProcsupError } from "../../../src/model/errors.ts";
import { sleep } from "../../../src/platform/clock.ts";
import { type FileWatchOptions, watchFiles } from "../../../src/process/watch/file_watch.ts";
import { checkWatch } from "../../../src/platform/files/watch_paths.ts";
import { watchFolders } from "../../../src/platform/upkeep.ts";
import { TEMP_FOLDER, tempHome } from "../../support/temp_home.ts";
import { waitFor } from "../../support/wait_for.ts";

const DEBOUNCE_MS = 60;
/** Without an event for that long, there was no change. */
const QUIET_MS = 400;

/** A folder with some sources, and a watcher on it. */
class Watched implements AsyncDisposable {
  readonly #temp = tempHome();
  readonly path = Deno.realPathSync(this.#temp.path);
  readonly changes: string[] = [];
  readonly problems: string[] = [];
  #watch: { stop(): void } | undefined;

  constructor() {
    this.write("src/a.ts");
    this.write("src/deep/er/b.ts");
    this.write("node_modules/x/index.js");
    this.write(".git/index");
  }

  /** Starts watching, and returns once changes would be seen. */
  async watch(options: Partial<FileWatchOptions> = {}): Promise<void> {
    const { open: opened = watchFolders } = options;
    let isOpen = false;
    const open = (folders: string[]) => {
      isOpen = true;
      return opened(folders);
    };
    this.#watch = watchFiles(
      { cwd: this.path, paths: [], ignore: [], debounceMs: DEBOUNCE_MS, ...options, open },
      {
        changed: (path) => this.changes.push(path),
        problem: (message) => this.problems.push(message),
      },
    );
    await waitFor(() => isOpen, { what: "the folders to be watched" });
    await settle();
  }

  write(name: string, text = String(Math.random())): void {
    const path = `${this.path}/${name}`;
    Deno.mkdirSync(path.slice(0, path.lastIndexOf("/")), { recursive: true });
    Deno.writeTextFileSync(path, text);
  }

  /** Exactly one call, with that path. */
  async notified(path: string): Promise<void> {
    await waitFor(() => this.changes.length > 0, { what: "a change" });
    await settle();
    assertEquals(this.changes, [path]);
  }

  async quiet(): Promise<void> {
    await settle();
    assertEquals(this.changes, []);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#watch?.stop();
    await this.#temp[Symbol.asyncDispose]();
  }
}

/** Only waiting shows that nothing happens. */
function settle(): Promise<void> {
  return sleep(QUIET_MS);
}

const CHANGES: readonly [string, string, (w: Watched) => void][] = [
  ["a file is written", "src/a.ts", (w) => w.write("src/a.ts")],
  ["a file in a subfolder is written", "src/deep/er/b.ts", (w) => w.write("src/deep/er/b.ts")],
  ["a file is touched", "src/a.ts", (w) => {
    Deno.utimeSync(`${w.path}/src/a.ts`, new Date(), new Date());
  }],
  ["a file is removed", "src/a.ts", (w) => Deno.removeSync(`${w.path}/src/a.ts`)],
  ["a file is created", "src/new.ts", (w) => w.write("src/new.ts")],
  ["a file is replaced by a rename, as editors do", "src/a.ts", (w) => {
    w.write("src/.a.ts.tmp");
    Deno.renameSync(`${w.path}/src/.a.ts.tmp`, `${w.path}/src/a.ts`);
  }],
  ["a folder with files is created", "lib/x/y.ts", (w) => w.write("lib/x/y.ts")],
  ["a folder is moved away", "src/deep", (w) => {
    Deno.renameSync(`${w.path}/src/deep`, `${w.path}/node_modules/deep`);
  }],
  ["a folder is moved in", "lib/one.ts", (w) => {
    const beside = Deno.makeTempDirSync({ dir: TEMP_FOLDER, prefix: "ps-" });
    Deno.writeTextFileSync(`${beside}/one.ts`, "1");
    Deno.renameSync(beside, `${w.path}/lib`);
  }],
];

/** Each case is a step in its own folder; all run at once, because they wait for the clock. */
async function atOnce<Case extends readonly [string, ...unknown[]]>(
  t: Deno.TestContext,
  cases: readonly Case[],
  check: (of: Case) => Promise<void>,
): Promise<void> {
  const shared = { sanitizeOps: false, sanitizeResources: false, sanitizeExit: false };
  const steps = cases.map((of) => ({ name: of[0], fn: () => check(of), ...shared }));
  const passed = await Promise.all(steps.map((step) => t.step(step)));
  assert(passed.every(Boolean));
}

Deno.test("watchFiles() reports one change when", async (t) => {
  await atOnce(t, CHANGES, async ([, path, act]) => {
    await using watched = new Watched();
    await watched.watch();
    act(watched);
    await watched.notified(path);
  });
});

const QUIETS: readonly [string, Partial<FileWatchOptions>, (w: Watched) => void][] = [
  ["an ignored folder changes", {}, (w) => w.write("node_modules/x/index.js")],
  ["git works", {}, (w) => w.write(".git/index")],
  ["an editor opens a file", {}, (w) => w.write("src/.a.ts.swp")],
  ["a file matches a name glob", { ignore: ["*.log"] }, (w) => w.write("src/deep/app.log")],
  ["a file matches a path glob", { ignore: ["src/deep/**"] }, (w) => w.write("src/deep/x")],
  ["a file is outside the watched paths", { paths: ["src/deep"] }, (w) => w.write("src/a.ts")],
  ["a file is beside the watched file", { paths: ["src/a.ts"] }, (w) => w.write("src/c.ts")],
  ["a file is read", {}, (w) => void Deno.readTextFileSync(`${w.path}/src/a.ts`)],
  ["a file comes and goes", {}, (w) => {
    w.write("src/tmp");
    Deno.removeSync(`${w.path}/src/tmp`);
  }],
  ["an empty folder comes and goes", {}, (w) => {
    Deno.mkdirSync(`${w.path}/empty`);
    Deno.removeSync(`${w.path}/empty`);
  }],
];

Deno.test("watchFiles() reports nothing when", async (t) => {
  await atOnce(t, QUIETS, async ([, options, act]) => {
    await using watched = new Watched();
    await watched.watch(options);
    act(watched);
    await watched.quiet();
    assertEquals(watched.problems, []);
  });
});

const OTHERS: readonly [string, () => Promise<void>][] = [
  ["ignores the supervisor's own files", async () => {
    await using watched = new Watched();
    await watched.watch({ own: [`${watched.path}/home`] });
    watched.write("home/apps/x/stdout.log");
    await watched.quiet();
  }],
  ["sees a watched file that is replaced by a rename", async () => {
    await using watched = new Watched();
    await watched.watch({ paths: ["src/a.ts"] });
    watched.write("src/tmp");
    Deno.renameSync(`${watched.path}/src/tmp`, `${watched.path}/src/a.ts`);
    await watched.notified("src/a.ts");
  }],
  ["reports 2,000 files in 200 folders once", async () => {
    await using watched = new Watched();
    for (let i = 0; i < 200; i++) watched.write(`many/${i}/0.ts`);
    await watched.watch();
    for (let i = 0; i < 2000; i++) watched.write(`many/${i % 200}/${i}.ts`);
    await waitFor(() => watched.changes.length > 0);
    await settle();
    assertEquals(watched.changes.length, 1);
    assert(watched.changes[0]!.startsWith("many/"));
  }],
  ["reports endless changes", async () => {
    await using watched = new Watched();
    await watched.watch({ debounceMs: 500 });
    const writing = setInterval(() => watched.write("src/a.ts"), 50);
    try {
      await waitFor(() => watched.changes.length > 0, { what: "the changes to be reported" });
    } finally {
      clearInterval(writing);
    }
  }],
  ["sees files in a folder that was removed and created again", async () => {
    await using first = new Watched();
    await first.watch();
    // Another watcher is on the same folders.
    const other: string[] = [];
    const held = watchFiles(
      { cwd: first.path, paths: [], ignore: ["*.ts"], debounceMs: DEBOUNCE_MS },
      { changed: (path) => other.push(path), problem: () => {} },
    );
    await settle();
    Deno.removeSync(`${first.path}/src/deep`, { recursive: true });
    Deno.mkdirSync(`${first.path}/src/deep`);
    await settle();
    first.write("src/deep/note.txt");
    await waitFor(() => other.length > 0, { what: "the other watch to see the new folder" });
    assertEquals(other, ["src/deep/note.txt"]);
    held.stop();
  }],
  ["sees a watched folder that was moved away and comes back", async () => {
    await using watched = new Watched();
    await watched.watch({ paths: ["src"], ignore: ["*.ts"] });
    Deno.removeSync(`${watched.path}/src`, { recursive: true });
    await watched.quiet();
    watched.write("src/note.txt");
    await watched.notified("src/note.txt");
  }],
  ["does not follow a link loop", async () => {
    await using watched = new Watched();
    Deno.symlinkSync(watched.path, `${watched.path}/src/loop`);
    await watched.watch();
    watched.write("src/a.ts");
    await watched.notified("src/a.ts");
  }],
  ["sees a link on the way to a watched path that points elsewhere", async () => {
    await Promise.all([[], ["."], ["a.ts"]].map(async (paths) => {
      await using watched = new Watched();
      watched.write("v1/a.ts");
      watched.write("v2/a.ts");
      Deno.symlinkSync("v1", `${watched.path}/current`);
      await watched.watch({ cwd: `${watched.path}/current`, paths });
      Deno.symlinkSync("v2", `${watched.path}/next`);
      Deno.renameSync(`${watched.path}/next`, `${watched.path}/current`);
      await watched.notified(`${watched.path}/current`);
    }));
  }],
  ["sees a mounted ConfigMap change", async () => {
    await Promise.all([["etc"], ["etc/app.yaml"]].map(async (paths) => {
      await using watched = new Watched();
      const etc = `${watched.path}/etc`;
      watched.write("etc/..2026_01_01_00_00_00.1/app.yaml");
      Deno.symlinkSync("..2026_01_01_00_00_00.1", `${etc}/..data`);
      Deno.symlinkSync("..data/app.yaml", `${etc}/app.yaml`);
      await watched.watch({ paths });
      watched.write("etc/..2026_01_01_00_00_01.2/app.yaml");
      await watched.quiet();
      Deno.symlinkSync("..2026_01_01_00_00_01.2", `${etc}/..data_tmp`);
      Deno.renameSync(`${etc}/..data_tmp`, `${etc}/..data`);
      Deno.removeSync(`${etc}/..2026_01_01_00_00_00.1`, { recursive: true });
      await waitFor(() => watched.changes.length > 0);
      await settle();
      assertEquals(watched.changes.length, 1);
    }));
  }],
  [
    "sees files behind a link in a watched folder, unless their place there is ignored",
    async () => {
      await using watched = new Watched();
      await using shared = new Watched();
      Deno.symlinkSync(`${shared.path}/src/deep`, `${watched.path}/src/linked`);
      Deno.symlinkSync(`${shared.path}/src/a.ts`, `${watched.path}/src/one.ts`);
      await watched.watch({ ignore: ["src/linked/*.log"] });
      shared.write("src/deep/some.log");
      shared.write("src/other.ts");
      await watched.quiet();
      shared.write("src/deep/er/b.ts");
      await watched.notified("src/linked/er/b.ts");
    },
  ],
  ["sees a file behind a link in a watched folder", async () => {
    await using watched = new Watched();
    await using shared = new Watched();
    Deno.symlinkSync(`${shared.path}/src/a.ts`, `${watched.path}/src/one.ts`);
    await watched.watch();
    shared.write("src/a.ts");
    await watched.notified("src/one.ts");
  }],
  ["sees a watched path that is missing at first", async () => {
    await Promise.all(
      [["dist", "dist/deep/a.js"], ["dist/deep/a.js", "dist/deep/a.js"]].map(
        async ([path, file]) => {
          await using watched = new Watched();
          await watched.watch({ paths: [path!, "src"] });
          watched.write(file!);
          await watched.notified(file!);
        },
      ),
    );
  }],
  ["watches through a link that is the watched path itself", async () => {
    await using watched = new Watched();
    await using link = new Watched();
    Deno.symlinkSync(`${watched.path}/src`, `${link.path}/linked`);
    await link.watch({ paths: ["linked"] });
    watched.write("src/a.ts");
    await link.notified(`${watched.path}/src/a.ts`);
  }],
  ["names a missing path and watches the others", async () => {
    await using watched = new Watched();
    await watched.watch({ paths: ["nowhere", "src"] });
    assertEquals(watched.problems, ['cannot watch "nowhere" yet: no such file or directory']);
    watched.write("src/a.ts");
    await watched.notified("src/a.ts");
  }],
  ["polls when the system grants no more watches", async () => {
    await using watched = new Watched();
    await watched.watch({
      open: () => {
        throw new Error("OS file watch limit reached. about []");
      },
    });
    assertEquals(watched.problems.length, 1);
    assert(
      watched.problems[0]!.includes("sysctl fs.inotify.max_user_watches"),
      watched.problems[0],
    );
    watched.write("src/a.ts");
    await watched.notified("src/a.ts");
  }],
  ["finds changes before polling began", async () => {
    await using watched = new Watched();
    await watched.watch({
      open: () => {
        // File times have a resolution of a hundredth of a second.
        for (const since = Date.now(); Date.now() < since + 20;);
        watched.write("src/a.ts");
        throw new Error("OS file watch limit reached. about []");
      },
    });
    await watched.notified("src/a.ts");
  }],
  ["finds changes whose events were lost", async () => {
    await using watched = new Watched();
    let lose: (() => void) | undefined;
    const silent = async function* () {
      await new Promise<void>((resolve) => lose = resolve);
      yield { kind: "other", paths: [], flag: "rescan" } as Deno.FsEvent;
    };
    const open = () => Object.assign(silent(), { close: () => {} }) as unknown as Deno.FsWatcher;
    await watched.watch({ open });
    watched.write("src/a.ts");
    await watched.quiet();
    lose!();
    await watched.notified("src/a.ts");
  }],
  ["finds changes while it was being set up, and none before", async () => {
    await using watched = new Watched();
    const open = (folders: string[]) => {
      // File times have a resolution of a hundredth of a second.
      for (const since = Date.now(); Date.now() < since + 20;);
      watched.write("src/deep/er/b.ts");
      return Deno.watchFs(folders, { recursive: false });
    };
    const tomorrow = new Date(Date.now() + 86_400_000);
    Deno.utimeSync(`${watched.path}/src/a.ts`, tomorrow, tomorrow);
    await settle();
    await watched.watch({ open });
    await watched.notified("src/deep/er/b.ts");
  }],
];

for (const [what, check] of OTHERS) Deno.test(`watchFiles() ${what}`, check);

Deno.test("checkWatch() rejects a path that does not exist", async () => {
  await using watched = new Watched();
  const watch = {
    enabled: true,
    paths: ["src", "nope"],
    ignore: [],
    debounceMs: 1,
    poll: false,
    action: "restart",
  };
  const error = assertThrows(() => checkWatch({ cwd: watched.path, watch }), ProcsupError);
  assertEquals(
    [error.code, error.message],
    ["invalid_config", 'Invalid "watch.paths" "nope": no such file or directory'],
  );
  checkWatch({ cwd: watched.path, watch: { ...watch, enabled: false } });
});

Deno.test("watchFiles() watches for an app of another user only what that user may read", {
  ignore: Deno.uid() !== 0,
}, async () => {
  await using closed = new Watched();
  await using watched = new Watched();
  Deno.chmodSync(watched.path, 0o755);
  Deno.symlinkSync(`${closed.path}/src`, `${watched.path}/link`);
  await watched.watch({ paths: ["src", "link"], user: { uid: 65534, gid: 65534 } });
  closed.write("src/a.ts");
  await settle();
  assertEquals(watched.changes, []);
  assertEquals(watched.problems.length, 1, watched.problems.join());
  watched.write("src/a.ts");
  await watched.notified("src/a.ts");
});

Deno.test("watchFiles() with poll finds a change without the system's events, and one before it", async () => {
  for (const when of ["later", "before"]) {
    await using watched = new Watched();
    const changes: string[] = [];
    const watch = watchFiles({
      ...{ cwd: watched.path, paths: [], ignore: [], debounceMs: DEBOUNCE_MS, poll: true },
      ...{ upForMs: when === "before" ? 5000 : 0, open: () => assertNever() },
    }, { changed: (path) => changes.push(path), problem: (text) => changes.push(text) });
    await waitFor(() => {
      if (when === "later") watched.write("src/a.ts");
      return changes.length > 0;
    }, { what: "a change" });
    watch.stop();
    assert(changes[0]!.startsWith("src/"), changes[0]);
  }
});

function assertNever(): never {
  throw new Error("the system's watch is used");
}
