/** The dependency graph, with the state of each app. */

import { computed, signal, useSignalEffect } from "@preact/signals";
import {
  isMet,
  type Layout,
  layOut,
  type Link,
  MARGIN,
  NODE,
  type Node,
  pathOf,
} from "./graph_layout.ts";
import { useEvents } from "../data/past.ts";
import { linkTo } from "../data/router.ts";
import { processList } from "../data/store.ts";
import type { ProcessJson } from "../../../../protocol/wire.ts";
import { Empty, Table, Trail } from "../controls/controls.tsx";
import { StateShape } from "../process/process_figures.tsx";
import { counted, shortSpan } from "../data/format.ts";

const layout = computed(() => layOut(processList.value));

/** Distance between the labels of lines that end at the same node. */
const LABEL_PX = 13;

export function Graph() {
  const started = useEvents({ type: "running", limit: 500 }).data;
  const restarted = useEvents({ type: "restarted", limit: 500 }).data;
  useSignalEffect(() => {
    const events = [started, restarted].flatMap(({ value }) => value?.events ?? []);
    const inOrder = events.toSorted((a, b) => Date.parse(a.at) - Date.parse(b.at));
    times.value = new Map(inOrder.map(({ name, at }) => [name, Date.parse(at)]));
  });
  const { nodes, single } = layout.value;
  return (
    <>
      <Trail />
      <h1>Dependencies</h1>
      {nodes.length === 0
        ? (
          <Empty title="No app waits for another">
            <code>depends_on: {"{ db: healthy }"}</code>{" "}
            in a configuration makes an app wait for another one.
          </Empty>
        )
        : <Drawing layout={layout.value} />}
      {nodes.length > 0 && <LinkTable layout={layout.value} />}
      {nodes.length > 0 && single > 0 && (
        <p class="faint">{counted(single, "other app")} without dependencies</p>
      )}
    </>
  );
}

function Drawing({ layout: { nodes, links } }: { layout: Layout }) {
  const width = Math.max(...nodes.map(({ x }) => x)) + NODE.width + MARGIN;
  const passes = links.flatMap((link) => link.passes);
  const height = Math.max(...nodes.map(({ y }) => y + NODE.height), ...passes) + MARGIN;
  const byName = new Map(nodes.map((node) => [node.name, node]));
  return (
    <div class="graph-frame" tabIndex={0} role="region" aria-label="Drawing of the dependencies">
      <div class="graph" style={{ width: `${width}px`, height: `${height}px` }}>
        <svg width={width} height={height} aria-hidden="true">
          {links.map((link, index) => (
            <Edge
              key={`${link.from} ${link.to}`}
              link={link}
              nth={links.slice(0, index).filter(({ to }) => to === link.to).length}
              from={byName.get(link.from)!}
              to={byName.get(link.to)!}
            />
          ))}
        </svg>
        {nodes.map((node) => {
          const { x, y } = node;
          return (
            <div
              key={node.name}
              class="graph-node"
              style={{ transform: `translate(${x}px, ${y}px)` }}
            >
              <NodeLink node={node} />
            </div>
          );
        })}
      </div>
    </div>
  );
}

function Edge({ link, from, to, nth }: { link: Link; from: Node; to: Node; nth: number }) {
  const [x, y] = [to.x - 6, to.y + NODE.height / 2];
  return (
    <g class={`edge${isMet(link, from) ? " met" : ""}`}>
      <path d={pathOf(link, from, to)} />
      <path class="arrow" d={`M${x + 6} ${y}l-8-5v10z`} />
      <text x={x - 10} y={y - 6 - nth * LABEL_PX} text-anchor="end">{link.condition}</text>
    </g>
  );
}

function NodeLink({ node: { name, members, state } }: { node: Node }) {
  const up = members.filter((member) => member.state === "running").length;
  const took = members.length === 1 ? readyAfter(members[0]!) : undefined;
  const text = members.length > 1
    ? `${up} of ${members.length} running`
    : `${state ?? "missing"}${took === undefined ? "" : `, ready in ${shortSpan(took)}`}`;
  const page = members.length === 1 ? members[0]!.name : name;
  return (
    <a class={`node is-${state ?? "missing"}`} href={linkTo(["processes", page])}>
      {state && <StateShape state={state} size={12} />}
      <span class="node-text">
        <strong class="clip">{name}</strong>
        <span class="small">{text}</span>
      </span>
    </a>
  );
}

function LinkTable({ layout: { nodes, links } }: { layout: Layout }) {
  const states = new Map(nodes.map(({ name, state }) => [name, state ?? "missing"]));
  return (
    <details>
      <summary>As a table</summary>
      <Table caption="Dependencies" headings={["App", "Waits for", "Until it is", "Which is"]}>
        <tbody>
          {links.map(({ from, to, condition }) => (
            <tr key={`${from} ${to}`}>
              <th scope="row">{to}</th>
              <td>{from}</td>
              <td>{condition}</td>
              <td>{states.get(from)}</td>
            </tr>
          ))}
        </tbody>
      </Table>
    </details>
  );
}

/** Time at which each app was last ready, by name. */
const times = signal<ReadonlyMap<string, number>>(new Map());

/** Milliseconds from start to ready, with `wait_ready`; undefined if unknown. */
function readyAfter({ name, ready, config, started_at }: ProcessJson): number | undefined {
  const at = ready && config.wait_ready === true ? times.value.get(name) : undefined;
  const took = (at ?? NaN) - Date.parse(started_at ?? "");
  return took >= 0 ? took : undefined;
}
