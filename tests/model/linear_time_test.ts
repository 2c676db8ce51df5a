/** Every hand-written parser on adversarial text: its time may only grow linearly. */

import { assert, assertEquals, assertThrows } from "@std/assert";
import { threadCpuUsage } from "node:process";
import { textWidth } from "../../src/cli/terminal_text.ts";
import { colorText } from "../../src/model/plain_text.ts";
import { decodeKeys } from "../../src/cli/top/keys.ts";
import { cleanColors, cleanLine, cut, wrap } from "../../src/cli/top/text.ts";
import { baseOf } from "../../src/client/way.ts";
import { placeAt } from "../../src/config/document.ts";
import { emptyIni } from "../../src/import/ini.ts";
import { supervisord } from "../../src/import/supervisord.ts";
import { procfile } from "../../src/import/procfile.ts";
import { shellCommand, splitWords } from "../../src/model/shell_line.ts";
import { interpolate } from "../../src/config/layer.ts";
import { readJson } from "../../src/config/read_json.ts";
import { readYaml, tomlPlaces } from "../../src/config/read_document.ts";
import { LineSplitter } from "../../src/logs/read/line_splitter.ts";
import { linePattern } from "../../src/logs/read/line_pattern.ts";
import { safeText } from "../../src/mcp/agent_text.ts";
import { parseSchedule } from "../../src/model/cron.ts";
import { nearestWord } from "../../src/model/nearest_word.ts";
import { parseDotenv } from "../../src/model/dotenv.ts";
import { parseDuration } from "../../src/model/duration.ts";
import { ProcsupError } from "../../src/model/errors.ts";
import { nameTest, pathTest } from "../../src/model/glob.ts";
import { parseListen } from "../../src/model/listen_address.ts";
import { parseTimeSpec } from "../../src/model/time_spec.ts";
import { baseName, nameFromPath, nameProblem } from "../../src/model/name.ts";
import { plainText } from "../../src/model/plain_text.ts";
import { parseSignal } from "../../src/model/signal.ts";
import { parseSize } from "../../src/model/size.ts";
import { resolveTarget } from "../../src/model/target.ts";
import { parseSockets } from "../../src/platform/sockets/sockets.ts";
import { ansiRuns, plainLine } from "../../src/web/dashboard/app/logs/ansi.ts";
import { errorLine, likelyErrorLine } from "../../src/model/error_line.ts";
import { levelOf } from "../../src/model/log_level.ts";
import { readEnv } from "../../src/web/dashboard/app/data/format.ts";

const API = { id: "a", numericId: 1, name: "api", namespace: "n", tags: [], labels: {} };

function documentOf(text: string) {
  return { file: "/none/file", text, value: text, places: undefined as never, kind: "x" as never };
}

function splitAll(text: string): void {
  const cutter = new LineSplitter();
  const bytes = new TextEncoder().encode(text);
  for (let at = 0; at < bytes.length; at += 256) {
    const chunk = bytes.subarray(at, at + 256);
    cutter.add(chunk, at + chunk.length, () => {});
  }
}

const PARSERS: Readonly<Record<string, (text: string) => unknown>> = {
  dotenv: (text) => parseDotenv(text, "file"),
  "dotenv value": (text) => parseDotenv(`A=${text}`, "file"),
  duration: parseDuration,
  size: parseSize,
  moment: (text) => parseTimeSpec("since", text, 0),
  schedule: (text) => parseSchedule("cron", { schedule: text }),
  "schedule field": (text) => parseSchedule("cron", { schedule: `${text} * * * *` }),
  target: (text) => resolveTarget(text, [API]),
  label: (text) => resolveTarget(`label:${text}`, [API]),
  "did you mean": (text) => nearestWord(text, ["api", `${text}b`]),
  name: (text) => [nameFromPath(text), nameProblem(text), baseName(text)],
  "listen address": parseListen,
  "socket address": (text) => parseSockets([text]),
  "server address": (text) => baseOf(`http://localhost/${text}`),
  signal: parseSignal,
  "plain text": plainText,
  colors: colorText,
  width: textWidth,
  "clean line": cleanLine,
  "clean colors": cleanColors,
  cut: (text) => cut(text, 1e9),
  wrap: (text) => wrap(text, 80),
  keys: decodeKeys,
  "safe text": safeText,
  interpolation: (text) => interpolate(text, () => "x"),
  ini: (text) => emptyIni().add("x.conf", `[a]\n${text}`),
  "ini value": (text) => emptyIni().add("x.conf", `[a]\nk=v\n ${text}`),
  supervisord: (text) =>
    supervisord.convert(
      documentOf(`[program:a]\ncommand=${text}\nenvironment=${text}`),
      { env: {} },
    ),
  procfile: (text) => procfile.convert(documentOf(`a: x\nb: ${text}`), { env: {} }),
  "shell line": shellCommand,
  "shell words": splitWords,
  json: (text) => readJson("file", text, true),
  "json text": (text) => readJson("file", `"${text}`, true),
  "json list": (text) => readJson("file", `{"a":[1,${text}`, true),
  toml: (text) => tomlPlaces(text),
  "toml value": (text) => tomlPlaces(`a=${text}`),
  "toml header": (text) => tomlPlaces(`[${text}`),
  glob: (text) => pathTest(text)("src/aaaa/aaaaaaaaaaaaaaaaaaaaaaaa"),
  "glob of a path": (text) => pathTest("**/*a*a*a*b")(text),
  "glob of a name": (text) => nameTest("*a*a*a*a*a*b")(text),
  "line splitter": splitAll,
  "expression": (text) => linePattern(text, { field: "grep", code: "bad_request" }),
  "dashboard colors": (text) => [plainLine(text), ansiRuns(text)],
  "level of a line": (text) => levelOf(text),
  "error line": (text) => [errorLine([text, text]), likelyErrorLine([text, text])],
  "dashboard env": (text) => readEnv(text, "env"),
};

/** The pieces that the texts repeat. */
const UNITS = [
  ...[
    "a",
    "1",
    " ",
    "\t",
    "=",
    "#",
    "'",
    '"',
    "\\",
    "${",
    "}",
    "{a,",
    "%(",
    "[",
    "]",
    ".",
    "-",
    "/",
  ],
  ...[
    "*",
    "a=",
    "a ",
    "a:",
    ";",
    " ;",
    "\x1b[",
    "\x1b]",
    "\n",
    "\n ",
    '\\"',
    "$$",
    "/*",
    "é",
    "'a",
  ],
];

const AROUND = [["", ""], ["a", "x"], ["1", "!"], ['"', ""], ["a ", '"']] as const;

const SMALL = 2000;
const TIMES = 16;

/** CPU time of this thread in ms, so that parallel tests do not count. The result is ignored. */
function timeOf(parse: (text: string) => unknown, text: string): number {
  const before = threadCpuUsage();
  try {
    parse(text);
  } catch (error) {
    if (error instanceof RangeError) throw error;
  }
  const { user, system } = threadCpuUsage(before);
  return (user + system) / 1000;
}

/** For 16 times the text, linear takes 16 times as long and quadratic 256 times. */
function isLinear(parse: (text: string) => unknown, textOf: (size: number) => string): boolean {
  const [small, large] = [textOf(SMALL), textOf(SMALL * TIMES)];
  return Array.from({ length: 4 }).some(() =>
    timeOf(parse, large) < 4 * TIMES * Math.max(timeOf(parse, small), 0.5)
  );
}

for (const [name, parse] of Object.entries(PARSERS)) {
  Deno.test(`parsing takes linear time: ${name}`, () => {
    for (const unit of UNITS) {
      for (const [before, after] of AROUND) {
        const textOf = (size: number) => before + unit.repeat(size / unit.length) + after;
        assert(isLinear(parse, textOf), `many ${JSON.stringify(unit)} in ${before}…${after}`);
      }
    }
  });
}

Deno.test("readYaml() and placeAt() take linear time", async () => {
  const keys = (count: number) => Array.from({ length: count }, (_, i) => `k${i}: 1\n`).join("");
  const timeFor = async (count: number) => {
    const text = keys(count);
    const before = threadCpuUsage();
    const { places } = await readYaml("file", text);
    for (let i = 0; i < count; i++) placeAt("file", text, places.keys.get([`k${i}`])!.offset);
    const { user, system } = threadCpuUsage(before);
    return user + system;
  };
  // Other load on the machine only makes a run slower, so take the fastest.
  const leastFor = async (count: number) =>
    Math.min(await timeFor(count), await timeFor(count), await timeFor(count));
  const [some, many] = [await leastFor(2400), await leastFor(19_200)];
  assert(many < 24 * some, `${some} and ${many} µs`);
});

Deno.test("parseDotenv() rejects a file that is too large and names it", () => {
  const text = `A=${"x".repeat(1024 * 1024)}`;
  const error = assertThrows(() => parseDotenv(text, "/srv/.env"), ProcsupError);
  assertEquals([error.code, error.message], [
    "invalid_config",
    'Invalid "/srv/.env": it is larger than 1 MiB',
  ]);
});
