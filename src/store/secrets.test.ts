/** No error, event, observer call or share of a job contains the private key or a gradient. */
import { mkdtemp, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { inspect } from "node:util";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { prepareJob } from "../../test/support/prepared-job.ts";
import { randomTable } from "../../test/support/tables.ts";
import { generateKey, type PrivateKey, selectKernel } from "../crypto/paillier/index.ts";
import { resolveParameters } from "../base/parameters/parameters.ts";
import { trainingParameters } from "../gbdt/parameters/training-parameters.ts";
import { objectiveFor } from "../gbdt/objective/objectives.ts";
import { idsDigest } from "../protocol/ids.ts";
import { modelId } from "../protocol/model-id.ts";
import { connectInMemory } from "../transport/in-memory.ts";
import { writeActiveShare, writePassiveShare } from "./share-files.ts";

const table = randomTable("secrets", { rows: 50, features: [1, 2], missingFraction: 0.1 });
let folder: string;
let key: PrivateKey;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), "tandem-secrets-"));
  key = await generateKey({ bits: 256, insecure: true });
});
afterAll(() => rm(folder, { recursive: true }));

function keySecrets(): string[] {
  const { p, q } = key.secretPrimes();
  return [p, q]
    .flatMap(({ prime, subprime, generator }) => [prime, subprime, generator])
    .flatMap((value) => [value.toString(16), value.toString(10)]);
}

/** Everything visible of a value: its text with all properties, and its JSON if it has one. */
function visible(value: unknown): string {
  const text = inspect(value, {
    depth: 12,
    showHidden: true,
    maxArrayLength: null,
    maxStringLength: null,
    compact: true,
    breakLength: Infinity,
  });
  const error =
    value instanceof Error ? `${value.stack} ${JSON.stringify(value, Object.getOwnPropertyNames(value))}` : "";
  return `${text} ${error}`.toLowerCase();
}

function expectNothingOf(secrets: readonly string[], seen: string): void {
  expect(secrets.length).toBeGreaterThan(0);
  expect(secrets.filter((secret) => seen.includes(secret.toLowerCase()))).toEqual([]);
}

test("the check itself detects a leak", () => {
  expect(() => expectNothingOf(keySecrets(), visible({ deep: [{ p: key.p }] }))).toThrow(/to deeply equal/);
  expect(() => expectNothingOf(keySecrets(), visible(new Error(`p is ${key.p.toString(16)}`)))).toThrow(
    /to deeply equal/,
  );
  expectNothingOf(keySecrets(), visible(key));
});

test("a job that succeeds", async () => {
  const job = prepareJob({ table, kernel: selectKernel(), key });
  const { model } = await job.run();
  const [activePath, passivePath] = ["active", "passive"].map((name) => join(folder, name));
  const origin = { job: "test", model: modelId(job.agreed, job.ids.length, idsDigest(job.ids)) };
  await writeActiveShare(activePath, { name: "bank", ...origin, ...model });
  await writePassiveShare(passivePath, {
    name: "passive-1",
    ...origin,
    active: "bank",
    splits: job.passives[0].role.ownSplits,
  });
  const shares = (await readFile(activePath, "utf8")) + (await readFile(passivePath, "utf8"));
  const seen =
    visible(job.observed) + shares + visible([job.active, job.scheme, job.passives[0].role, job.passives[0].scheme]);
  expect(job.observed.length).toBeGreaterThan(8);
  expectNothingOf(keySecrets(), seen);

  // Gradients of every tree after the first, whose gradients are all +-1/2.
  const objective = objectiveFor("binary:logistic");
  const margins = job.observed
    .filter(([party, event]) => party === "bank" && event === "treeFinished")
    .map(([, , , after]) => after as Float64Array);
  const gradients = margins.flatMap((after) => {
    const [g, h] = objective.gradients(after, table.labels, resolveParameters(trainingParameters, {}));
    return [...g, ...h].map(String).filter((text) => text.length > 8);
  });
  expect(gradients.length).toBeGreaterThan(100);
  expectNothingOf(gradients, seen);
});

describe("a job that fails", () => {
  test.each([
    ["with a damaged answer", "histograms"],
    ["with a party that is lost", "splits"],
    ["with a refused prediction", "predict"],
  ] as const)("%s", async (_name, call) => {
    const job = prepareJob({
      table,
      kernel: selectKernel(),
      key,
      connect: (name, service) => {
        const peer = connectInMemory(name, service);
        return {
          ...peer,
          async *histograms(nodes, options) {
            for await (const answer of peer.histograms(nodes, options)) {
              if (call === "histograms") answer.scheme[answer.scheme.length - 3] ^= 1;
              yield answer;
            }
          },
          splits: (decisions, options) =>
            call === "splits" ? peer.splits({ tree: 99 }, options) : peer.splits(decisions, options),
          predict: (request, options) =>
            call === "predict"
              ? peer.predict({ firstRow: 1 << 20, rowCount: 1 }, options)
              : peer.predict(request, options),
        };
      },
    });
    const error = await job.run().then(
      () => null,
      (failure: unknown) => failure,
    );
    expect(error).toBeInstanceOf(Error);
    const { failure } = await job.passives[0].service.ended;
    expect(failure).not.toBeNull();
    expectNothingOf(keySecrets(), visible(error) + visible(failure) + visible(job.observed));
  });
});
