// deno-lint-ignore-file no-console
/**
 * Attacks a daemon that runs as root: by other users of the machine, by apps with a `uid`, by tokens of
 * low roles, by web pages and over the network. Each attack has its own daemon in private namespaces
 * (pid, mount, net, ipc), with two ordinary users, 65532 and 65533. Needs Linux and root; an attack
 * that lacks something is skipped with a message. The exit code is 1 if an attack succeeds.
 *
 * `deno task attack [words of a name]`, or for another version of procsup: `deno run -A
 * scripts/faults/attack.ts --program ../other/main.ts`
 */

import { fromFileUrl } from "@std/path";
import { parseArgs } from "node:util";
import { type Attack, Broken, Lacking, Scene } from "./attack/scene.ts";
import { browser } from "./attack/browser.ts";
import { files } from "./attack/files.ts";
import { fuzz } from "./attack/fuzz.ts";
import { installation } from "./attack/installation.ts";
import { limits } from "./attack/limits.ts";
import { looks } from "./attack/looks.ts";
import { network } from "./attack/network.ts";
import { privileges } from "./attack/privileges.ts";
import { processes } from "./attack/processes.ts";
import { roles } from "./attack/roles.ts";
import { search } from "./attack/search.ts";

const ATTACKS: Readonly<Record<string, Attack>> = {
  ...{ ...roles, ...privileges, ...files, ...processes, ...search },
  ...{ ...browser, ...limits, ...looks, ...network, ...installation, ...fuzz },
};

const SELF = import.meta.filename!;
const MAIN = fromFileUrl(import.meta.resolve("../../main.ts"));
const NEEDED = ["unshare", "setpriv", "mount", "ip", "perl"];
/** Time limit of an attack, so that a daemon that hangs is noticed. */
const LIMIT_MS = 120_000 + 100 * Number(Deno.env.get("ATTACK_COUNT") ?? 0);

interface Verdict {
  readonly verdict: "held" | "BROKEN" | "failed" | "skipped";
  readonly seen: string;
}

/** Runs one attack inside its namespaces. */
async function attempt(name: string, program: string): Promise<Verdict> {
  let scene: Scene | undefined;
  try {
    scene = await Scene.start(program);
    return { verdict: "held", seen: await ATTACKS[name]!(scene) };
  } catch (error) {
    if (error instanceof Broken) return { verdict: "BROKEN", seen: error.message };
    if (error instanceof Lacking) return { verdict: "skipped", seen: `needs ${error.message}` };
    return { verdict: "failed", seen: error instanceof Error ? error.message : String(error) };
  } finally {
    await scene?.close();
  }
}

/** Runs an attack in new namespaces, which no process of it outlives. */
async function isolated(name: string, program: string): Promise<Verdict> {
  // Use a disk, because files can be sparse there and blocks are counted.
  const folder = Deno.makeTempDirSync({ dir: "/var/tmp", prefix: "attack-" });
  Deno.chmodSync(folder, 0o1777);
  // The shell is pid 1 in the namespace and reaps orphans.
  const script = 'mount --bind "$1" /tmp && mount -t tmpfs tmpfs /run && ' +
    'ip link set lo up && shift && "$@"; exit $?';
  const args = ["--pid", "--fork", "--kill-child", "--mount-proc", "--mount", "--net", "--ipc"];
  const command = [Deno.execPath(), "run", "-A", "--no-check", SELF, "--program", program];
  const child = new Deno.Command("unshare", {
    args: [...args, "sh", "-c", script, "sh", folder, ...command, "--one", name],
    stdin: "null",
    stdout: "piped",
    stderr: "piped",
  }).spawn();
  let isLate = false;
  const timer = setTimeout(() => {
    isLate = true;
    child.kill("SIGKILL");
  }, LIMIT_MS);
  const { stdout, stderr } = await child.output();
  clearTimeout(timer);
  Deno.removeSync(folder, { recursive: true });
  if (isLate) return { verdict: "BROKEN", seen: `no end within ${LIMIT_MS / 1000} s` };
  const text = new TextDecoder();
  const last = text.decode(stdout).trim().split("\n").at(-1)!;
  const said = text.decode(stderr).trim();
  if (!last.startsWith("{")) return { verdict: "failed", seen: said.split("\n").at(-1)! };
  const stack = /^.*\n\s+at .*:\d+:\d+/m.exec(said)?.[0];
  const seen = `the daemon wrote a stack: ${stack?.replaceAll(/\s+/g, " ")}`;
  return stack === undefined ? JSON.parse(last) : { verdict: "BROKEN", seen };
}

/** Why attacks cannot run on this machine; undefined if they can. */
function lacking(program: string): string | undefined {
  if (Deno.build.os !== "linux" || Deno.uid() !== 0) return "Linux and root";
  const missing = NEEDED.find((name) =>
    !new Deno.Command("which", { args: [name], stdout: "null" }).outputSync().success
  );
  if (missing !== undefined) return missing;
  const below = [program, SELF, Deno.execPath()].find((path) => /^\/(tmp|run)\//.test(path));
  return below && `${below} outside of /tmp and /run, which are private here`;
}

async function main(args: readonly string[]): Promise<number> {
  const text = { type: "string" } as const;
  const { values: options, positionals: words } = parseArgs({
    ...{ args: [...args], allowPositionals: true },
    options: { program: text, one: text, seed: text, count: text },
  });
  const program = Deno.realPathSync(options.program ?? MAIN);
  for (const name of ["seed", "count"] as const) {
    if (options[name] !== undefined) Deno.env.set(`ATTACK_${name.toUpperCase()}`, options[name]);
  }
  if (options.one !== undefined) {
    console.log(JSON.stringify(await attempt(options.one, program)));
    return 0;
  }
  const lack = lacking(program);
  if (lack !== undefined) {
    console.log(`Skipped: the attacks need ${lack}`);
    return 0;
  }
  const names = Object.keys(ATTACKS).filter((name) => words.every((word) => name.includes(word)));
  const verdicts: Verdict[] = [];
  for (const name of names) {
    const one = await isolated(name, program);
    verdicts.push(one);
    console.log(`${name} · ${one.verdict} · ${one.seen}`);
  }
  const count = (wanted: string) => verdicts.filter(({ verdict }) => verdict === wanted).length;
  const [held, broken, failed] = ["held", "BROKEN", "failed"].map(count);
  console.log(
    `\n${names.length} attacks: ${held} held, ${broken} BROKEN, ${failed} failed, ` +
      `${count("skipped")} skipped`,
  );
  return held! + count("skipped") === names.length && names.length > 0 ? 0 : 1;
}

Deno.exit(await main(Deno.args));
