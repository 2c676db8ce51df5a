import { assert, assertEquals } from "@std/assert";
import { Deployment } from "kubernetes-models/apps/v1/Deployment";
import { CronJob } from "kubernetes-models/batch/v1/CronJob";
import { Job } from "kubernetes-models/batch/v1/Job";
import { ConfigMap } from "kubernetes-models/v1/ConfigMap";
import { Service } from "kubernetes-models/v1/Service";
import { parseAllDocuments } from "yaml";
import { EXPORTED_KEYS } from "../engines.ts";
import { documentedFiles, exportedText, sampleFiles, SAMPLES } from "./exporting.ts";

const KINDS = { ConfigMap, CronJob, Deployment, Job, Service };

/** A name that Kubernetes accepts for an object with a Service. */
const NAME = /^[a-z]([a-z0-9-]{0,61}[a-z0-9])?$/;

Deno.test("kubernetesManifests() writes valid manifests for the documented files and every key", async () => {
  const samples = EXPORTED_KEYS.filter((key) => key in SAMPLES).map((key) => sampleFiles(key).set);
  const files = [...documentedFiles(), ...samples];
  assert(files.length > 30);
  for (const file of files) {
    const text = await exportedText(file, "kubernetes");
    // Kubernetes reads YAML 1.1.
    for (const document of parseAllDocuments(text, { version: "1.1" })) {
      const manifest = document.toJS();
      const kind = KINDS[manifest.kind as keyof typeof KINDS];
      assert(NAME.test(manifest.metadata.name), manifest.metadata.name);
      try {
        new kind(manifest).validate();
      } catch (error) {
        throw new Error(`${file}\n${JSON.stringify(manifest, null, 1)}\n${error}`);
      }
    }
  }
});

Deno.test("a CronJob runs every copy of its app", async () => {
  const job = { command: "/bin/sh run.sh", cron: "0 4 * * *", instances: 3 };
  const text = await exportedText(JSON.stringify({ processes: { job } }), "kubernetes");
  const [document] = parseAllDocuments(text, { version: "1.1" });
  const { parallelism, completions } = document!.toJS().spec.jobTemplate.spec;
  assertEquals([parallelism, completions], [3, 3]);
});
