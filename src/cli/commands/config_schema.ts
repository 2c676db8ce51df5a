/** `procsup config schema`: the JSON Schema of configuration files. */

import type { CommandContext } from "../command.ts";

/** Prints it. */
export async function run({ output }: CommandContext): Promise<number> {
  const { configFileSchema } = await import("../../config/json_schema.ts");
  output.data(JSON.stringify(configFileSchema(), null, 2));
  return 0;
}
