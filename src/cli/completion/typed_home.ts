/** The home that a command line under way names. Pure. */

/**
 * The last complete `--home` of `before`, the words before the one that is being typed; undefined
 * without one. They are as they were typed: a quote or a `~` stands for what the shell would make of
 * it, `user` being the user's own folder.
 */
export function typedHome(before: readonly string[], user: string | undefined): string | undefined {
  let home: string | undefined;
  before.forEach((word, at) => {
    if (word.startsWith("--home=")) home = word.slice("--home=".length);
    else if (before[at - 1] === "--home") home = word;
  });
  if (home === undefined || home === "") return undefined;
  const quoted = /^(["'])(.*)\1$/.exec(home);
  if (quoted !== null) return quoted[2];
  const plain = home.replace(/\\(.)/g, "$1");
  return user === undefined ? plain : plain.replace(/^~(?=\/|$)/, user);
}
