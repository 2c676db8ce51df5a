/** `procsup doctor`: finds problems, and prints a command that fixes each. */

import type { CommandContext } from "../command.ts";
import { checkBoot, checkDaemon } from "../doctor/daemon.ts";
import type { Finding } from "../doctor/finding.ts";
import { checkHome, checkOwners, checkState } from "../doctor/home.ts";
import { checkClock, checkDisk, checkLimits, checkUnpacked } from "../doctor/machine.ts";
import { printData } from "../print_data.ts";

const MARKS: Readonly<Record<Finding["status"], string>> = { ok: "✔", warning: "!", error: "✘" };

/** Prints every finding; exit code 1 when one is an error. */
export async function doctor({ home, output }: CommandContext): Promise<number> {
  const findings = await examine(home);
  if (!await printData(output, findings)) {
    const width = Math.max(...findings.map(({ check }) => check.length));
    for (const { check, status, says, fix } of findings) {
      output.data(`${MARKS[status]} ${check.padEnd(width)}  ${says}`);
      if (fix !== undefined) output.data(`  ${" ".repeat(width)}  fix: ${fix}`);
    }
  }
  return findings.some(({ status }) => status === "error") ? 1 : 0;
}

/** Runs all checks, in reading order. */
async function examine(home: string): Promise<Finding[]> {
  const there = checkHome(home);
  return [
    there,
    // If the home is not safe, these would only report the same again.
    ...there.status === "ok" ? [...checkOwners(home), ...await checkDaemon(home)] : [],
    ...checkState(home),
    ...checkBoot(home),
    ...await checkDisk(home),
    checkClock(home),
    ...checkLimits(home),
    ...checkUnpacked(home),
  ];
}
