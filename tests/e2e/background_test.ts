/** Programs that become background processes and overwrite their environment: found, ended, told. */

import { assert, assertEquals, assertStringIncludes } from "@std/assert";
import { isListenedOn } from "../../src/platform/scan/listening_ports.ts";
import { freePort } from "../support/http_load.ts";
import { isInstalled } from "../support/installed.ts";
import { isAlive, TestDaemon } from "../support/procsup.ts";

interface Program {
  readonly needs: string;
  /** Its command, for a free port and an empty folder. */
  readonly command: (port: number, folder: string) => readonly string[];
  readonly advice: string;
}

const PROGRAMS: readonly Program[] = [
  {
    needs: "nginx",
    command: (port, folder) => {
      const paths = ["client_body", "proxy", "fastcgi", "uwsgi", "scgi"]
        .map((kind) => `${kind}_temp_path ${folder}/${kind};`).join(" ");
      const server = `server { listen 127.0.0.1:${port}; }`;
      Deno.writeTextFileSync(
        `${folder}/conf`,
        `${Deno.uid() === 0 ? "user root; " : ""}pid ${folder}/pid; events {}
         http { access_log off; ${paths} ${server} }`,
      );
      return ["nginx", "-p", folder, "-c", `${folder}/conf`, "-e", "stderr"];
    },
    advice: "nginx -g 'daemon off;'",
  },
  {
    needs: "redis-server",
    command: (port) => ["redis-server", "--port", `${port}`, "--daemonize", "yes", "--save", ""],
    advice: "redis-server --daemonize no",
  },
  {
    needs: "perl",
    command: (port) => [
      "perl",
      "-MIO::Socket::INET",
      "-MPOSIX",
      "-e",
      `$s = IO::Socket::INET->new(LocalAddr => "127.0.0.1", LocalPort => ${port}, Listen => 5);
       exit if fork; POSIX::setsid(); exit if fork; %ENV = (); $0 = "x" x 30000; sleep 1000`,
    ],
    advice: "Run it in the foreground",
  },
];

for (const { needs, command, advice } of PROGRAMS) {
  const ignore = Deno.build.os !== "linux" || !isInstalled(needs);
  // deno-lint-ignore no-console
  if (ignore) console.log(`skipped: ${needs} is not installed`);
  Deno.test(
    `start ends what ${needs} leaves in the background, and says how to keep it in the foreground`,
    {
      ignore,
    },
    async () => {
      await using daemon = await TestDaemon.start();
      const port = freePort();
      const folder = `${daemon.home}/files`;
      Deno.mkdirSync(folder);
      const app = ["--name", "app", "--cwd", folder, "--", ...command(port, folder)];
      const { code, stderr } = await daemon.cli("start", ...app);
      const [, pid] =
        /exited with code 0 and left pid (\d+) \(\S+\) in the background, which was ended/
          .exec(stderr) ?? [];
      assert(pid !== undefined, stderr);
      assertEquals([code, isAlive(Number(pid)), isListenedOn(port)], [1, false, false]);
      assertStringIncludes(stderr, advice);
      const why = await daemon.cli("why", "app");
      assertStringIncludes(why.stdout, `left pid ${pid} (`);
      assertStringIncludes(why.stdout, advice);
    },
  );
}
