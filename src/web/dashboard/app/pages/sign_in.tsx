/** The sign-in page. */

import { useSignal } from "@preact/signals";
import { useEffect } from "preact/hooks";
import { messageOf } from "../data/api.ts";
import { linkProblem, signIn } from "../data/sign_in.ts";
import { processes } from "../data/store.ts";
import { Button, Logo } from "../controls/controls.tsx";

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
