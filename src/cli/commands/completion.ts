/** `procsup completion`: prints the completion script of a shell. */

import type { CommandContext } from "../command.ts";
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
