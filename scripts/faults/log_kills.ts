// deno-lint-ignore-file no-console
/**
 * Kills a log keeper with SIGKILL at random moments and starts it again, while apps write numbered
 * lines on a separate file system (needs root, for the mount). Expected: the logs have every line
 * once and in order.
 *
 * `deno run -A scripts/faults/log_kills.ts [--fs xfs|ext4|btrfs|tmpfs|vfat] [--seconds 20] [--rate 50]
 *  [--writers 2] [--max-size 10] [--no-kills] [--seed N]`; rate and size in MB.
 */

import { listArchives, openArchive } from "../../src/logs/write/archives.ts";
import { readPosition } from "../../src/logs/write/log_position.ts";
import { recoverLog } from "../../src/logs/write/rotate.ts";
import { LogKeeper } from "../../src/logs/keep/log_keeper.ts";
import { sleep, systemClock } from "../../src/platform/clock.ts";
import type { ManagedProcess } from "../../src/process/managed_process.ts";
import { Random } from "./chaos/random.ts";

const [command, ...words] = Deno.args;
const given = (name: string, otherwise: string) => {
  const at = Deno.args.indexOf(`--${name}`);
  return at < 0 ? otherwise : Deno.args[at + 1]!;
};

if (command === "keep") keep(words[0]!, Number(words[1]), Number(words[2]));
else await main();

/** Runs the keeper of the logs, in the process that is killed. */
function keep(folder: string, writers: number, maxSizeBytes: number): void {
  const log = { maxSizeBytes, maxFiles: 1000, maxAgeMs: 1e9, compress: false };
  const processes = Array.from({ length: writers }, (_, index) => {
    const name = `app${index}`;
    const logs = { stdout: `${folder}/${name}.log`, stderr: `${folder}/${name}.err.log` };
    return { name, config: { log }, snapshot: { run: {} }, logs } as unknown as ManagedProcess;
  });
  const keeper = new LogKeeper({
    clock: systemClock,
    list: () => processes,
    warn: (message) => console.log(`  ${message}`),
    troubled: ({ name }, trouble) => console.log(`  ${name}: ${trouble}`),
  });
  keeper.start();
}

async function main(): Promise<void> {
  const kind = given("fs", "xfs");
  const seed = Number(given("seed", String(Math.floor(Math.random() * 1e9))));
  console.log(`${kind}, seed ${seed}`);
  const folder = Deno.makeTempDirSync({ prefix: "kills-" });
  const image = `${folder}.img`;
  await mount(kind, image, folder);
  let lost = true;
  try {
    lost = await fault(folder, new Random(seed));
  } finally {
    if (!Deno.args.includes("--keep")) {
      await run("umount", folder);
      Deno.removeSync(folder);
      await Deno.remove(image).catch(() => {});
    }
  }
  Deno.exit(lost ? 1 : 0);
}

async function mount(kind: string, image: string, folder: string): Promise<void> {
  if (kind === "tmpfs") return await run("mount", "-t", "tmpfs", "-o", "size=4g", "tmpfs", folder);
  await run("truncate", "-s", "6G", image);
  await run(`mkfs.${kind}`, ...(kind === "ext4" ? ["-q"] : kind === "vfat" ? [] : ["-f"]), image);
  await run("mount", "-o", "loop", image, folder);
}

async function fault(folder: string, random: Random): Promise<boolean> {
  const writers = Number(given("writers", "2"));
  const rate = Number(given("rate", "50")) * 1e6 / writers;
  const until = Date.now() + Number(given("seconds", "20")) * 1000;
  const apps = Array.from({ length: writers }, (_, index) => {
    const log = `${folder}/app${index}.log`;
    return { log, child: writer(log, rate) };
  });
  let kills = 0;
  while (Date.now() < until) {
    const keeper = startKeeper(folder, writers);
    await sleep(Deno.args.includes("--no-kills") ? until - Date.now() : random.whole(300, 1500));
    keeper.kill("SIGKILL");
    await keeper.status;
    kills++;
  }
  let failed = false;
  for (const { log, child } of apps) {
    child.kill("SIGTERM");
    await child.status;
    await recoverLog(log);
    const wrote = Number(new TextDecoder().decode((await child.output()).stdout));
    const { problems, lines, zeros } = await examine(log);
    if (lines !== wrote) problems.push(`wrote ${wrote} lines, ${lines} are there`);
    if (zeros > 0) problems.push(`${zeros} zero bytes`);
    console.log(
      `${kills} kills, ${wrote} lines, ${listArchives(log).length} archives: ` +
        `${problems.length === 0 ? "whole" : `${problems.length} problems`}`,
    );
    problems.slice(0, 12).forEach((problem) => console.log(`  ${problem}`));
    failed ||= problems.length > 0;
  }
  return failed;
}

/** Writes numbered lines of 16 bytes in blocks that may split lines, and finally their count. */
function writer(log: string, bytesASecond: number): Deno.ChildProcess {
  const script = `
    use Time::HiRes qw(time sleep);
    open my $out, '>>', $ARGV[0] or die; my ($rate, $n, $rest, $sent) = ($ARGV[1], 0, '', 0);
    my $go = 1; $SIG{TERM} = sub { $go = 0 }; my $began = time;
    while ($go) {
      while (length $rest < 10000) { $rest .= sprintf "%015d\\n", ++$n }
      my $w = syswrite $out, $rest, 10000; die "short" if $w != 10000;
      $rest = substr $rest, 10000; $sent += 10000;
      my $ahead = $sent / $rate - (time - $began); sleep $ahead if $ahead > 0.001;
    }
    syswrite $out, $rest; print $n;`;
  const args = ["-e", script, log, String(bytesASecond)];
  return new Deno.Command("perl", { args, stdout: "piped" }).spawn();
}

function startKeeper(folder: string, writers: number): Deno.ChildProcess {
  const size = String(Number(given("max-size", "10")) * 1024 ** 2);
  const args = ["run", "-A", "--no-check", import.meta.filename!, "keep", folder, String(writers)];
  return new Deno.Command(Deno.execPath(), { args: [...args, size] }).spawn();
}

async function examine(log: string) {
  const problems: string[] = [];
  let [lines, zeros, before, rest] = [0, 0, 0, ""];
  const parts = listArchives(log, readPosition(log).base).map((one) => () => openArchive(one));
  const all = [...parts, async () => (await Deno.open(log)).readable];
  for (const [index, open] of all.entries()) {
    const decoder = new TextDecoder();
    for await (const chunk of (await open())!) {
      const text = rest + decoder.decode(chunk);
      const cut = text.lastIndexOf("\n") + 1;
      rest = text.slice(cut);
      for (const line of text.slice(0, cut).split("\n")) {
        if (line === "") continue;
        lines++;
        const clean = line.replaceAll("\0", "");
        zeros += line.length - clean.length;
        const now = /^\d{15}$/.test(clean) ? Number(clean) : NaN;
        if (now !== before + 1) {
          problems.push(`part ${index} of ${all.length}: "${clean.slice(0, 40)}" after ${before}`);
        }
        if (!Number.isNaN(now)) before = now;
      }
    }
  }
  return { problems, lines, zeros };
}

async function run(command: string, ...args: string[]): Promise<void> {
  const { success, stderr } = await new Deno.Command(command, { args }).output();
  if (!success) throw new Error(new TextDecoder().decode(stderr));
}
