/** The fenced code blocks of README.md and the documentation. */

import { fromFileUrl } from "@std/path";

/** The root of the repository, as a URL and as a path. */
export const ROOT_URL = import.meta.resolve("../../");
export const ROOT = fromFileUrl(ROOT_URL);

/** A fenced block. */
export interface Example {
  /** Path from the root of the repository. */
  readonly file: string;
  readonly language: string;
  readonly text: string;
}

/** README.md and every page. */
export const PAGE_FILES: readonly string[] = [
  "README.md",
  ...[...Deno.readDirSync(`${ROOT}src/docs`)].map(({ name }) => name)
    .filter((name) => name.endsWith(".md")).sort().map((name) => `src/docs/${name}`),
];

/** Every block of every page. */
export const EXAMPLES: readonly Example[] = PAGE_FILES.flatMap((file) =>
  [...Deno.readTextFileSync(ROOT + file).matchAll(/^```(.*)\n([^]*?)^```$/gm)]
    .map(([, language = "", text = ""]) => ({ file, language, text }))
);

/** The blocks of a language. */
export function examplesIn(language: string): Example[] {
  return EXAMPLES.filter((example) => example.language === language);
}
