/** The files of a crew: that they fit each other, and what reads them, as far as can be seen without a cluster. */
import { spawnSync } from "node:child_process";
import { X509Certificate } from "node:crypto";
import { existsSync, readdirSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { parse, parseAllDocuments } from "yaml";
import { scratchDirectory } from "../../../test/support/command.ts";
import { expectError } from "../../../test/support/expect-error.ts";
import { composeShape, helmShape, kubernetesShapes } from "../../../test/support/platform-shapes.ts";
import { natsProgram } from "../../../test/support/nats-server.ts";
import { readCrewKey } from "../crew/crew-access.ts";
import { readWorkerConfig } from "../config/crew-config.ts";
import { readActiveConfig, readPassiveConfig } from "../config/config.ts";
import { initParty } from "../init.ts";
import { initCrew } from "./init-crew.ts";

const folder = scratchDirectory();
const out = join(folder, "crew");
const party = join(folder, "passive.yaml");
await initParty({ role: "passive", name: "retailer", host: "127.0.0.1", port: 0, directory: folder });
await initCrew({ party, hosts: ["nats-0.nats", "nats-1.nats"], port: 4222, directory: out });
const read = (name: string): string => readFileSync(join(out, name), "utf8");

test("only the owner may read them, and nothing is overwritten", async () => {
  expect(readdirSync(out).length).toBeGreaterThan(12);
  for (const name of readdirSync(out)) expect(statSync(join(out, name)).mode & 0o077, name).toBe(0);
  const again = (): Promise<unknown> => initCrew({ party, hosts: ["a"], port: 1, directory: out });
  await expectError(again, "FILE_UNWRITABLE", /ca\.pem exists already/);
});

test("the party's lines and worker.yaml name the same engine, key and folder", async () => {
  const text = readFileSync(party, "utf8").replace(/PASTE-[\w-]+/, "ab".repeat(32));
  writeFileSync(party, `${text}${read("crew.yaml")}`);
  const { crew } = await readPassiveConfig(party);
  const worker = await readWorkerConfig(join(out, "worker.yaml"));
  expect(crew).toMatchObject({ name: "retailer", servers: ["tls://nats-0.nats:4222", "tls://nats-1.nats:4222"] });
  expect(crew?.listen).toEqual({ host: "0.0.0.0", port: 4322 });
  for (const field of ["name", "servers", "secret", "folder"] as const) expect(worker[field]).toEqual(crew?.[field]);
  expect((await readCrewKey(worker.secret, false)).length).toBe(32);
});

test("an active party whose scheme has no tasks gets no crew, and hears why", async () => {
  const bank = join(folder, "bank");
  await initParty({ role: "active", name: "bank", host: "127.0.0.1", port: 0, directory: bank });
  const active = join(bank, "active.yaml");
  writeFileSync(active, `${readFileSync(active, "utf8")}\nscheme: lattice\n`);
  const crew = join(bank, "crew");
  await expectError(
    () => initCrew({ party: active, hosts: ["a"], port: 1, directory: crew }),
    "USAGE",
    /active\.yaml: with 'scheme: lattice' an active party has nothing to do that workers could share/,
  );
  expect(existsSync(crew)).toBe(false);
});

test("certificates are the authority's, for the names that the server's config knows", () => {
  const authority = new X509Certificate(read("ca.pem"));
  for (const [file, name] of [
    ["server.pem", "nats-1.nats"],
    ["server.pem", "localhost"],
    ["party.pem", "retailer-party"],
    ["worker.pem", "retailer-worker"],
  ] as const) {
    const certificate = new X509Certificate(read(file));
    expect(certificate.checkIssued(authority) && certificate.verify(authority.publicKey), file).toBe(true);
    expect(certificate.checkHost(name), file).toBe(name);
  }
  for (const user of ["retailer-party", "retailer-worker"]) expect(read("nats.conf")).toContain(`user: "${user}"`);
  expect(
    readdirSync(out).filter((name) => name.includes("ca.")),
    "its key is gone",
  ).toEqual(["ca.pem"]);
});

test.skipIf(natsProgram === null)("nats-server takes its config", () => {
  const { status, stderr } = spawnSync(natsProgram ?? "", ["-t", "-c", "nats.conf"], { cwd: out });
  expect([status, stderr.toString()]).toEqual([0, expect.stringContaining("is valid") as unknown]);
});

test("kubernetes.yaml has the shape of its kinds, and its parts fit each other", async () => {
  const text = read("kubernetes.yaml");
  expect(text).toMatch(/^# .*\n# THIS FILE HOLDS SECRETS IN PLAIN/);
  const documents = parseAllDocuments(text).map(
    (document) => document.toJS() as { kind: keyof typeof kubernetesShapes },
  );
  expect(documents.map(({ kind }) => kind)).toEqual(["Secret", "Deployment", "PodDisruptionBudget"]);
  const secret = kubernetesShapes.Secret.parse(documents[0]);
  const { metadata, spec } = kubernetesShapes.Deployment.parse(documents[1]);
  const budget = kubernetesShapes.PodDisruptionBudget.parse(documents[2]);
  const pod = spec.template.spec;
  for (const { matchLabels } of [spec.selector, budget.spec.selector])
    expect(matchLabels).toEqual(spec.template.metadata.labels);
  expect(metadata.name).toMatch(/^[a-z0-9-]{1,63}$/);
  const [container] = pod.containers;
  expect(container.volumeMounts.map(({ name }) => name)).toEqual(pod.volumes.map(({ name }) => name));
  expect(pod.volumes[0].secret?.secretName).toBe(secret.metadata.name);
  const mount = container.volumeMounts[0].mountPath;
  const inside = Object.entries(secret.data).map(([name, base64]) => [name, Buffer.from(base64, "base64").toString()]);
  const copy = scratchDirectory();
  for (const [name, content] of inside) writeFileSync(join(copy, name), content, { mode: 0o640 });
  expect(container.args).toEqual(["worker", "-c", `${mount}/worker.yaml`]);
  const worker = await readWorkerConfig(join(copy, "worker.yaml"));
  expect(worker.folder).toBe(container.volumeMounts[1].mountPath);
  const key = await readCrewKey(worker.secret, worker.tls.insecure_key_file);
  expect(Buffer.from(key).toString("hex")).toBe(read("crew.key").trim());
});

test("the chart's values and the compose file have their shapes; neither has a secret", () => {
  const [values, compose] = [read("nats-values.yaml"), read("compose.yaml")];
  const { config } = helmShape.parse(parse(values));
  expect(Object.keys(config.merge.accounts)).toEqual(["tandem-retailer"]);
  const services = composeShape.parse(parse(compose)).services;
  expect(services["engine"].volumes.join(" ")).not.toContain("crew.key");
  for (const text of [values, compose, read("nats.conf"), read("crew.yaml")]) {
    expect(text).not.toContain(read("crew.key").trim());
    expect(text).not.toContain("PRIVATE KEY");
  }
});

test("a name that no crew can have is refused, and so is a file that is no config", async () => {
  const at = { hosts: ["a"], port: 1, directory: join(folder, "other") };
  await expectError(() => initCrew({ party, name: "A B", ...at }), "USAGE", /cannot be one/);
  await expectError(() => initCrew({ party: join(folder, "none.yaml"), ...at }), "FILE_UNREADABLE");
});

test("an active party's crew has the same files, and nothing of blocks in them", async () => {
  const bank = scratchDirectory();
  await initParty({ role: "active", name: "bank", host: "127.0.0.1", port: 7443, directory: bank });
  const config = join(bank, "active.yaml");
  const own = join(bank, "crew");
  await initCrew({ party: config, hosts: ["localhost"], port: 4223, directory: own });
  expect(readdirSync(own)).toEqual(readdirSync(out));
  const lines = readFileSync(join(own, "crew.yaml"), "utf8");
  writeFileSync(config, `${readFileSync(config, "utf8").replace(/PASTE-[\w-]+/, "ab".repeat(32))}${lines}`);
  const { crew } = await readActiveConfig(config, () => "job");
  expect(crew).toMatchObject({ name: "bank", servers: ["tls://localhost:4223"] });
  expect(lines).not.toMatch(/block|store/);
  expect(readFileSync(join(own, "nats.conf"), "utf8")).toContain("127.0.0.1:8223");
  const kubernetes = readFileSync(join(own, "kubernetes.yaml"), "utf8");
  const documents = parseAllDocuments(kubernetes).map(
    (document) => document.toJS() as { kind: keyof typeof kubernetesShapes },
  );
  for (const document of documents) kubernetesShapes[document.kind].parse(document);
  expect(kubernetes).not.toContain("claim");
});
