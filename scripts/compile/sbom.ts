/** What is in the executable: a CycloneDX list made of the import graph and the lock file. */

import { VERSION } from "../../src/protocol/actions.ts";

interface Lock {
  readonly npm?: Readonly<Record<string, { readonly integrity?: string }>>;
}

interface Info {
  readonly npmPackages?: Readonly<
    Record<string, { readonly name: string; readonly version: string }>
  >;
}

/** Writes the list of Deno, procsup and every package that its code reaches. */
export async function writeSbom(root: string, path: string): Promise<void> {
  const lock: Lock = JSON.parse(Deno.readTextFileSync(`${root}/deno.lock`));
  const packages = Object.values((await graph(root)).npmPackages ?? {});
  const components = packages.map(({ name, version }) =>
    npmComponent(name, version, integrityOf(lock, name, version))
  ).sort((one, other) => one["bom-ref"] < other["bom-ref"] ? -1 : 1);
  const sbom = {
    bomFormat: "CycloneDX",
    specVersion: "1.6",
    // Each list has its own; GitHub's attestation refuses one that has none.
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

async function graph(root: string): Promise<Info> {
  const { success, stdout } = await new Deno.Command(Deno.execPath(), {
    args: ["info", "--json", "main.ts"],
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
