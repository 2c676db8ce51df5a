/** The sign-in page: by the printed link, its code, or a token. */

import { signal, useSignal } from "@preact/signals";
import { useEffect } from "preact/hooks";
import { ApiError, messageOf } from "../data/api.ts";
import { processes } from "../data/store.ts";
import { openSession } from "../data/tab_session.ts";
import { Button } from "../controls/controls.tsx";
import { Logo } from "../controls/icons.tsx";
import { credentialIn } from "../data/format.ts";
import { place, replacePlace } from "../data/router.ts";

/** Why the opened link failed to sign in; empty on success or without a link. */
const linkProblem = signal("");

const ENDED = "Your session has ended. To continue where you were, request a new link:";

export function SignIn() {
  const text = useSignal("");
  const error = useSignal("");
  const busy = useSignal(false);
  // If processes were shown, the user was signed in.
  const failure = linkProblem.value || (processes.value === null ? undefined : ENDED);
  useEffect(() => document.getElementById("credential")?.focus(), []);
  const submit = async (event: Event) => {
    event.preventDefault();
    busy.value = true;
    try {
      await signIn(text.value);
      location.reload();
    } catch (problem) {
      error.value = messageOf(problem);
      busy.value = false;
    }
  };
  return (
    <main class="sign-in" id="main">
      <div class="sign-in-card">
        <Logo size={44} />
        <h1>Sign in to procsup</h1>
        {failure
          ? <p class="bad" role="alert">{failure}</p>
          : <p class="faint">On the machine, run this and open the link it prints:</p>}
        <pre><code>procsup web open</code></pre>
        <form onSubmit={submit}>
          <label for="credential">Or paste a link, a code or a token</label>
          <div class="row">
            <input
              id="credential"
              type="password"
              required
              autocomplete="off"
              spellcheck={false}
              aria-invalid={error.value !== ""}
              aria-describedby="sign-in-more"
              value={text}
              onInput={({ currentTarget }) => text.value = currentTarget.value}
            />
            <Button kind="primary" submits disabled={busy.value}>
              {busy.value ? "Signing in…" : "Sign in"}
            </Button>
          </div>
          <div id="sign-in-more">
            {error.value ? <p class="bad small" role="alert">{error}</p> : (
              <p class="faint small">
                A token with fewer rights:{" "}
                <code>procsup token create NAME --role read</code>. You stay signed in until the
                last tab is closed.
              </p>
            )}
          </div>
        </form>
      </div>
    </main>
  );
}

/** Signs in. Throws an error with a message for the user. */
async function signIn(text: string): Promise<void> {
  const credential = credentialIn(text);
  if (credential === undefined) throw new Error("This is neither a link, nor a code, nor a token");
  const { kind, text: given } = credential;
  if (kind === "code") return await openSession({ code: given });
  try {
    return await openSession({ token: given });
  } catch (error) {
    if (!isWrong(error) || kind === "token") throw error;
  }
  try {
    await openSession({ code: given });
  } catch (error) {
    throw isWrong(error) ? new Error(NEITHER) : error;
  }
}

const NEITHER = "This is not a valid token, and not a valid code: a code works once, for a minute";

function isWrong(error: unknown): boolean {
  return error instanceof ApiError && error.status === 401;
}

/** Signs in if the page was opened by a sign-in link: `#/login?code=…`, which works once. */
export async function signInByLink(): Promise<void> {
  if (!isLink()) return;
  const code = place.value.params.get("code") ?? "";
  replacePlace([]);
  try {
    await openSession({ code });
  } catch (error) {
    linkProblem.value = messageOf(error);
  }
}

/** Opening a sign-in link in an existing page only changes the hash: reload. */
addEventListener("hashchange", () => isLink() && location.reload());

function isLink(): boolean {
  return place.value.path[0] === "login";
}
