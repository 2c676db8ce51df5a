/** Which version the other end is: every answer of the daemon says it, and every command looks. */

import { ProcsupError } from "../model/errors.ts";
import { isNewer } from "../model/version.ts";
import { PROTOCOL, VERSION } from "./version.ts";

/** Header of each answer on the Unix socket: version, a space, number of the protocol. */
export const PEER_HEADER = "procsup-daemon";

/** The value of that header, for this program. */
export const OWN_PEER: string = `${VERSION} ${PROTOCOL}`;

/** Header of a request out of a hook: `pre_start`, a space, UUID of the hook's process. */
export const HOOK_HEADER = "procsup-hook";

/** The daemon, as a client learns of it. */
export interface Peer {
  readonly version: string;
  readonly protocol: number;
}

/** Reads the header; undefined without one. */
export function readPeer(header: string | undefined): Peer | undefined {
  const [version, protocol] = header?.split(" ") ?? [];
  return version === undefined ? undefined : { version, protocol: Number(protocol) };
}

/** What a person should know and do when the daemon is of another version; undefined when it is not. */
export function otherVersion({ version, protocol }: Peer): string | undefined {
  if (version === VERSION && protocol === PROTOCOL) return undefined;
  return isNewer(version, VERSION)
    ? `The daemon is version ${version}, this is the older ${VERSION}: install ${version} here too`
    : `The daemon is version ${version}, this is ${VERSION}: run procsup upgrade`;
}

/** Throws `other_version` when the two do not understand each other. */
export function refuseOtherProtocol(peer: Peer): void {
  if (peer.protocol === PROTOCOL) return;
  throw new ProcsupError(
    "other_version",
    `The daemon is version ${peer.version}, this is ${VERSION}: ` +
      `they speak protocols ${peer.protocol} and ${PROTOCOL}`,
    {
      hint: isNewer(peer.version, VERSION)
        ? `Install version ${peer.version} here too`
        : "procsup upgrade",
    },
  );
}
