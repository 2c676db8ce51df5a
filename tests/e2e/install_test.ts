import { assert, assertEquals, assertStringIncludes } from "@std/assert";
import { fromFileUrl } from "@std/path";
import { lstatIfAny } from "../../src/platform/files/stat.ts";
import { built } from "../support/executable.ts";
import { isInstalled } from "../support/installed.ts";
import { outputOf } from "../support/output_of.ts";
import { tempHome } from "../support/temp_home.ts";

const SCRIPT = fromFileUrl(import.meta.resolve("../../scripts/install.sh"));

/** A fake executable that prints a version, and answers as a daemon only if a file exists. */
const FAKE =
  '#!/bin/sh\ncase $1 in version) echo "procsup 0.1.0" ;; ping) test -e ~/daemon ;; esac\n';

async function sha256(bytes: Uint8Array<ArrayBuffer>): Promise<string> {
  return new Uint8Array(await crypto.subtle.digest("SHA-256", bytes)).toHex();
}

/** A folder with a release, a HOME, and an installation prefix. */
class Scene implements AsyncDisposable {
  readonly #temp = tempHome();
  readonly path = this.#temp.path;
  readonly release = `${this.path}/release`;
  readonly bin = `${this.path}/prefix/bin/procsup`;

  /** Creates a release with `program` under `name`. */
  async put(program: Uint8Array<ArrayBuffer> | string = FAKE, name = "procsup"): Promise<void> {
    const bytes = typeof program === "string" ? new TextEncoder().encode(program) : program;
    Deno.mkdirSync(this.release, { recursive: true });
    Deno.writeFileSync(`${this.release}/${name}`, bytes);
    Deno.writeTextFileSync(`${this.release}/SHA256SUMS`, `${await sha256(bytes)}  ${name}\n`);
  }

  install(...args: string[]) {
    return this.installWith({}, ...args);
  }

  async installWith(env: Record<string, string>, ...args: string[]) {
    return await outputOf(
      new Deno.Command("sh", {
        args: [SCRIPT, "--prefix", `${this.path}/prefix`, ...args],
        clearEnv: true,
        env: { HOME: this.path, PATH: Deno.env.get("PATH")!, ...env },
        stdin: "null",
      }),
    );
  }

  /** All files in the prefix. */
  installed(): string[] {
    try {
      return [...Deno.readDirSync(`${this.path}/prefix/bin`)].map(({ name }) => name);
    } catch {
      return [];
    }
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#temp[Symbol.asyncDispose]();
  }
}

Deno.test("install.sh installs from a folder, a file URL and a server, over an existing version", async () => {
  await using scene = new Scene();
  await scene.put();
  const asked: string[] = [];
  await using server = Deno.serve({ port: 0, onListen: () => {} }, async (request) => {
    const { pathname } = new URL(request.url);
    asked.push(pathname);
    const file = await Deno.open(scene.release + pathname).catch(() => undefined);
    return file === undefined ? new Response("", { status: 404 }) : new Response(file.readable);
  });
  const url = `http://127.0.0.1:${server.addr.port}`;
  for (const from of [scene.release, `file://${scene.release}`, url]) {
    const { code, stdout, stderr } = await scene.install("--from", from);
    assertEquals([code, stderr], [0, ""]);
    assertStringIncludes(stdout, `Installed procsup 0.1.0 as ${scene.bin}`);
    assertStringIncludes(stdout, `export PATH="${scene.path}/prefix/bin:$PATH"`);
    assertEquals(scene.installed(), ["procsup"]);
    assertEquals(Deno.statSync(scene.bin).mode! & 0o777, 0o755);
  }
  assertEquals(asked, ["/SHA256SUMS", "/procsup"]);
  const missing = await scene.install("--from", `${url}/nowhere`);
  assertEquals(missing.code, 1);
  assertStringIncludes(missing.stderr, "Cannot get SHA256SUMS from");
});

/** A folder of programs, except for `without`. */
function programsWithout(scene: Scene, without: string): string {
  const folder = `${scene.path}/without-${without}`;
  Deno.mkdirSync(folder);
  for (const from of ["/usr/bin", "/bin"]) {
    for (const { name } of Deno.readDirSync(from)) {
      if (name !== without && lstatIfAny(`${folder}/${name}`) === undefined) {
        Deno.symlinkSync(`${from}/${name}`, `${folder}/${name}`);
      }
    }
  }
  return folder;
}

for (const [program, other] of [["curl", "wget"], ["wget", "curl"]] as const) {
  Deno.test(`install.sh follows no redirect from https to http with ${program}`, {
    ignore: !isInstalled(program) || !isInstalled("openssl"),
  }, async () => {
    await using scene = new Scene();
    await scene.put();
    const certificate = `${scene.path}/cert.pem`;
    const words = ["req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1"];
    const names = ["-subj", "/CN=127.0.0.1", "-addext", "subjectAltName=IP:127.0.0.1"];
    const files = ["-nodes", "-keyout", `${scene.path}/key.pem`, "-out", certificate];
    await new Deno.Command("openssl", { args: [...words, ...names, ...files], stderr: "null" })
      .output();
    Deno.writeTextFileSync(`${scene.path}/.wgetrc`, `ca_certificate = ${certificate}\n`);
    const file = async (path: string) =>
      new Response(await Deno.readFile(scene.release + path.slice(path.lastIndexOf("/"))));
    const asked: string[] = [];
    await using plain = Deno.serve({ port: 0, onListen: () => {} }, (request) => {
      asked.push(request.url);
      return file(new URL(request.url).pathname);
    });
    const tls = {
      cert: Deno.readTextFileSync(certificate),
      key: Deno.readTextFileSync(`${scene.path}/key.pem`),
    };
    await using secure = Deno.serve({ port: 0, onListen: () => {}, ...tls }, (request) => {
      const { pathname, origin } = new URL(request.url);
      const [, way, name] = pathname.split("/");
      if (way === "relative") return redirect(`/absolute/${name}`);
      if (way === "absolute") return redirect(`${origin}/${name}`);
      return way === "down"
        ? redirect(`http://127.0.0.1:${plain.addr.port}/${name}`)
        : file(pathname);
    });
    const env = { PATH: programsWithout(scene, other), CURL_CA_BUNDLE: certificate };
    const from = (path: string) => `https://127.0.0.1:${secure.addr.port}${path}`;
    for (const path of ["", "/relative"]) {
      const { code, stderr } = await scene.installWith(env, "--from", from(path));
      assertEquals([code, stderr], [0, ""], path);
    }
    const { code, stderr } = await scene.installWith(env, "--from", from("/down"));
    assertEquals([code, asked], [1, []]);
    assertStringIncludes(stderr, "Cannot get SHA256SUMS from");
  });
}

function redirect(location: string): Response {
  return new Response(null, { status: 302, headers: { location } });
}

Deno.test("install.sh rejects a release that is damaged or does not run, and keeps the installed one", async () => {
  await using scene = new Scene();
  await scene.put();
  assertEquals((await scene.install("--from", scene.release)).code, 0);
  Deno.writeTextFileSync(`${scene.release}/procsup`, `${FAKE}# changed\n`);
  const damaged = await scene.install("--from", scene.release);
  assertEquals(damaged.code, 1);
  assertStringIncludes(damaged.stderr, "its checksum is wrong; nothing was changed");

  await scene.put("#!/bin/sh\nexit 1\n");
  const broken = await scene.install("--from", scene.release);
  assertEquals(broken.code, 1);
  assertStringIncludes(broken.stderr, "does not run on this machine; nothing was changed");

  await scene.put(FAKE, "procsup-of-another-machine");
  const foreign = await scene.install("--from", scene.release);
  assertEquals(foreign.code, 1);
  assertStringIncludes(foreign.stderr, "has nothing for this machine");
  assertEquals(Deno.readTextFileSync(scene.bin), FAKE);
  assertEquals(scene.installed(), ["procsup"]);
});

Deno.test("install.sh reports that it cannot write, and changes nothing", async () => {
  await using scene = new Scene();
  await scene.put();
  Deno.writeTextFileSync(`${scene.path}/prefix`, "a file");
  const { code, stdout, stderr } = await scene.install("--from", scene.release);
  assertEquals([code, stdout], [1, ""]);
  assertStringIncludes(stderr, "choose another --prefix");
});

Deno.test("install.sh --help prints its usage, also when piped into a shell", async () => {
  const piped = ["-c", `cat "$0" | sh -s -- --help`, SCRIPT];
  for (const args of [[SCRIPT, "--help"], piped]) {
    const { code, stdout, stderr } = await new Deno.Command("sh", { args, cwd: "/" }).output();
    const text = new TextDecoder();
    assertEquals([code, text.decode(stderr)], [0, ""]);
    assertStringIncludes(text.decode(stdout), "\n  install.sh --uninstall [--prefix DIR] ");
  }
});

Deno.test("install.sh --uninstall removes only the program and its unpacked files", async () => {
  await using scene = new Scene();
  await scene.put();
  assertEquals((await scene.install("--from", scene.release)).code, 0);
  const cache = `${scene.path}/.cache/procsup`;
  Deno.mkdirSync(`${cache}/0123`, { recursive: true });
  Deno.writeTextFileSync(`${cache}/0123/.mark`, "");
  Deno.mkdirSync(`${scene.path}/.procsup`);

  Deno.writeTextFileSync(`${scene.path}/daemon`, "");
  const refused = await scene.install("--uninstall");
  assertEquals(refused.code, 1);
  assertStringIncludes(refused.stderr, "A daemon runs: end it and its apps first");
  Deno.removeSync(`${scene.path}/daemon`);

  assertEquals((await scene.install("--uninstall")).code, 0);
  assertEquals(scene.installed(), []);
  assertEquals([...Deno.readDirSync(`${scene.path}/.cache`)], []);
  assert(Deno.statSync(`${scene.path}/.procsup`).isDirectory);
  assertStringIncludes((await scene.install("--uninstall")).stderr, "There is no");
});

Deno.test(
  { name: "install.sh installs the real executable", ignore: built === undefined },
  async () => {
    await using scene = new Scene();
    await scene.put(Deno.readFileSync(built!));
    const { code, stdout, stderr } = await scene.install("--from", scene.release);
    assertEquals([code, stderr], [0, ""]);
    assertStringIncludes(stdout, "Installed procsup 0.1.0");
    assertEquals((await scene.install("--uninstall")).code, 0);
    assertEquals([...Deno.readDirSync(`${scene.path}/.cache`)], []);
  },
);

Deno.test(
  { name: "shellcheck finds no problems in the shell scripts", ignore: !isInstalled("shellcheck") },
  async () => {
    const root = fromFileUrl(import.meta.resolve("../.."));
    const scripts = [
      "scripts/install.sh",
      "scripts/compile/stub.sh",
      "scripts/compile/npm_launcher.sh",
      "scripts/demo/apps/numbers.sh",
      "scripts/demo/apps/worker.sh",
      ".ci/run",
    ];
    const { code, stdout } = await new Deno.Command("shellcheck", { args: scripts, cwd: root })
      .output();
    assertEquals([code, new TextDecoder().decode(stdout)], [0, ""]);
  },
);
