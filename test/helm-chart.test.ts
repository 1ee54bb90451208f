/** The Helm chart of deploy/: what it renders for each role, with the values of docs/helm.md. */
import { spawnSync } from "node:child_process";
import { mkdirSync, readdirSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { parse, parseAllDocuments } from "yaml";
import { packagePath } from "../src/base/package-root.ts";
import { programVersion } from "../src/base/program-version.ts";
import { readPassiveConfig } from "../src/party/config/config.ts";
import { readRelayConfig } from "../src/party/config/relay-config.ts";
import { scratchDirectory } from "./support/command.ts";
import { tandemHere } from "./world/command-here.ts";

const chart = packagePath("deploy", "helm", "tandem");
const helm = process.env["TANDEM_HELM"] ?? "helm";
const hasHelm = spawnSync(helm, ["version"]).status === 0;
if (!hasHelm) console.warn("no helm here (TANDEM_HELM names one): the chart is not rendered");
const validator = process.env["TANDEM_KUBERNETES_VALIDATE"] ?? "kubernetes-validate";
const hasValidator = hasHelm && spawnSync(validator, ["--version"]).status === 0;
if (!hasValidator) console.warn("no kubernetes-validate here (from PyPI): manifests are not compared with schemas");

interface Mount {
  readonly name: string;
  readonly mountPath: string;
}
interface Container {
  readonly name: string;
  readonly image: string;
  readonly args?: readonly string[];
  readonly command?: readonly string[];
  readonly securityContext: object;
  readonly resources: object;
  readonly volumeMounts: readonly Mount[];
  readonly livenessProbe?: object;
  readonly readinessProbe?: object;
}
interface PodSpec {
  readonly securityContext: object;
  readonly automountServiceAccountToken: boolean;
  readonly initContainers: readonly Container[];
  readonly containers: readonly Container[];
  readonly volumes: readonly { readonly name: string }[];
}
interface Manifest {
  readonly kind: string;
  readonly metadata: { readonly name: string };
  readonly spec: {
    readonly template?: { readonly spec: PodSpec };
    readonly volumeClaimTemplates?: readonly { readonly metadata: { readonly name: string } }[];
    readonly [field: string]: unknown;
  };
  readonly data?: Readonly<Record<string, string>>;
}

const page = readFileSync(packagePath("docs", "helm.md"), "utf8");
/** The values of the walk-through, by role. */
const examples = [...page.matchAll(/^ *```yaml\n *# values-(\w+)\.yaml\n([\s\S]*?)^ *```$/gm)].map(
  ([, role, text]) => [role, text] as const,
);

function rendered(values: string): { readonly text: string; readonly manifests: readonly Manifest[] } {
  const file = join(scratchDirectory(), "values.yaml");
  writeFileSync(file, values);
  const { status, stdout, stderr } = spawnSync(helm, ["template", "try", chart, "-f", file], { encoding: "utf8" });
  if (status !== 0) throw new Error(stderr);
  const documents = parseAllDocuments(stdout).map((document) => document.toJS() as Manifest | null);
  return { text: stdout, manifests: documents.filter((manifest) => manifest !== null) };
}

const podsIn = (manifests: readonly Manifest[]) =>
  manifests.flatMap(({ kind, spec }) =>
    spec?.template === undefined ? [] : [{ kind, pod: spec.template.spec, claims: spec.volumeClaimTemplates ?? [] }],
  );

test("the page has values for each role, and the chart is of this release", () => {
  expect(examples.map(([role]) => role).toSorted()).toEqual(["party", "relay", "serve", "workers"]);
  const { version, appVersion } = parse(readFileSync(join(chart, "Chart.yaml"), "utf8")) as Record<string, string>;
  expect([version, appVersion]).toEqual([programVersion(), programVersion()]);
});

test.runIf(hasHelm)("helm lint has no complaint, and without a role nothing is rendered", () => {
  const { stdout } = spawnSync(helm, ["lint", "--strict", chart], { encoding: "utf8" });
  expect(stdout).toContain("0 chart(s) failed");
  expect(rendered("{}").manifests).toEqual([]);
});

test.runIf(hasHelm).each(examples)("%s: every container is confined, and what it mounts is there", (role, values) => {
  const { manifests } = rendered(values);
  const pods = podsIn(manifests);
  expect(pods).toHaveLength(1);
  for (const { pod, claims } of pods) {
    expect(pod.automountServiceAccountToken).toBe(false);
    expect(pod.securityContext).toMatchObject({ runAsNonRoot: true, runAsUser: 1000 });
    expect(pod.securityContext).toMatchObject({ seccompProfile: { type: "RuntimeDefault" } });
    const volumes = [...pod.volumes.map(({ name }) => name), ...claims.map(({ metadata }) => metadata.name)];
    for (const container of [...pod.initContainers, ...pod.containers]) {
      expect(container.image).toBe(`tandem:${programVersion()}`);
      expect(container.securityContext).toEqual({
        allowPrivilegeEscalation: false,
        readOnlyRootFilesystem: true,
        capabilities: { drop: ["ALL"] },
      });
      expect(container.resources).toHaveProperty("limits.memory");
      for (const { name } of container.volumeMounts) expect(volumes, `${container.name}: ${name}`).toContain(name);
    }
    const [main] = pod.containers;
    // The Secret itself, which a group may read, is not in the container that runs.
    expect(main.volumeMounts.map(({ name }) => name)).not.toContain("secret");
    if (role === "workers") continue; // it opens no port
    expect(main).toMatchObject({ livenessProbe: expect.any(Object), readinessProbe: expect.any(Object) });
  }
  expect(manifests.filter(({ kind }) => kind === "NetworkPolicy")).toHaveLength(1);
});

test.runIf(hasHelm)("the party's port for its workers is open to those alone that are named", () => {
  const party = examples.find(([role]) => role === "party")?.[1] ?? "";
  expect(rendered(party).text).not.toContain("4322");
  const values = parse(party) as { party: object };
  const workers = [{ podSelector: { matchLabels: { "app.kubernetes.io/component": "workers" } } }];
  const { manifests } = rendered(JSON.stringify({ ...values, party: { ...values.party, workers } }));
  const policy = manifests.find(({ kind }) => kind === "NetworkPolicy");
  expect(policy?.spec["ingress"]).toContainEqual({ ports: [{ port: "crew", protocol: "TCP" }], from: workers });
  const [{ pod }] = podsIn(manifests);
  expect(pod.containers[0]).toMatchObject({
    ports: expect.arrayContaining([{ name: "crew", containerPort: 4322 }]) as unknown,
  });
});

test.runIf(hasHelm).each(examples)("%s: the command has all options that the chart passes", async (_, values) => {
  for (const { pod } of podsIn(rendered(values).manifests)) {
    const [command, ...args] = pod.containers[0].args ?? [];
    const { stdout } = await tandemHere(command, "--help");
    for (const arg of args.filter((each) => each.startsWith("-"))) expect(stdout).toContain(arg.split("=")[0]);
  }
});

test.runIf(hasHelm)("configs of the page are valid, with their files where the chart mounts them", async () => {
  const configOf = (role: string, file: string): string => {
    const values = examples.find(([name]) => name === role)?.[1] ?? "";
    const manifest = rendered(values).manifests.find(({ kind }) => kind === "ConfigMap");
    const path = join(scratchDirectory(), file);
    writeFileSync(path, manifest?.data?.[file] ?? "");
    return path;
  };
  const party = await readPassiveConfig(configOf("party", "passive.yaml"));
  expect(party).toMatchObject({ tls: { key: "/keys/key.pem" }, output: { directory: "/data/jobs" } });
  expect(party.tls.insecure_key_file).toBe(false);
  expect(await readRelayConfig(configOf("relay", "relay.yaml"))).toMatchObject({ listen: { port: 8443 } });
});

test.runIf(hasHelm)("keys are copied so that only their owner may read them", () => {
  const values = examples.find(([role]) => role === "party")?.[1] ?? "";
  const [init] = podsIn(rendered(values).manifests)[0].pod.initContainers;
  const folder = scratchDirectory();
  const [secret, keys] = ["secret", "keys"].map((name) => join(folder, name));
  for (const path of [secret, keys]) mkdirSync(path);
  writeFileSync(join(secret, "key.pem"), "secret", { mode: 0o440 });
  const [program, ...args] = (init.command ?? []).map((each) =>
    each.replaceAll("/secret/", `${secret}/`).replaceAll("/keys/", `${keys}/`),
  );
  expect(spawnSync(program, args).status).toBe(0);
  expect(readdirSync(keys)).toEqual(["key.pem"]);
  expect(statSync(join(keys, "key.pem")).mode & 0o077).toBe(0);
});

test.runIf(hasHelm)("what is missing is named", () => {
  for (const [values, words] of [
    ["party: { enabled: true, config: x }", /party.secret must name a Secret/],
    ["party: { enabled: true, secret: x }", /party.config must be the config as text/],
    ["serve: { enabled: true, config: x, secret: x, claim: x }", /serve.models must name a model/],
    ["serve: { enabled: true, config: x, secret: x, models: [a] }", /serve.claim must name a claim/],
  ] as const)
    expect(() => rendered(values)).toThrow(words);
});

test.runIf(hasValidator).each(examples)("%s: the manifests fit the schemas of Kubernetes", (_, values) => {
  const file = join(scratchDirectory(), "manifests.yaml");
  writeFileSync(file, rendered(values).text);
  for (const version of ["1.30", "1.36"]) {
    const { status, stdout, stderr } = spawnSync(validator, ["--strict", "-k", version, file], { encoding: "utf8" });
    expect(status, `${stdout}${stderr}`).toBe(0);
  }
});
