/** Serves the files of a folder over HTTP for `procsup serve`. */

import { type IncomingMessage, type ServerResponse, STATUS_CODES } from "node:http";
import { getMimeType } from "hono/utils/mime";
import untyped from "send";
import { basename } from "@std/path";
import { openBeneath } from "../platform/files/foreign_file.ts";

/** What we use of the package, which has no types. */
interface Sending {
  on(event: "error", act: (error: { readonly status: number }) => void): Sending;
  pipe(response: ServerResponse): ServerResponse;
}

const send = untyped as (
  request: IncomingMessage,
  path: string,
  options: { index: false; dotfiles: "allow" },
) => Sending;

interface StaticFiles {
  /** Its real path. */
  readonly folder: string;
  /** Serve `index.html` for paths without a file: the app routes in the browser. */
  readonly spa: boolean;
}

const INDEX = "index.html";

/** Hidden folders that are public by convention (RFC 8615). */
const PUBLIC = ".well-known";

/**
 * Answers a request. `send` handles ranges, ETags and conditional requests. The file is opened
 * here, because `send` would follow links out of the folder and block on a FIFO.
 */
export function serveFile(
  request: IncomingMessage,
  response: ServerResponse,
  files: StaticFiles,
): void {
  response.setHeader("x-content-type-options", "nosniff");
  if (request.method !== "GET" && request.method !== "HEAD") {
    response.setHeader("allow", "GET, HEAD");
    return refuse(response, 405);
  }
  const [path = "", query] = (request.url ?? "").split(/\?(.*)/s);
  const names = namesIn(path);
  if (names === undefined) return refuse(response, 400);
  const found = find(names, path.endsWith("/"), files);
  if (found === "folder") {
    const there = `/${names.map(encodeURIComponent).join("/")}/`;
    response.setHeader("location", query === undefined ? there : `${there}?${query}`);
    return refuse(response, 301);
  }
  if (typeof found === "number") return refuse(response, found);
  response.once("close", () => found.file[Symbol.dispose]());
  response.setHeader("content-type", getMimeType(found.name) ?? "application/octet-stream");
  // It decodes the path.
  send(request, encodeURI(found.file.path), { index: false, dotfiles: "allow" })
    .on("error", ({ status }) => {
      if (response.headersSent) response.destroy();
      else refuse(response, status);
    })
    .pipe(response);
}

/** The decoded names in a path; undefined if the path is invalid. */
function namesIn(path: string): string[] | undefined {
  if (!path.startsWith("/")) return undefined;
  try {
    const decoded = decodeURIComponent(path);
    return decoded.includes("\0") ? undefined : decoded.split("/").filter((name) => name !== "");
  } catch {
    return undefined;
  }
}

type Found = { readonly file: ReturnType<typeof openBeneath>; readonly name: string };

/** The file, an error status, or "folder" if the path of a folder lacks its final slash. */
function find(
  names: readonly string[],
  slash: boolean,
  files: StaticFiles,
): Found | "folder" | number {
  // Hidden names include "." and "..".
  if (names.some((name, index) => name.startsWith(".") && (index > 0 || name !== PUBLIC))) {
    return 404;
  }
  const found = open(names.join("/"), slash, files.folder);
  const isPage = !(names.at(-1) ?? "").includes(".");
  return found === 404 && files.spa && isPage ? open(INDEX, false, files.folder) : found;
}

function open(path: string, slash: boolean, folder: string): Found | "folder" | number {
  try {
    const file = openBeneath(folder, path);
    const { isFile, isDirectory } = Deno.statSync(file.path);
    if (isFile && !slash) return { file, name: basename(path) };
    file[Symbol.dispose]();
    if (!isDirectory) return 404;
    if (!slash) return "folder";
    return open(path === "" ? INDEX : `${path}/${INDEX}`, false, folder);
  } catch (error) {
    const missing = ["NotFound", "NotADirectory", "FilesystemLoop"];
    if (missing.includes((error as Error).name)) return 404;
    return error instanceof Deno.errors.PermissionDenied ? 403 : 500;
  }
}

function refuse(response: ServerResponse, status: number): void {
  response.statusCode = status;
  response.setHeader("content-type", "text/plain; charset=utf-8");
  response.end(`${STATUS_CODES[status]}\n`);
}
