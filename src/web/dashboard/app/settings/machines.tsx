/** The screen of this machine and of the daemon user's contexts, with their processes. */

import { Answer, Empty, Table } from "../controls/controls.tsx";
import { usePolled } from "../data/polled.ts";
import { type Condition, CONDITIONS_BY_URGENCY } from "../../../../model/process_info.ts";
import type { ContextJson } from "../../../../protocol/wire.ts";
import { plainLine } from "../logs/ansi.ts";
import { StateBadge } from "../process/process_figures.tsx";

/** Long, since each refresh connects to every machine with ssh. */
const REFRESH_MS = 15_000;

export function Machines() {
  const contexts = usePolled<readonly ContextJson[]>("/contexts", REFRESH_MS);
  return (
    <>
      <div class="page-head">
        <h1>Machines</h1>
      </div>
      <Answer of={contexts}>
        {(list) => (
          <>
            {list.map((one) => <Machine key={one.context} {...one} />)}
            {list.length === 1 && (
              <Empty title="No other machines">
                Each context of the user that the daemon runs as is listed here:{" "}
                <code>procsup context add web1 deploy@web1.example.com</code>
              </Empty>
            )}
          </>
        )}
      </Answer>
    </>
  );
}

function Machine({ context, destination, error, apps }: ContextJson) {
  const states = Map.groupBy(apps, ({ state }) => state);
  const counts = [...states].map(([state, { length }]) => `${length} ${state}`).join(", ");
  return (
    <section class="panel" aria-label={context}>
      <h2>
        {context} <span class="faint small">{destination}</span>
      </h2>
      {error === undefined
        ? <p class="faint small">{counts || "No apps"}</p>
        : <p class="bad">✗ {plainLine(error)}</p>}
      {apps.length > 0 && (
        <Table
          caption={`Apps of ${context}`}
          kind="stacked"
          isInner
          headings={[["Name", "name"], "State", "Reason"]}
        >
          <tbody>
            {apps.map(({ name, state, reason }) => (
              <tr key={name}>
                <th scope="row" class="name clip" title={name}>{name}</th>
                <td data-label="State">
                  {CONDITIONS_BY_URGENCY.includes(state as Condition)
                    ? <StateBadge state={state as Condition} />
                    : state}
                </td>
                <td data-label="Reason" class="faint">{plainLine(reason)}</td>
              </tr>
            ))}
          </tbody>
        </Table>
      )}
    </section>
  );
}
