/** What somebody sees who is not signed in. */

import { useSignal } from "@preact/signals";
import { Button } from "../parts/button.tsx";

/** The screen. */
export function SignIn() {
  const code = useSignal("");
  const submit = (event: Event) => {
    event.preventDefault();
    const text = code.value.trim();
    const given = /[?&]code=([^&\s]+)/.exec(text)?.[1] ?? encodeURIComponent(text);
    location.href = `/login?code=${given}`;
  };
  return (
    <main class="sign-in" id="main">
      <svg class="logo" width="48" height="48" viewBox="0 0 32 32" aria-hidden="true">
        <rect width="32" height="32" rx="8" />
        <path d="M7 17h4l3-8 5 14 3-6h3" />
      </svg>
      <h1>procsup</h1>
      <p>This dashboard opens by a link that works once. On the machine, run</p>
      <pre><code>procsup web open</code></pre>
      <p>and open the link it prints, or paste it here:</p>
      <form onSubmit={submit}>
        <label class="unseen" for="code">Link or code</label>
        <input
          id="code"
          type="text"
          placeholder="Link or code"
          required
          autocomplete="off"
          value={code}
          onInput={({ currentTarget }) => code.value = currentTarget.value}
        />
        <Button kind="primary" submits>Sign in</Button>
      </form>
    </main>
  );
}
