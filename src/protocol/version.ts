/**
 * The versions of procsup and of its protocols, and the names that they use. Every answer of the
 * daemon carries its version, and every command checks it.
 */

import { ProcsupError } from "../model/errors.ts";
import { commandHint } from "../model/hint.ts";

export const VERSION = "0.1.0";

/** Number of the IPC protocol; clients of another number must upgrade. */
export const PROTOCOL = 1;

export const REST_BASE = "/api/v1";

/** Takes verbs in envelopes, on the Unix socket and on the web listener. */
export const IPC_PATH = "/ipc";

/** Header of each answer of the daemon: version, a space, protocol number. */
export const PEER_HEADER = "procsup-daemon";

/** Value of that header for this program. */
export const OWN_PEER: string = `${VERSION} ${PROTOCOL}`;

/** Header of a request from a hook: `pre_start`, a space, UUID of the hook's process. */
export const HOOK_HEADER = "procsup-hook";

/** Header of a request over MCP: the name that its client gives itself, encoded like a part of a URL. */
export const AGENT_HEADER = "procsup-agent";

/** Version of the daemon. */
export interface Peer {
  readonly version: string;
  readonly protocol: number;
}

/** Parses the header; undefined without one. */
export function readPeer(header: string | undefined): Peer | undefined {
  const [version, protocol] = header?.split(" ") ?? [];
  return version === undefined ? undefined : { version, protocol: Number(protocol) };
}

/** Message about a daemon of another version; undefined if the versions match. */
export function otherVersion({ version, protocol }: Peer): string | undefined {
  if (version === VERSION && protocol === PROTOCOL) return undefined;
  return isNewer(version, VERSION)
    ? `The daemon is version ${version}, newer than this ${VERSION}: install ${version} here too`
    : `The daemon is version ${version}, this is ${VERSION}: run procsup upgrade`;
}

/** Throws `other_version` if the protocols differ. */
export function refuseOtherProtocol(peer: Peer): void {
  if (peer.protocol === PROTOCOL) return;
  throw new ProcsupError(
    "other_version",
    `The daemon is version ${peer.version}, this is ${VERSION}: ` +
      `they speak protocols ${peer.protocol} and ${PROTOCOL}`,
    {
      hint: isNewer(peer.version, VERSION)
        ? `Install version ${peer.version} here too`
        : commandHint("upgrade"),
    },
  );
}

/** Whether `one` is newer than `other`. Suffixes such as `-rc.1` do not count. */
export function isNewer(one: string, other: string): boolean {
  const [a, b] = [numbers(one), numbers(other)];
  const at = a.findIndex((number, index) => number !== b[index]);
  return at >= 0 && a[at]! > b[at]!;
}

function numbers(version: string): readonly number[] {
  const [, ...found] = /^v?(\d+)(?:\.(\d+))?(?:\.(\d+))?/.exec(version) ?? [];
  return [0, 1, 2].map((index) => Number(found[index] ?? 0));
}
