/** `procsup doctor`: what is wrong here, and the command that mends each. */

import type { CommandContext } from "../command.ts";
import { examine } from "../doctor/checks.ts";
import type { Finding } from "../doctor/finding.ts";
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
