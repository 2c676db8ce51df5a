/** The last change of an app: what it was, who asked for it, and how it ended. */

import { usePolled } from "../data/polled.ts";
import { baseName } from "../../../../model/name.ts";
import type { ProcessJson, ReleaseJson } from "../../../../protocol/wire.ts";
import { Age } from "../controls/controls.tsx";
import { plainLine } from "../logs/ansi.ts";
import { span } from "../data/format.ts";

const POLL_MS = 5000;

/** Nothing is shown before the first release. */
export function LastRelease({ members }: { members: readonly ProcessJson[] }) {
  const key = members.map(({ state, pid }) => `${state} ${pid}`).join();
  const target = baseName(members[0]!.name);
  const { data } = usePolled("releases", { target }, POLL_MS, key);
  // A rollback is the end of the release that it undoes.
  const release = data.value?.findLast(({ undoes }) => undoes === undefined);
  if (release === undefined) return null;
  const { changed, by, begun_at, failure } = release;
  return (
    <section class="panel" aria-labelledby="last-release">
      <h2 id="last-release">Last release</h2>
      <p>
        <span class={result(release).kind}>{result(release).text}</span>{" "}
        <code>{changed.join(", ") || "the same configuration"}</code>{" "}
        <span class="faint small">
          by {by}, <Age at={begun_at} />
        </span>
      </p>
      {failure && (
        <>
          <p class="bad">{failure.instance}: {plainLine(failure.reason)}</p>
          {failure.last_output.length > 0 && (
            <pre class="stderr" tabIndex={0}>
              {failure.last_output.map(plainLine).join("\n")}
            </pre>
          )}
        </>
      )}
    </section>
  );
}

function result({ result, begun_at, ended_at }: ReleaseJson): { kind: string; text: string } {
  if (result === null || ended_at === null) return { kind: "", text: "under way" };
  const took = span(Date.parse(ended_at) - Date.parse(begun_at));
  if (result === "done") return { kind: "is-running", text: `✓ done in ${took}` };
  return { kind: "is-crashed", text: `✗ ${result.replace("_", " ")} after ${took}` };
}
