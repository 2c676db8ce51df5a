/** `procsup completion`, and `__complete`, which the scripts call. */

import { readContexts, THIS_MACHINE } from "../../contexts/contexts.ts";
import { plainText } from "../../model/plain_text.ts";
import { checkedHome } from "../../platform/files/paths.ts";
import { DaemonClient } from "../../protocol/daemon_client.ts";
import { type Command, type CommandContext, findCommand, shownCommands } from "../command.ts";
import { type Flag, GLOBAL_FLAGS } from "../flags.ts";
import { targetIn } from "../target_flags.ts";
import { verbIn } from "../unknown_word.ts";

/** Prints the script of a shell. */
export function completion({ positionals: [shell = ""], output }: CommandContext): void {
  output.data(verbIn("completion", COMPLETION_SCRIPTS, shell));
}

/** Shell → script. `__complete` prints words with a tab and a description, or `:files`. */
const COMPLETION_SCRIPTS: Readonly<Record<string, string>> = {
  bash: `# bash completion of procsup. Put into ~/.bashrc:  source <(procsup completion bash)
_procsup() {
  local IFS=$'\\n' cur line words files=
  # A colon is part of a name such as api:0, and of ns:web.
  local before="\${COMP_LINE:0:COMP_POINT}"
  IFS=$' \\t' read -ra words <<<"$before"
  [[ $before == *[[:space:]] ]] && words+=("")
  cur="\${words[\${#words[@]}-1]}"
  COMPREPLY=()
  while IFS= read -r line; do
    line="\${line%%$'\\t'*}"
    if [[ $line == :files ]]; then files=1; else COMPREPLY+=("$line"); fi
  done < <("\${words[0]}" __complete -- "\${words[@]:1}" 2>/dev/null)
  if [[ -n $files ]]; then
    compopt -o filenames 2>/dev/null
    while IFS= read -r line; do COMPREPLY+=("$line"); done < <(compgen -f -- "$cur")
  fi
  # bash replaces only what comes after the last word break.
  local breaks="\${COMP_WORDBREAKS//[^:=]/}"
  if [[ -n $breaks && $cur == *[$breaks]* ]]; then
    local head="\${cur%"\${cur##*[$breaks]}"}" i
    for i in "\${!COMPREPLY[@]}"; do COMPREPLY[i]="\${COMPREPLY[i]#"$head"}"; done
  fi
}
complete -F _procsup procsup`,
  zsh: `#compdef procsup
# zsh completion of procsup. Put into ~/.zshrc:  source <(procsup completion zsh)
_procsup() {
  local line word about files
  local -a found
  for line in \${(f)"$("\${words[1]}" __complete -- "\${(@)words[2,CURRENT]}" 2>/dev/null)"}; do
    word=\${line%%$'\\t'*}
    about=
    [[ $line == *$'\\t'* ]] && about=":\${line#*$'\\t'}"
    if [[ $word == :files ]]; then files=1; else found+=("\${word//:/\\\\:}$about"); fi
  done
  _describe -t procsup procsup found
  [[ -n $files ]] && _files
}
(( $+functions[compdef] )) || { autoload -Uz compinit && compinit -i; }
compdef _procsup procsup`,
  fish: `# fish completion of procsup. Put into ~/.config/fish/completions/procsup.fish
function __procsup_complete
    set -l words (commandline -opc) (commandline -ct)
    for line in ($words[1] __complete -- $words[2..-1] 2>/dev/null)
        if string match -q ":files" -- $line
            __fish_complete_path (commandline -ct)
        else
            echo $line
        end
    end
end
complete -c procsup -f -a '(__procsup_complete)'`,
  powershell: `# PowerShell completion of procsup. Put into $PROFILE:
#   procsup completion powershell | Out-String | Invoke-Expression
Register-ArgumentCompleter -Native -CommandName procsup -ScriptBlock {
  param($wordToComplete, $commandAst, $cursorPosition)
  $words = @($commandAst.CommandElements | Select-Object -Skip 1 | ForEach-Object { $_.ToString() })
  if ($wordToComplete -eq '') { $words += '' }
  procsup __complete '--' @words 2>$null | ForEach-Object {
    $word, $about = $_ -split "\`t", 2
    if ($word -ne ':files') {
      if (-not $about) { $about = $word }
      [System.Management.Automation.CompletionResult]::new($word, $word, 'ParameterValue', $about)
    }
  }
}`,
};

/** Maximum wait for the daemon's answer. */
const PATIENCE_MS = 400;

/**
 * Prints the possible next words, one a line, with a tab and a description. Quick, silent, and never
 * starts a daemon.
 */
export async function complete(context: CommandContext): Promise<void> {
  const found = await candidates(context.positionals, {
    commands: context.commands,
    names: () => names(context),
  });
  const lines = found.map(({ word, about }) => about === "" ? word : `${word}\t${about}`);
  if (lines.length > 0) context.output.data(lines.join("\n"));
}

/** Names of all processes, and base names for all instances. Empty without a daemon. */
async function names(context: CommandContext): Promise<Candidate[]> {
  try {
    const typed = typedHome(context.positionals.slice(0, -1), Deno.env.get("HOME"));
    // Do not open a remote connection for each Tab.
    const { host, engine } = await targetIn(context.flags);
    const isElsewhere = host !== undefined || engine !== undefined ||
      context.positionals.some((word) => /^--(host|on)(=|$)/.test(word));
    if (isElsewhere) return [];
    const client = new DaemonClient(typed === undefined ? context.home : checkedHome(typed));
    const list = await client.call("list", undefined, { signal: AbortSignal.timeout(PATIENCE_MS) });
    const found = new Map<string, string>();
    for (const { name, state } of list) {
      const [base, index] = name.split(":");
      if (index !== undefined && !found.has(base!)) found.set(base!, "every instance");
      found.set(name, state);
    }
    if (list.length > 0) found.set("all", "every app");
    return [...found].map(([word, about]) => ({ word: plainText(word), about }));
  } catch {
    return [];
  }
}

/** A possible next word and its description. */
interface Candidate {
  readonly word: string;
  readonly about: string;
}

interface CompletionSource {
  readonly commands: readonly Command[];
  /** Names of apps; called only where a target is allowed. */
  readonly names: () => Promise<readonly Candidate[]>;
}

/** Tells the shell to complete file names itself. */
const FILES: Candidate = { word: ":files", about: "" };

/** The clients of `mcp install`, copied here to avoid loading its module. */
const MCP_CLIENTS = ["claude", "cursor", "vscode"];

/** Candidates for the last of `words`: the words after `procsup` up to the cursor. */
export async function candidates(
  words: readonly string[],
  source: CompletionSource,
): Promise<Candidate[]> {
  const current = words.at(-1) ?? "";
  const found = await allFor(words.slice(0, -1), current, source);
  return found.filter(({ word }) => word === FILES.word || word.startsWith(current));
}

async function allFor(
  before: readonly string[],
  current: string,
  source: CompletionSource,
): Promise<readonly Candidate[]> {
  if (before.includes("--")) return [FILES];
  const at = before.findIndex(isWordAmong(GLOBAL_FLAGS));
  const found = findCommand(source.commands, before[at] ?? "");
  const flags = [...found?.command.flags ?? [], ...GLOBAL_FLAGS];
  const valued = takesValue(before.at(-1), flags);
  if (valued !== undefined) return await valuesOf(valued, source);
  const [, name] = /^(--[^=]+)=/.exec(current) ?? [];
  if (name !== undefined) {
    const flag = takesValue(name, flags);
    const values = flag === undefined ? [] : await valuesOf(flag, source);
    // The shell cannot complete a path after `--name=`.
    return values.filter((value) => value !== FILES)
      .map(({ word, about }) => ({ word: `${name}=${word}`, about }));
  }
  if (current.startsWith("-")) {
    const isOn = before.some((word) => /^--on(=|$)/.test(word)) || isEngineUsed();
    return flags.filter(({ kind }) => kind !== "on" || isOn)
      .map(({ name, help }) => ({ word: `--${name}`, about: help }));
  }
  if (at < 0) return commandCandidates(source.commands);
  if (found === undefined) return [];
  const words = [...found.preset, ...before.slice(at + 1)].filter(isWordAmong(flags));
  return await wordsOf(found.command, words.length, source);
}

/** True for a word that is neither a flag nor the value of one. */
function isWordAmong(flags: readonly Flag[]) {
  return (word: string, index: number, all: readonly string[]) =>
    !word.startsWith("-") && takesValue(all[index - 1], flags) === undefined;
}

/** Candidates for the value of a flag. */
async function valuesOf(
  { choices, value = "" }: Flag,
  source: CompletionSource,
): Promise<readonly Candidate[]> {
  if (choices !== undefined) return choices.map(plain);
  if (value === "APP") return await source.names();
  if (value === "HOST") return contexts();
  return /DIR|FILE|PATH|FOLDER/.test(value) ? [FILES] : [];
}

async function wordsOf(
  command: Command,
  index: number,
  source: CompletionSource,
): Promise<readonly Candidate[]> {
  if (index === 0 && command.verbs !== undefined) {
    // A verb in brackets may be left out, if another word must follow.
    const others = /^\[[^\]]*\] </.test(command.usage) ? await argumentsOf(command, source) : [];
    return [...command.verbs.map(plain), ...others];
  }
  if (command.name === "help") {
    const { PAGES } = await import("../../docs/pages.ts");
    const topics = Object.entries(PAGES).map(([word, { title }]) => ({ word, about: title }));
    return [...commandCandidates(source.commands), ...topics];
  }
  if (command.name === "mcp") return index === 1 ? MCP_CLIENTS.map(plain) : [];
  if (command.name === "context") return index === 1 ? contexts() : [];
  return await argumentsOf(command, source);
}

/** Apps, files or both, as the usage of a command names them. */
async function argumentsOf(
  { usage }: Command,
  source: CompletionSource,
): Promise<readonly Candidate[]> {
  const targets = /target|<name>|<app>/.test(usage) ? await source.names() : [];
  return /script|file|folder/.test(usage) ? [...targets, FILES] : targets;
}

/** True if commands go to an engine without `--on`. */
function isEngineUsed(): boolean {
  const { use, contexts } = readContexts();
  return use !== undefined && Object.hasOwn(contexts, use) && "on" in contexts[use]!;
}

function contexts(): Candidate[] {
  return [THIS_MACHINE, ...Object.keys(readContexts().contexts)].map(plain);
}

function commandCandidates(commands: readonly Command[]): Candidate[] {
  return shownCommands(commands).map(({ name, summary }) => ({ word: name, about: summary }));
}

/** The flag that the word names, if the flag needs a value. */
function takesValue(word: string | undefined, flags: readonly Flag[]): Flag | undefined {
  if (word === undefined || !word.startsWith("-")) return undefined;
  return flags.find((flag) =>
    flag.type !== "bool" &&
    [`--${flag.name}`, `-${flag.short}`, ...(flag.aliases ?? []).map((alias) => `--${alias}`)]
      .includes(word)
  );
}

function plain(word: string): Candidate {
  return { word, about: "" };
}

/**
 * The last `--home` in `before`, the words before the typed one; undefined without one. The shell
 * has not expanded them: removes quotes and replaces `~` by the user's folder `user`.
 */
export function typedHome(before: readonly string[], user: string | undefined): string | undefined {
  let home: string | undefined;
  before.forEach((word, at) => {
    if (word.startsWith("--home=")) home = word.slice("--home=".length);
    else if (before[at - 1] === "--home") home = word;
  });
  if (home === undefined || home === "") return undefined;
  const quoted = /^(["'])(.*)\1$/.exec(home);
  if (quoted !== null) return quoted[2];
  const plain = home.replace(/\\(.)/g, "$1");
  return user === undefined ? plain : plain.replace(/^~(?=\/|$)/, user);
}
