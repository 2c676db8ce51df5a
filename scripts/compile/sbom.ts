/** Writes an SBOM: a CycloneDX list derived from the import graph and the lock file. */

import { VERSION } from "../../src/protocol/version.ts";
import { BUILT } from "../built.ts";

interface Lock {
  readonly npm?: Readonly<Record<string, { readonly integrity?: string }>>;
}

interface Package {
  readonly name: string;
  readonly version: string;
  /** Keys of `npmPackages`. */
  readonly dependencies: readonly string[];
}

/** Output of `deno info --json`. `npmPackages` contains the whole lock file, reached or not. */
export interface Info {
  readonly modules: readonly {
    readonly specifier: string;
    readonly npmPackage?: string;
    readonly dependencies?: readonly { readonly code?: { readonly specifier?: string } }[];
  }[];
  readonly redirects?: Readonly<Record<string, string>>;
  readonly npmPackages?: Readonly<Record<string, Package>>;
}

/** The packages that modules import, and their dependencies, by name. */
export function reachedPackages(infos: readonly Info[]): Package[] {
  const reached = new Map<string, Package>();
  const reach = (key: string, { npmPackages = {} }: Info) => {
    const found = npmPackages[key];
    if (found === undefined || reached.has(key)) return;
    reached.set(key, found);
    for (const needed of found.dependencies) reach(needed, { modules: [], npmPackages });
  };
  for (const info of infos) {
    const { modules, redirects = {} } = info;
    // Skip packages that only declarations name: tests/std.d.ts has types for the tests.
    const imported = modules.flatMap(({ dependencies = [] }) =>
      dependencies.map(({ code: { specifier = "" } = {} }) => redirects[specifier] ?? specifier)
    );
    for (const { specifier, npmPackage } of modules) {
      if (npmPackage !== undefined && imported.includes(specifier)) reach(npmPackage, info);
    }
  }
  return [...reached.values()].sort((one, other) => one.name < other.name ? -1 : 1);
}

/** The packages in the executable, including bundled ones. */
export async function shippedPackages(root: string): Promise<Package[]> {
  const entries = ["main.ts", ...BUILT.flatMap(({ from }) => "entry" in from ? [from.entry] : [])];
  return reachedPackages(await Promise.all(entries.map((entry) => graph(root, entry))));
}

/** Writes the list of Deno, procsup and every package that the code reaches. */
export async function writeSbom(root: string, path: string): Promise<void> {
  const lock: Lock = JSON.parse(Deno.readTextFileSync(`${root}/deno.lock`));
  const components = (await shippedPackages(root)).map(({ name, version }) =>
    npmComponent(name, version, integrityOf(lock, name, version))
  );
  const sbom = {
    bomFormat: "CycloneDX",
    specVersion: "1.6",
    // GitHub's attestation requires a serial number.
    serialNumber: `urn:uuid:${crypto.randomUUID()}`,
    version: 1,
    metadata: {
      component: { type: "application", name: "procsup", version: VERSION },
      tools: { components: [{ type: "application", name: "deno", version: Deno.version.deno }] },
    },
    components: [
      { type: "platform", name: "deno", version: Deno.version.deno },
      { type: "platform", name: "v8", version: Deno.version.v8 },
      ...components,
    ],
  };
  Deno.writeTextFileSync(path, `${JSON.stringify(sbom, null, 2)}\n`);
}

async function graph(root: string, entry: string): Promise<Info> {
  const { success, stdout } = await new Deno.Command(Deno.execPath(), {
    args: ["info", "--json", entry],
    cwd: root,
  }).output();
  if (!success) throw new Error("deno info failed");
  return JSON.parse(new TextDecoder().decode(stdout));
}

function integrityOf(lock: Lock, name: string, version: string): string | undefined {
  const key = Object.keys(lock.npm ?? {}).find((key) =>
    key === `${name}@${version}` || key.startsWith(`${name}@${version}_`)
  );
  return key === undefined ? undefined : lock.npm![key]!.integrity;
}

function npmComponent(name: string, version: string, integrity: string | undefined) {
  const purl = `pkg:npm/${name.replace("@", "%40")}@${version}`;
  const content = integrity?.replace(/^sha512-/, "");
  return {
    type: "library",
    "bom-ref": purl,
    name,
    version,
    purl,
    ...(content === undefined
      ? {}
      : { hashes: [{ alg: "SHA-512", content: Uint8Array.fromBase64(content).toHex() }] }),
  };
}
