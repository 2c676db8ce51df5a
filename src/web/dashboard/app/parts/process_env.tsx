/** Which variables a process gets; their values never leave the daemon. */

import type { ProcessJson } from "../data/types.ts";

/** The tab. */
export function ProcessEnv({ process: { config } }: { process: ProcessJson }) {
  const names = Object.keys((config.env ?? {}) as object).sort();
  const inherits = config.inherit_env !== false;
  return (
    <section class="panel">
      <p class="faint small">
        {inherits
          ? "It also inherits the daemon's environment."
          : "It inherits nothing of the daemon's environment but what it cannot do without."}
        {config.env_file ? ` More comes from ${[config.env_file].flat().join(", ")}.` : ""}
        {" Values are never shown."}
      </p>
      {names.length === 0 ? <p>Its configuration sets no variable.</p> : (
        <dl class="facts env">
          {names.map((name) => (
            <div key={name}>
              <dt>
                <code>{name}</code>
              </dt>
              <dd class="faint" aria-label="hidden">••••••</dd>
            </div>
          ))}
        </dl>
      )}
    </section>
  );
}
