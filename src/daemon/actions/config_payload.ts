/** What the verbs on configuration files have in common. */

import * as z from "zod";
import type { ConfigRequest } from "../config_files.ts";

/** One word or several. */
export const words = z.union([z.string().min(1), z.array(z.string().min(1))]);

/** Fields of both verbs. */
export const common = {
  only: words.optional(),
  profile: z.string().min(1).optional(),
  variables: z.record(z.string(), z.string()).optional(),
  wait: z.boolean().optional(),
};

type Common = z.output<z.ZodObject<typeof common>>;

/** The part of a request that those fields make. */
export function commonRequest({ only, profile, variables, wait }: Common): ConfigRequest {
  return {
    ...(only === undefined ? {} : { only }),
    ...(profile === undefined ? {} : { profile }),
    ...(variables === undefined ? {} : { variables }),
    ...(wait === undefined ? {} : { wait }),
  };
}
