/** Commands in hints, for surfaces that have others. Pure. */

/** A command in a hint, such as `procsup restart web`. */
export interface NamedCommand {
  readonly whole: string;
  /** `restart`, `cron run`. */
  readonly verb: string;
  /** `<script>`. */
  readonly placeholder: string | undefined;
  /** The process, or another word. */
  readonly target: string | undefined;
  readonly flags: boolean;
}

const COMMAND =
  /\bprocsup ((?:cron |config )?[a-z]+)(?: (<\w+>))?(?: (\w[\w.:-]*))?((?: --?\w[\w-]*(?: \d\w*)?)*)/g;

/** A hint whose commands are replaced by other words. */
export function withCommands(hint: string, say: (command: NamedCommand) => string): string {
  return hint.replaceAll(
    COMMAND,
    (whole, verb, placeholder, target, flags) =>
      say({ whole, verb, placeholder, target, flags: flags !== "" }),
  );
}
