/** What the verbs on configuration files have in common. */

import * as z from "zod/mini";
import type { ConfigRequest } from "../config_files.ts";

/** One word or several; an empty list is a mistake, not all or none. */
export const words = z.union([
  z.string().check(z.minLength(1)),
  z.array(z.string().check(z.minLength(1))).check(z.minLength(1)),
]);

/** Fields of both verbs. */
export const common = {
  only: z.optional(words),
  profile: z.optional(z.string().check(z.minLength(1))),
  variables: z.optional(z.record(z.string(), z.string())),
  wait: z.optional(z.boolean()),
};

type Common = z.output<z.ZodMiniObject<typeof common>>;

/** The part of a request that those fields make. */
export function commonRequest({ only, profile, variables, wait }: Common): ConfigRequest {
  return {
    ...(only === undefined ? {} : { only }),
    ...(profile === undefined ? {} : { profile }),
    ...(variables === undefined ? {} : { variables }),
    ...(wait === undefined ? {} : { wait }),
  };
}
