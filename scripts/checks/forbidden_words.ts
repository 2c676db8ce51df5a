/** Words that only one place of the program may say. */

interface Rule {
  readonly word: RegExp;
  readonly allowedIn: RegExp;
  readonly says: string;
}

const RULES: readonly Rule[] = [
  {
    word: /\bDeno\s*\.\s*exit\b/g,
    allowedIn: /^main\.ts$/,
    says: "Deno.exit belongs into main.ts alone",
  },
  {
    word: /\bDeno\s*\.\s*build\s*\.\s*os\b|\bis(?:Linux|Mac|MacOS|Darwin|Windows)\b/gi,
    allowedIn: /^src\/platform\//,
    says: "only src/platform asks which OS this is",
  },
  {
    // The object named `z` keeps all of the package's languages in the bundle.
    word: /\bimport\s*\{[^}]*\bz\b[^}]*\}/g,
    allowedIn: /^$/,
    says: "import zod as a namespace: import * as z",
  },
  {
    word: /\bDeno\s*\.\s*(?:readTextFile|readFile|open)(?:Sync)?\b/g,
    // The program that evaluates a configuration is a text there, and runs in a child.
    allowedIn: /^(?!src\/(?:config|process|runtimes)\/)|^src\/config\/read_module\.ts$/,
    says: "other users may have a hand in what this room reads: readForeignFile()",
  },
  {
    word: /\bDeno\s*\.\s*Command\b/g,
    allowedIn: /^(?!src\/)|^src\/(?:platform|cli|export)\/|^src\/config\/read_module\.ts$/,
    says: "an app's programs are started by src/platform/as_user.ts, shell.ts and launcher.ts",
  },
  {
    word: /\bDeno\s*\.\s*std(?:out|err)\b(?!\s*\.\s*isTerminal)/g,
    allowedIn: /^src\/cli\/(?:output|top\/terminal|commands\/dial_stdio)\.ts$/,
    says: "what is printed goes through src/cli/output.ts, which makes it safe for a terminal",
  },
];

/** Comments and quoted text, which may say anything. */
const NO_CODE = /\/\*[\s\S]*?\*\/|\/\/[^\n]*|"(?:\\.|[^"\\\n])*"|'(?:\\.|[^'\\\n])*'/g;

/** Every forbidden word in one file's source, with its line. */
export function wordViolations(path: string, source: string): string[] {
  const code = source.replace(NO_CODE, (text) => text.replace(/[^\n]/g, " "));
  return RULES.filter((rule) => !rule.allowedIn.test(path)).flatMap((rule) =>
    [...code.matchAll(rule.word)].map((match) => {
      const line = code.slice(0, match.index).split("\n").length;
      return `${path}:${line} says ${match[0]}: ${rule.says}`;
    })
  );
}
