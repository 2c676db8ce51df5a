/** The named tokens: what each may do, where, how long and since when; and the form of a new one. */

import { useSignal } from "@preact/signals";
import type { Output, TokenJson } from "../../../../protocol/wire.ts";
import { ROLES } from "../../../../verbs/verb.ts";
import { Age, Answer, Button, CopyButton, Empty, Field, Table } from "../controls/controls.tsx";
import { FormDialog } from "../controls/dialogs.tsx";
import { call } from "../data/api.ts";
import { linesOf } from "../data/format.ts";
import { usePolled } from "../data/polled.ts";
import { run } from "../process/actions.ts";
import { confirmed } from "../shell/notices.ts";

const REFRESH_MS = 15_000;

type Created = Output<"token_create">;

export function Tokens() {
  const tokens = usePolled("token_list", undefined, REFRESH_MS);
  const isOpen = useSignal(false);
  const created = useSignal<Created | undefined>(undefined);
  const revoke = async (name: string) => {
    const text = "Requests with it get 401 from then on; its sessions and streams end.";
    if (!await confirmed(`Revoke ${name}?`, text, "Revoke")) return;
    const words = { doing: `Revoking ${name}`, done: `Revoked ${name}` };
    await run(words, "token_revoke", { name });
    if (created.value?.name === name) created.value = undefined;
    await tokens.reload();
  };
  return (
    <>
      <div class="page-head">
        <h1>
          Tokens <span class="faint count">{tokens.data.value?.length || ""}</span>
        </h1>
        <Button icon="add" onClick={() => isOpen.value = true}>New token</Button>
      </div>
      {isOpen.value && (
        <NewToken
          onClose={() => isOpen.value = false}
          onCreated={(token) => (created.value = token, void tokens.reload())}
        />
      )}
      {created.value && <OnceShown token={created.value} />}
      <Answer of={tokens}>{(list) => <List tokens={list} onRevoke={revoke} />}</Answer>
    </>
  );
}

function OnceShown({ token: { name, token } }: { token: Created }) {
  return (
    <section class="panel" aria-label={`Token ${name}`}>
      <p class="row between">
        <code>{token}</code>
        <CopyButton label={`Copy the token ${name}`} text={token} />
      </p>
      <p class="faint small">The token {name}. It is not shown again.</p>
    </section>
  );
}

const HEADINGS = [
  ...[["Name", "name"] as const, "Role", "Only", "Last used", "Expires", "Created"],
  "",
];

function List({ tokens, onRevoke }: {
  readonly tokens: readonly TokenJson[];
  readonly onRevoke: (name: string) => void;
}) {
  if (tokens.length === 0) {
    return (
      <Empty title="No named tokens">
        A token lets a person or a program in, with a role, to all apps or to some. On the command
        line: <code>procsup token create grafana --role read</code>
      </Empty>
    );
  }
  return (
    <Table caption="Tokens" kind="stacked" headings={HEADINGS}>
      <tbody>
        {tokens.map(({ name, role, only, last_used_at, expires_at, created_at, made_by }) => (
          <tr key={name}>
            <th scope="row" class="name clip" title={name}>{name}</th>
            <td data-label="Role">{role}</td>
            <td data-label="Only">{only?.join(", ") ?? "all apps"}</td>
            <td data-label="Last used">
              {last_used_at === undefined ? "never" : <Age at={last_used_at} />}
            </td>
            <td data-label="Expires">
              {expires_at === undefined ? "never" : <Age at={expires_at} />}
            </td>
            <td data-label="Created">
              <Age at={created_at} /> <span class="faint small">by {made_by ?? "the owner"}</span>
            </td>
            <td class="actions">
              <Button
                icon="delete"
                kind="quiet"
                label={`Revoke ${name}`}
                onClick={() =>
                  onRevoke(name)}
              />
            </td>
          </tr>
        ))}
      </tbody>
    </Table>
  );
}

function NewToken({ onClose, onCreated }: {
  readonly onClose: () => void;
  readonly onCreated: (token: Created) => void;
}) {
  const [name, role, only, expires] = [
    useSignal(""),
    useSignal<TokenJson["role"]>("read"),
    useSignal(""),
    useSignal(""),
  ];
  const create = async () => {
    onCreated(
      await call("token_create", {
        ...{ name: name.value.trim(), role: role.value },
        ...only.value.trim() !== "" && { only: linesOf(only.value) },
        ...expires.value.trim() !== "" && { expires: expires.value.trim() },
      }),
    );
  };
  return (
    <FormDialog
      title="New token"
      verb="Create"
      doing={`Creating ${name.value}`}
      onSubmit={create}
      onClose={onClose}
    >
      <Field name="token" label="Name" required value={name} />
      <Field
        name="role"
        label="Role"
        value={role}
        options={ROLES}
        hint="operate also starts, stops and scales apps; admin may run any command"
      />
      <Field
        name="only"
        label="Only these apps"
        value={only}
        rows={2}
        hint="One per line: names, ns:shop, tag:db. Empty: all"
      />
      <Field
        name="expires"
        label="Expires"
        value={expires}
        placeholder="30d"
        hint="After a time, or at a date. Empty: never, or with your own token"
      />
    </FormDialog>
  );
}
