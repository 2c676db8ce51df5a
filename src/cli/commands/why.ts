/** `procsup why`: the plain-words answer. */

import { plainText } from "../../model/plain_text.ts";
import type { WhyJson } from "../../protocol/actions.ts";
import type { CommandContext } from "../command.ts";
import { connect } from "../connect.ts";
import { askEachMatch } from "../each_match.ts";
import type { Output } from "../output.ts";
import { paintState } from "../paint.ts";
import { printData } from "../print_data.ts";

/** Prints why a process is in the state it is in. */
export async function run(context: CommandContext): Promise<void> {
  const client = connect(context);
  const ask = (target: string) => client.call("why", { target });
  const answers = await askEachMatch(client, context.positionals[0]!, ask);
  for (const [index, why] of answers.entries()) {
    if (await printData(context.output, why, [why.process.name])) continue;
    if (index > 0) context.output.data("");
    printWhy(context.output, why);
  }
}

function printWhy(output: Output, { process, reasons, last_stderr, hints }: WhyJson): void {
  const [first, ...others] = reasons.map(plainText);
  const { name, state } = process;
  const plain = `${name} is ${state}`;
  const colored = `${name} is ${paintState(state, state, output.color)}`;
  output.data(first === undefined ? colored : first.replace(plain, colored));
  for (const reason of others) output.data(`  ${reason}`);
  if (last_stderr.length > 0) output.data("  last lines of stderr:");
  for (const line of last_stderr) output.data(`    ${plainText(line)}`);
  for (const hint of hints) output.data(`  hint: ${plainText(hint)}`);
}
