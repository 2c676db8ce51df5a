/** Checks for code that is allowed in one place only. */

interface Rule {
  readonly word: RegExp;
  readonly allowedIn: RegExp;
  readonly says: string;
}

const RULES: readonly Rule[] = [
  {
    word: /\bDeno\s*\.\s*exit\b/g,
    allowedIn: /^main\.ts$/,
    says: "Deno.exit() is only for main.ts",
  },
  {
    word: /\bDeno\s*\.\s*build\s*\.\s*os\b|\bis(?:Linux|Mac|MacOS|Darwin|Windows)\b/gi,
    allowedIn: /^src\/platform\//,
    says: "only src/platform may check the operating system",
  },
  {
    // Importing the object `z` puts all languages of zod into the bundle.
    word: /\bimport\s*\{[^}]*\bz\b[^}]*\}/g,
    allowedIn: /^$/,
    says: "import zod as a namespace: import * as z",
  },
  {
    word: /\bDeno\s*\.\s*(?:readTextFile|readFile|open)(?:Sync)?\b/g,
    // There, these calls are in the text of a program for a child process.
    allowedIn: /^(?!src\/(?:config|import|process|runtimes)\/)|^src\/config\/read_module\.ts$/,
    says: "other users may control what this room reads: use readForeignFile()",
  },
  {
    word: /\bDeno\b/g,
    allowedIn: /^(?!src\/web\/dashboard\/app\/)/,
    says: "there is no Deno in a browser",
  },
  {
    word: /\bDeno\s*\.\s*Command\b/g,
    allowedIn: /^(?!src\/)|^src\/(?:platform|cli|contexts|export)\/|^src\/config\/read_module\.ts$/,
    says:
      "use src/platform/users/as_user.ts, launch/shell.ts or launch/launcher.ts to start programs of apps",
  },
  {
    word: /\bDeno\s*\.\s*std(?:out|err)\b(?!\s*\.\s*isTerminal)/g,
    allowedIn: /^src\/cli\/(?:output|top\/terminal|commands\/dial_stdio)\.ts$/,
    says: "print through src/cli/output.ts, which makes text safe for a terminal",
  },
];

/** Comments and quoted text are not checked. */
const NO_CODE = /\/\*[\s\S]*?\*\/|\/\/[^\n]*|"(?:\\.|[^"\\\n])*"|'(?:\\.|[^'\\\n])*'/g;

/** Every forbidden use in a source file, with its line. */
export function wordViolations(path: string, source: string): string[] {
  const code = source.replace(NO_CODE, (text) => text.replace(/[^\n]/g, " "));
  return RULES.filter((rule) => !rule.allowedIn.test(path)).flatMap((rule) =>
    [...code.matchAll(rule.word)].map((match) => {
      const line = code.slice(0, match.index).split("\n").length;
      return `${path}:${line} says ${match[0]}: ${rule.says}`;
    })
  );
}
