/** Finds the processes that belong to a chaos run. */

/** A living process that an app of the run started, or the app itself. */
export interface Living {
  readonly pid: number;
  readonly ppid: number;
  readonly name: string;
  readonly runId: string;
  readonly command: string;
}

function environment(pid: number): Map<string, string> {
  const text = Deno.readTextFileSync(`/proc/${pid}/environ`);
  return new Map(
    text.split("\0").map((line) => {
      const at = line.indexOf("=");
      return [line.slice(0, at), line.slice(at + 1)];
    }),
  );
}

function stat(pid: number): { state: string; ppid: number } {
  const text = Deno.readTextFileSync(`/proc/${pid}/stat`);
  const [state, ppid] = text.slice(text.lastIndexOf(")") + 2).split(" ");
  return { state: state!, ppid: Number(ppid) };
}

function pids(): number[] {
  return [...Deno.readDirSync("/proc")].map(({ name }) => Number(name)).filter((pid) => pid > 0);
}

/** Living processes with the run's folder in their environment: wrappers, apps, hooks, leftovers. */
export function living(folder: string): Living[] {
  return pids().flatMap((pid) => {
    try {
      const env = environment(pid);
      if (env.get("CHAOS_DIR") !== folder) return [];
      const { state, ppid } = stat(pid);
      if (state === "Z" || state === "X") return [];
      const command = Deno.readTextFileSync(`/proc/${pid}/cmdline`).split("\0").join(" ");
      const name = env.get("PROCSUP_NAME") ?? "";
      return [{ pid, ppid, name, runId: env.get("PROCSUP_RUN_ID") ?? "", command }];
    } catch {
      return [];
    }
  });
}

/** Children of a process that are zombies. */
export function zombiesOf(parent: number): number[] {
  return pids().filter((pid) => {
    try {
      const { state, ppid } = stat(pid);
      return state === "Z" && ppid === parent;
    } catch {
      return false;
    }
  });
}

/** Open descriptors and resident megabytes of a process. */
export function sizeOf(pid: number): { readonly fds: number; readonly mb: number } {
  try {
    const fds = [...Deno.readDirSync(`/proc/${pid}/fd`)].length;
    const kb = /VmRSS:\s+(\d+)/.exec(Deno.readTextFileSync(`/proc/${pid}/status`))?.[1] ?? 0;
    return { fds, mb: Math.round(Number(kb) / 1024) };
  } catch {
    return { fds: 0, mb: 0 };
  }
}
