/** Where a release comes from, and the commands of git and rsync that fetch it. Pure. */

import { ProcsupError, quote } from "../../model/errors.ts";
import { checkDestination } from "../../contexts/ssh.ts";
import { plainText } from "../../model/plain_text.ts";
import { isAbsolute } from "@std/path";

/** A repository at a branch, tag or commit; or a folder, of this or another machine. */
export type Source =
  | { readonly kind: "git"; readonly url: string; readonly ref: string }
  | { readonly kind: "rsync"; readonly path: string };

const URL_SOURCE = /^(https?|ssh|git|file):\/\/(?!-)(?![^/]*@-)/;
const REF = /^[A-Za-z0-9_][\w./+@-]*$/;

/** Transports that git may use: never `ext`, which runs a command. */
export const GIT_ENVIRONMENT: Readonly<Record<string, string>> = {
  GIT_ALLOW_PROTOCOL: "https:http:ssh:git:file",
  GIT_TERMINAL_PROMPT: "0",
};

/**
 * Reads a source. Throws `bad_request` for what a program could take for an option or a command, and
 * for a relative path, unless relative ones are known here.
 */
export function parseSource(text: string, absolute: (path: string) => string): Source {
  if (
    text.startsWith("-") || text.includes("::") || plainText(text) !== text || text.includes("\n")
  ) {
    throw invalid(text, "it could be taken for an option or a command");
  }
  const [, address = text, ref] = /^([^#]*)#(.*)$/.exec(text) ?? [];
  if (ref !== undefined && (!REF.test(ref) || ref.includes(".."))) {
    throw invalid(text, `${quote(ref)} is not the name of a branch, tag or commit`);
  }
  const [, host, path] = /^([^:/]+):(.+)$/.exec(address) ?? [];
  const isGit = ref !== undefined || address.includes("://") || /^git@|\.git\/?$/.test(address);
  if (address.includes("://") && !URL_SOURCE.test(address)) {
    throw invalid(text, "its scheme is none of https, http, ssh, git and file");
  }
  if (host !== undefined && path !== undefined && !address.includes("://")) {
    checkDestination(host);
    if (path.startsWith("-")) throw invalid(text, "its path begins with a dash");
    return isGit
      ? { kind: "git", url: address, ref: ref ?? "HEAD" }
      : { kind: "rsync", path: address };
  }
  const where = address.includes("://") ? address : absolute(address);
  return isGit ? { kind: "git", url: where, ref: ref ?? "HEAD" } : { kind: "rsync", path: where };
}

/** Refuses relative paths: those of another machine. */
export function onlyAbsolute(path: string): string {
  if (isAbsolute(path)) return path;
  throw new ProcsupError("bad_request", `Invalid source ${quote(path)}: a relative path`, {
    hint:
      "With another machine it is a folder there, as /srv/build, or of a third one, as host:/srv/build",
  });
}

/** The commands that fetch it into a new folder. The first word is the program. */
export function fetchCommands(source: Source, folder: string): readonly (readonly string[])[] {
  if (source.kind === "rsync") {
    const path = source.path.endsWith("/") ? source.path : `${source.path}/`;
    return [["rsync", "-rlpt", "-s", "--", path, `${folder}/`]];
  }
  return [
    ["git", "init", "-q", folder],
    ["git", "-C", folder, "fetch", "-q", "--depth", "1", "--", source.url, source.ref],
    ["git", "-C", folder, "checkout", "-q", "--detach", "FETCH_HEAD"],
  ];
}

function invalid(text: string, why: string): ProcsupError {
  return new ProcsupError("bad_request", `Invalid source ${quote(text)}: ${why}`, {
    hint: "A repository such as git@host:shop.git#v2, a folder, or host:/srv/build",
  });
}
