/** The toolbar of a log view, and downloads of its lines. */

import { parseFilter } from "../../../../protocol/select_processes.ts";
import { type Signal, useSignal } from "@preact/signals";
import type { LogPanes } from "./log_buffer.ts";
import { isRaw, logSize, nextSize, timeLook, TIMES, wrap } from "../shell/settings.ts";
import type { LogQuery } from "./log_query.ts";
import { isOneProcess, processList } from "../data/store.ts";
import { Button, Search, Select } from "../controls/controls.tsx";
import { Choice, Menu } from "../controls/menu.tsx";
import { StateShape } from "../process/process_figures.tsx";
import { jsonLines, messageOf, send } from "../data/api.ts";
import type { LogRow } from "./log_lines.ts";
import { toast } from "../shell/notices.ts";
import type { LogLine } from "../../../../model/log_line.ts";
import { bytes } from "../data/format.ts";
import { plainLine } from "./ansi.ts";

interface LogToolbarProps {
  readonly query: LogQuery;
  readonly onQuery: (query: LogQuery) => void;
  readonly panes: LogPanes;
  /** Why the regular expression is invalid; else empty. */
  readonly problem: string;
  readonly onMatch: (step: 1 | -1) => void;
  readonly follow: Signal<boolean>;
  readonly single: boolean;
}

const LEVELS = [
  ["", "All levels"],
  ["error", "Errors"],
  ["warn", "Warnings and up"],
  ["info", "Info and up"],
] as const;

export function LogToolbar(props: LogToolbarProps) {
  const { query, onQuery, panes, follow, single } = props;
  return (
    <div class="row wrap log-tools" role="toolbar" aria-label="Log view">
      {!single && (
        <AppPicker
          chosen={query.targets}
          onChange={(targets) => onQuery({ ...query, targets, mark: "" })}
        />
      )}
      <Select<LogQuery["stream"]>
        label="Output"
        value={query.stream}
        options={[["", "All output"], "stdout", "stderr"]}
        onChoose={(stream) => onQuery({ ...query, stream })}
      />
      <Select<LogQuery["level"]>
        label="Level"
        value={query.level}
        options={LEVELS}
        onChoose={(level) => onQuery({ ...query, level })}
      />
      <LogSearch {...props} />
      <span class="row tools-end">
        <Button
          pressed={query.isGrouped}
          label="Group similar lines"
          onClick={() =>
            onQuery({
              ...{ ...query, isGrouped: !query.isGrouped },
              level: query.isGrouped ? query.level : query.level || "error",
            })}
        >
          Group
        </Button>
        <Button
          pressed={follow.value}
          label="Follow (f)"
          icon="down"
          onClick={() => follow.value = !follow.value}
        >
          Follow
        </Button>
        <Button
          icon="wrap"
          kind="quiet"
          label="Wrap lines (w)"
          pressed={wrap.value}
          onClick={() => wrap.value = !wrap.value}
        />
        {!single && query.targets.length > 1 && query.targets.length <= MAX_COLUMNS && (
          <Button
            icon="columns"
            kind="quiet"
            label="Side by side"
            pressed={query.columns}
            onClick={() => onQuery({ ...query, columns: !query.columns })}
          />
        )}
        <LogMenu panes={panes} targets={query.targets} />
      </span>
    </div>
  );
}

/** More columns would be too narrow. */
const MAX_COLUMNS = 6;

const SWITCHES = [
  { key: "isRegex", text: ".*", label: "Regular expression" },
  { key: "matchCase", text: "Aa", label: "Match case" },
  { key: "invert", text: "≠", label: "Lines that do not match" },
  { key: "inContext", text: "≡", label: "Keep the other lines" },
] as const;

function LogSearch({ query, onQuery, panes, problem, onMatch }: LogToolbarProps) {
  const { buffer } = panes.current;
  buffer.version.value;
  const current = buffer.matches.indexOf(buffer.cursor.value);
  const { search } = query;
  const count = buffer.matches.length.toLocaleString("en");
  return (
    <div class="row log-search" role="search">
      <Search
        label="Search the lines"
        placeholder="Search"
        value={search}
        isInvalid={problem !== ""}
        onInput={(search) => onQuery({ ...query, search })}
        onEnter={({ shiftKey }) => onMatch(shiftKey ? -1 : 1)}
      >
        {SWITCHES.map(({ key, text, label }) => (
          <button
            key={key}
            type="button"
            class="switch"
            aria-pressed={query[key]}
            aria-label={label}
            title={label}
            onClick={() => onQuery({ ...query, [key]: !query[key] })}
          >
            {text}
          </button>
        ))}
      </Search>
      {search !== "" && (
        <span class="row">
          <span class="match-count faint small" role="status">
            {problem || `${current < 0 ? "" : `${current + 1} / `}${count}`}
          </span>
          <Button icon="up" kind="quiet" label="Previous match (N)" onClick={() => onMatch(-1)} />
          <Button icon="down" kind="quiet" label="Next match (n)" onClick={() => onMatch(1)} />
        </span>
      )}
    </div>
  );
}

function LogMenu({ panes, targets }: {
  readonly panes: LogPanes;
  readonly targets: readonly string[];
}) {
  return (
    <Menu label="More log options">
      {(close) => (
        <>
          {TIMES.map(([look, text]) => (
            <Choice
              key={look}
              text={text}
              isOn={timeLook.value === look}
              onClick={() => timeLook.value = look}
            />
          ))}
          <hr />
          <Choice
            text="Lines as written (v)"
            isOn={isRaw.value}
            onClick={() => isRaw.value = !isRaw.value}
          />
          <Button kind="quiet" icon="text" onClick={nextSize}>Text: {logSize.value}</Button>
          <hr />
          <Button
            kind="quiet"
            icon="download"
            onClick={close(() =>
              downloadLines(panes.list.flatMap(({ buffer }) => buffer.shown), targets)
            )}
          >
            Download the lines shown
          </Button>
          <Button kind="quiet" icon="download" onClick={close(() => void downloadWhole(targets))}>
            Download all, as written
          </Button>
          <hr />
          <Button kind="quiet" icon="close" onClick={close(() => panes.clear())}>
            Clear the view; the log stays
          </Button>
        </>
      )}
    </Menu>
  );
}

/** A button with a list of apps to select. */
function AppPicker(
  { chosen, onChange }: {
    readonly chosen: readonly string[];
    readonly onChange: (chosen: string[]) => void;
  },
) {
  const search = useSignal("");
  const text = chosen.length === 0
    ? "All apps"
    : chosen.length === 1
    ? chosen[0]!
    : `${chosen.length} apps`;
  return (
    <Menu
      title="Apps"
      icon="down"
      look="picker-list"
      text={<span class="clip picker">{text}</span>}
    >
      {() => {
        const found = processList.value.filter(parseFilter(search.value));
        return (
          <>
            <input
              type="search"
              aria-label="Find apps"
              placeholder="name, ns:web, tag:db"
              value={search}
              onInput={({ currentTarget }) => search.value = currentTarget.value}
            />
            <div class="row between">
              <button type="button" class="text-button" onClick={() => onChange([])}>All</button>
              <button
                type="button"
                class="text-button"
                onClick={() => onChange(found.map(({ name }) => name))}
              >
                These {found.length}
              </button>
            </div>
            <ul>
              {found.map(({ id, name, state }) => (
                <li key={id}>
                  <label class="row">
                    <input
                      type="checkbox"
                      checked={chosen.includes(name)}
                      onChange={() =>
                        onChange(
                          chosen.includes(name)
                            ? chosen.filter((one) => one !== name)
                            : [...chosen, name],
                        )}
                    />
                    <StateShape state={state} />
                    <span class="clip">{name}</span>
                  </label>
                </li>
              ))}
            </ul>
          </>
        );
      }}
    </Menu>
  );
}

const CHUNK = 20_000;

/** Saves lines as text. With several apps, each line has its time and name. */
function downloadLines(lines: readonly LogRow[], targets: readonly string[]): void {
  const isOne = isOneProcess(targets);
  const parts: string[] = [];
  // Use several strings: the length of a string is limited.
  for (let i = 0; i < lines.length; i += CHUNK) {
    parts.push(lines.slice(i, i + CHUNK).map((line) => `${lineText(line, isOne)}\n`).join(""));
  }
  save(parts, targets);
}

/** Saves the full log from the daemon, with the raw output of the apps. */
async function downloadWhole(targets: readonly string[]): Promise<void> {
  const id = toast("busy", "Fetching the whole log…");
  const isOne = isOneProcess(targets);
  const query = new URLSearchParams([["lines", "0"], ...targets.map((name) => ["target", name])]);
  const parts: string[] = [];
  let count = 0;
  try {
    for await (const batch of jsonLines<LogLine>(await send(`/logs?${query}`))) {
      count += batch.length;
      parts.push(
        batch.map(({ at, name, line }) => isOne ? `${line}\n` : `${at} ${name} ${line}\n`).join(""),
      );
    }
    save(parts, targets);
    toast("done", `${count.toLocaleString("en")} lines downloaded`, { id });
  } catch (error) {
    toast("failed", "The download failed", { id, detail: messageOf(error) });
  }
}

function save(parts: readonly string[], targets: readonly string[]): void {
  const isOne = targets.length === 1;
  const link = document.createElement("a");
  link.href = URL.createObjectURL(new Blob([...parts], { type: "text/plain" }));
  link.download = `${isOne ? targets[0]!.replaceAll(":", "-") : "procsup"}.log`;
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 10_000);
}

function lineText({ at, name, text, trace = [], start, end }: LogRow, isOne: boolean): string {
  const head = isOne ? "" : `${new Date(at).toISOString()} ${name} `;
  const rest = start === undefined ? "" : ` … ${bytes(end - start)}`;
  return [text + rest, ...trace].map((line) => head + plainLine(line)).join("\n");
}
