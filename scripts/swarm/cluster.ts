/** Nodes of a Docker Swarm on this machine: each is a dockerd in its own network namespace. */

import { dirname } from "node:path";
import { comesTrue } from "../../src/platform/clock.ts";
import { run } from "../boot/root.ts";

/** Programs that a node needs. */
export const TOOLS = ["dockerd", "docker", "ip", "unshare", "busybox", "ldd", "tar"];

const SUBNET = "10.213.7";

const PATIENCE_MS = 60_000;

/** One dockerd. */
interface Node {
  readonly address: string;
  readonly host: string;
  readonly namespace: string;
  readonly folder: string;
  process: Deno.ChildProcess;
}

/** Nodes of one swarm. The first is the manager. */
export class Cluster implements AsyncDisposable {
  readonly nodes: Node[] = [];
  readonly #folder: string;
  /** Short, because names of network links have at most 15 characters. */
  readonly #id = `ps${Deno.pid.toString(36)}`;

  constructor(folder: string) {
    this.#folder = folder;
  }

  /** Environment in which `docker` talks to a node. */
  env(index = 0): Record<string, string> {
    return { DOCKER_HOST: this.nodes[index]!.host };
  }

  async start(count: number): Promise<void> {
    await run("ip", "link", "add", `${this.#id}b`, "type", "bridge");
    await run("ip", "addr", "add", `${SUBNET}.254/24`, "dev", `${this.#id}b`);
    await run("ip", "link", "set", `${this.#id}b`, "up");
    for (let index = 0; index < count; index++) await this.#add(index);
    for (const index of this.nodes.keys()) {
      await until(
        `node ${index + 1} answers`,
        async () => await this.docker(index, "version").then(() => true, () => false),
      );
    }
    const { address } = this.nodes[0]!;
    await this.docker(0, "swarm", "init", "--advertise-addr", address, "--listen-addr", address);
    const token = (await this.docker(0, "swarm", "join-token", "-q", "worker")).trim();
    for (let index = 1; index < count; index++) {
      const own = ["--advertise-addr", this.nodes[index]!.address];
      await this.docker(index, "swarm", "join", "--token", token, ...own, `${address}:2377`);
    }
  }

  /** Runs `docker` on a node. Returns the output. */
  async docker(index: number, ...args: string[]): Promise<string> {
    return await run("docker", "-H", this.nodes[index]!.host, ...args);
  }

  /** Kills a node and all its processes. */
  async kill(index: number): Promise<void> {
    const { process, namespace } = this.nodes[index]!;
    process.kill("SIGKILL");
    await process.status;
    await this.#killIn(namespace);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    for (const { process, namespace, folder } of this.nodes) {
      try {
        process.kill("SIGTERM");
      } catch {
        // It was killed before.
      }
      await process.status;
      await this.#killIn(namespace);
      await run("ip", "netns", "del", namespace).catch(() => {});
      Deno.removeSync(`/etc/netns/${namespace}`, { recursive: true });
      await run(
        "sh",
        "-c",
        `awk '$2 ~ "^${folder}/" { print $2 }' /proc/mounts | sort -r | ` +
          "xargs -r umount -l",
      ).catch(() => {});
    }
    await run("ip", "link", "del", `${this.#id}b`).catch(() => {});
  }

  async #killIn(namespace: string): Promise<void> {
    const pids = await run("ip", "netns", "pids", namespace).catch(() => "");
    for (const pid of pids.split("\n").filter(Boolean)) {
      try {
        Deno.kill(Number(pid), "SIGKILL");
      } catch {
        // It has ended.
      }
    }
  }

  async #add(index: number): Promise<void> {
    const name = `${this.#id}${index + 1}`;
    const folder = `${this.#folder}/${name}`;
    const address = `${SUBNET}.${index + 1}`;
    Deno.mkdirSync(`${folder}/cgroup`, { recursive: true });
    // Names cannot be resolved, so that docker contacts no registry.
    Deno.mkdirSync(`/etc/netns/${name}`, { recursive: true });
    Deno.writeTextFileSync(`/etc/netns/${name}/resolv.conf`, "nameserver 127.0.0.1\n");
    await run("ip", "netns", "add", name);
    await run(
      "ip",
      "link",
      "add",
      `${name}v`,
      "type",
      "veth",
      "peer",
      "name",
      "eth0",
      "netns",
      name,
    );
    await run("ip", "link", "set", `${name}v`, "master", `${this.#id}b`, "up");
    await run(
      "ip",
      "netns",
      "exec",
      name,
      "sh",
      "-c",
      `ip link set lo up &&
      ip addr add ${address}/24 dev eth0 && ip link set eth0 up &&
      ip route add default via ${SUBNET}.254`,
    );
    const host = `unix://${folder}/docker.sock`;
    const flags = `--data-root ${folder}/data --exec-root ${folder}/exec --pidfile ${folder}/pid ` +
      `-H ${host} --storage-driver vfs --exec-opt native.cgroupdriver=cgroupfs`;
    // A network namespace has its own /sys, without control groups.
    const inside = `mount --rbind ${folder}/cgroup /sys/fs/cgroup; hostname ${name}; ` +
      `exec dockerd ${flags} >${folder}/log 2>&1`;
    const script = `mount --rbind /sys/fs/cgroup ${folder}/cgroup; ` +
      `exec ip netns exec ${name} sh -c '${inside}'`;
    const process = new Deno.Command("unshare", {
      args: ["-m", "-u", "sh", "-c", script],
      ...{ stdin: "null", stdout: "null", stderr: "null" },
    }).spawn();
    this.nodes.push({ address, host, namespace: name, folder, process });
  }
}

/** Creates the root of an image: busybox, and the libraries that Deno needs. */
export async function makeRoot(root: string): Promise<void> {
  for (const folder of ["bin", "tmp", "etc", "proc", "sys", "dev", "usr/local/bin", "var/cache"]) {
    Deno.mkdirSync(`${root}/${folder}`, { recursive: true });
  }
  Deno.chmodSync(`${root}/tmp`, 0o1777);
  const busybox = (await run("sh", "-c", "command -v busybox")).trim();
  for (const program of [Deno.execPath(), busybox]) {
    const text = await run("ldd", program).catch(() => "");
    for (const [path] of text.matchAll(/\/\S+/g)) {
      Deno.mkdirSync(`${root}${dirname(path)}`, { recursive: true });
      Deno.copyFileSync(path, `${root}${path}`);
    }
  }
  Deno.copyFileSync(busybox, `${root}/bin/busybox`);
  for (const name of (await run(busybox, "--list")).trim().split("\n")) {
    if (name !== "busybox") Deno.symlinkSync("busybox", `${root}/bin/${name}`);
  }
  Deno.writeTextFileSync(
    `${root}/etc/passwd`,
    "root:x:0:0::/:/bin/sh\nnobody:x:65534:65534::/:/bin/sh\n",
  );
}

/** Waits until a condition holds. Throws after `ms`. */
export async function until(what: string, holds: () => Promise<boolean>, ms = PATIENCE_MS) {
  if (await comesTrue(holds, { ms, everyMs: 300 })) return;
  throw new Error(`Not within ${ms / 1000} s: ${what}`);
}
