/** Streams of the daemon, as the commands read them. */

export { ndjson } from "../protocol/ndjson.ts";
