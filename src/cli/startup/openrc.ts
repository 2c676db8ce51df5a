/** The service script for OpenRC: openrc-run(8), supervise-daemon(8). */

import { shellWord } from "../shell_word.ts";
import { absoluteEntries, type Unit, type UnitRequest } from "./unit.ts";

/** The script. It is the machine's: OpenRC has no services of a user's in the releases in use. */
export function openrcUnit({ words, home, userHome, path }: UnitRequest): Unit {
  const variables = [`HOME=${userHome}`, `PATH=${absoluteEntries(path)}`];
  const env = variables.map((variable) => `--env ${shellWord(variable)}`);
  const [program, ...args] = [...words, "daemon", "--home", home].map(shellWord);
  return {
    path: "/etc/init.d/procsup",
    // OpenRC evaluates these once more; its own functions need the search path that the script has.
    text: `#!/sbin/openrc-run
# shellcheck shell=sh disable=SC2034
description="procsup, keeps apps running"
supervisor=supervise-daemon
command=${shellWord(program!)}
command_args=${shellWord(args.join(" "))}
supervise_daemon_args=${shellWord(env.join(" "))}
respawn_delay=1
respawn_max=0
# When the machine goes down the daemon stops the apps in order, which may take that long.
retry=TERM/300/KILL/5

depend() {
  use net dns logger netmount
  after localmount bootmisc firewall
}
`,
    mode: 0o755,
    enable: [
      { words: ["rc-update", "add", "procsup", "default"] },
      { words: ["rc-service", "procsup", "restart"] },
    ],
    disable: [
      { words: ["rc-service", "procsup", "stop"] },
      { words: ["rc-update", "del", "procsup", "default"] },
    ],
    removed: [],
    status: ["rc-service", "procsup", "status"],
  };
}
