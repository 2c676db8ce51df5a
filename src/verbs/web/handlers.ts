/** The verbs on the web listener, its tokens, and webhooks. */

import type { Handlers } from "../../daemon/verb_context.ts";
import { onlyGiven } from "../../model/merge_patch.ts";
import type { WEB_VERBS } from "./rows.ts";

export const WEB_HANDLERS: Handlers<keyof typeof WEB_VERBS> = {
  web_start: ({ web }, given) => web.start(onlyGiven(given)),
  web_stop: ({ web }) => web.stop(),
  web_status: ({ web }) => web.status(),
  web_link: ({ web, by }) => web.link(by),
  token_create: ({ web, by }, { name, ...grant }) => web.tokens.create(name, grant, by?.account),
  token_list: ({ web }) => web.tokens.list(),
  token_revoke({ web }, { name }) {
    web.gatekeeper.revoke(name);
    return { status: "revoked" };
  },
  webhook_list: ({ webhooks }) => webhooks.status(),
  webhook_set: ({ webhooks, supervisor, paths }, { name, ...keys }) =>
    webhooks.set(supervisor, { ...keys, name }, paths.home),
  async webhook_delete({ webhooks, supervisor }, { name }) {
    await webhooks.delete(supervisor, name);
    return { status: "deleted" };
  },
  webhook_test: ({ webhooks }, { name }) => webhooks.test(name),
};
