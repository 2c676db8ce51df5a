/** Makes a new process. */

import { type Signal, useSignal } from "@preact/signals";
import { ask, messageOf } from "../data/api.ts";
import { refreshSoon } from "../data/feed.ts";
import { toast } from "../shell/notices.ts";
import { go, linkTo } from "../data/router.ts";
import { mayAdminister } from "../data/store.ts";
import type { ProcessJson } from "../data/types.ts";
import { Button, Empty } from "../controls/controls.tsx";
import { Field } from "../controls/field.tsx";
import { readEnv, readObject, splitWords } from "../data/format.ts";

const RUNTIMES = ["auto", "deno", "node", "bun", "python", "ruby", "php", "go"];
const POLICIES = ["on-failure", "always", "never"];

const BLANK = {
  name: "",
  entrypoint: "",
  args: "",
  cwd: "",
  runtime: "auto",
  restart_policy: "on-failure",
  instances: "1",
  namespace: "",
  tags: "",
  env: "",
  more: "",
};

type Fields = { readonly [K in keyof typeof BLANK]: Signal<string> };

/** The screen. */
export function Start() {
  const fields = Object.fromEntries(
    // The number of fields never changes, so that hooks keep their order.
    Object.entries(BLANK).map(([key, text]) => [key, useSignal(text)]),
  ) as Fields;
  const error = useSignal("");
  const busy = useSignal(false);
  if (!mayAdminister.value) {
    return <Empty title="Not allowed">It takes the role admin to start something new.</Empty>;
  }
  const submit = async (event: Event) => {
    event.preventDefault();
    busy.value = true;
    error.value = "";
    try {
      const made = await ask<ProcessJson>("/processes", { method: "POST", body: configOf(fields) });
      refreshSoon();
      toast("done", `Started ${made.name}`);
      go(["processes", made.name]);
    } catch (reason) {
      error.value = messageOf(reason);
      const name = fieldIn(error.value);
      document.getElementById(`field-${name}`)?.focus();
    } finally {
      busy.value = false;
    }
  };
  return (
    <>
      <nav class="trail small" aria-label="Trail">
        <a href={linkTo(["processes"])}>Processes</a> <span aria-hidden="true">/</span>
      </nav>
      <h1>Start something new</h1>
      <form class="panel start-form" onSubmit={submit}>
        <FormFields fields={fields} error={error.value} />
        {error.value && fieldIn(error.value) === undefined && (
          <p class="bad" role="alert">{error}</p>
        )}
        <div class="row end">
          <a class="button" href={linkTo(["processes"])}>Cancel</a>
          <Button kind="primary" icon="start" submits disabled={busy.value}>
            {busy.value ? "Starting…" : "Start"}
          </Button>
        </div>
      </form>
    </>
  );
}

function FormFields({ fields, error }: { fields: Fields; error: string }) {
  const common = (name: keyof Fields) => ({
    name,
    value: fields[name],
    error: fieldIn(error) === name ? error : undefined,
  });
  return (
    <>
      <div class="form-grid">
        <Field {...common("name")} label="Name" required hint="Letters, digits, . _ -" />
        <Field
          {...common("entrypoint")}
          label="Script or command"
          required
          hint="server.ts, app.py, /usr/bin/redis-server"
        />
        <Field {...common("cwd")} label="Folder" required hint="Absolute: /srv/app" />
        <Field
          {...common("args")}
          label="Arguments"
          hint="As in a shell; quotes keep words together"
        />
        <Field {...common("runtime")} label="Runtime" options={RUNTIMES} />
        <Field {...common("restart_policy")} label="Restart" options={POLICIES} />
        <Field {...common("instances")} label="Instances" numeric />
        <Field {...common("namespace")} label="Namespace" />
        <Field {...common("tags")} label="Tags" hint="Parted by blanks" />
      </div>
      <Field {...common("env")} label="Environment" rows={3} hint="KEY=value, one a line" />
      <details>
        <summary>More keys</summary>
        <Field
          {...common("more")}
          label="As JSON"
          rows={6}
          hint='Any key of the configuration: {"max_memory": "512MB", "health_check": {…}}'
        />
      </details>
    </>
  );
}

/** The configuration that the fields describe. Throws for one that cannot be read. */
function configOf(fields: Fields): Record<string, unknown> {
  const text = Object.fromEntries(
    Object.entries(fields).map(([key, { value }]) => [key, value.trim()]),
  ) as Record<keyof Fields, string>;
  const { more, args, tags, env, instances, namespace, ...plain } = text;
  return {
    ...plain,
    ...(args === "" ? {} : { args: splitWords(args) }),
    ...(tags === "" ? {} : { tags: splitWords(tags) }),
    ...(namespace === "" ? {} : { namespace }),
    ...(instances === "" || instances === "1" ? {} : { instances: Number(instances) }),
    ...(env === "" ? {} : { env: readEnv(env) }),
    ...(more === "" ? {} : readObject("more", more)),
  };
}

/** The field that a refusal is about. */
function fieldIn(message: string): keyof Fields | undefined {
  const name = /^Invalid "([a-z_]+)/.exec(message)?.[1] ??
    (/entrypoint /.test(message)
      ? "entrypoint"
      : /\balready\b|\bname\b.* taken/i.test(message)
      ? "name"
      : "");
  return Object.hasOwn(BLANK, name) ? name as keyof Fields : undefined;
}
