/** Replaces the commands in hints, for surfaces with other commands. Pure. */

/** A command in a hint, such as `procsup restart web`. */
interface NamedCommand {
  readonly whole: string;
  /** Such as `restart` or `cron run`. */
  readonly verb: string;
  /** Such as `<script>`. */
  readonly placeholder: string | undefined;
  /** Name of a process, or another argument. */
  readonly target: string | undefined;
  readonly flags: boolean;
}

const COMMAND =
  /\bprocsup ((?:cron |config )?[a-z]+)(?: (<\w+>))?(?: (\w[\w.:-]*))?((?: --?\w[\w-]*(?: \d\w*)?)*)/g;

/** Replaces each command in a hint by the result of `say`, and leaves out flags in parentheses. */
export function withCommands(hint: string, say: (command: NamedCommand) => string): string {
  return hint.replaceAll(/ \(--[^)]*\)/g, "").replaceAll(
    COMMAND,
    (whole, verb, placeholder, target, flags) =>
      say({ whole, verb, placeholder, target, flags: flags !== "" }),
  );
}
