/** The screen of this machine and of the daemon user's contexts, with their processes. */

import { Answer, Button, Empty, Table } from "../controls/controls.tsx";
import { Menu } from "../controls/menu.tsx";
import { type Polled, usePolled } from "../data/polled.ts";
import { go } from "../data/router.ts";
import { connection, mayAdminister } from "../data/store.ts";
import { type Condition, CONDITIONS_BY_URGENCY } from "../../../../model/process_info.ts";
import type { ContextJson } from "../../../../protocol/wire.ts";
import { plainLine } from "../logs/ansi.ts";
import { StateBadge } from "../process/process_figures.tsx";

/** Long, since each refresh connects to every machine with ssh. */
const REFRESH_MS = 15_000;

function useMachines(): Polled<readonly ContextJson[]> {
  return usePolled("contexts", undefined, REFRESH_MS);
}

/** The machine whose dashboard this is; its menu leads to the same page of the others. */
export function MachineMenu({ name }: { readonly name: string }) {
  const text = (
    <>
      <span class={`dot is-${connection.value}`} aria-hidden="true" />
      <span class="clip">{name}</span>
    </>
  );
  if (!mayAdminister.value) return <p class="side-host">{text}</p>;
  return (
    <Menu
      title="Machines"
      kind="quiet"
      icon="machines"
      text={<span class="side-host">{text}</span>}
    >
      {(close) => <MachineLinks close={close} />}
    </Menu>
  );
}

function MachineLinks({ close }: { readonly close: (then: () => void) => () => void }) {
  const others = (list: readonly ContextJson[]) => list.filter((one) => one.destination !== "");
  return (
    <>
      <Answer of={useMachines()}>
        {(list) =>
          others(list).map(({ context, url, error }) =>
            url === undefined
              ? (
                <Button
                  key={context}
                  kind="quiet"
                  disabled
                  label={error ?? "Its dashboard listens for its own machine only"}
                >
                  {context}: {error === undefined ? "no address" : "no answer"}
                </Button>
              )
              : <a key={context} class="button quiet" href={`${url}/${location.hash}`}>{context}</a>
          )}
      </Answer>
      <Button kind="quiet" onClick={close(() => go(["settings", "machines"]))}>All machines</Button>
    </>
  );
}

export function Machines() {
  const contexts = useMachines();
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

function Machine({ context, destination, url, error, apps }: ContextJson) {
  const states = Map.groupBy(apps, ({ state }) => state);
  const counts = [...states].map(([state, { length }]) => `${length} ${state}`).join(", ");
  return (
    <section class="panel" aria-label={context}>
      <h2>
        {url === undefined ? context : <a href={`${url}/#/settings/machines`}>{context}</a>}{" "}
        <span class="faint small">{destination}</span>
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
