/** What a program is told of starts that failed. */

import { StartFailedError } from "../model/start_failed.ts";
import { type Outcome, throwFirst } from "./bulk.ts";
import { lastWords } from "./last_words.ts";

/** Throws the first failure of several, if there is one; that of a start with the last words of its run. */
export async function throwFailedStart(outcomes: readonly Outcome[]): Promise<void> {
  const failed = outcomes.find(({ error }) => error !== undefined);
  if (failed?.error?.code !== "start_failed") return throwFirst(outcomes);
  const { process, error, lastWords: words } = failed;
  throw new StartFailedError(error.message, {
    processName: process.name,
    state: process.snapshot.state,
    ...words ?? await lastWords(process),
  }, { cause: error });
}
