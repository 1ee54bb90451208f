/**
 * Where members are hidden: what a passive party answers and refuses, and that no job reveals more than was estimated.
 */
import { membershipFacts } from "../src/base/membership.ts";
import { beforeAll, expect, test } from "vitest";
import { generateKey, type PrivateKey } from "../src/crypto/paillier/index.ts";
import { portableKernel } from "../src/crypto/paillier/portable-kernel.ts";
import { candidateCount } from "../src/gbdt/split/candidate.ts";
import { nodesAskedMax } from "../src/gbdt/tree/grow.ts";
import { noDefences } from "../src/privacy/defences/defences.ts";
import { type DisclosureFacts, disclosuresOf } from "../src/privacy/disclosures.ts";
import type { LedgerName } from "../src/messages/table.ts";
import type { Observation } from "../src/messages/observation.ts";
import { lattice } from "../src/scheme/lattice/lattice.ts";
import { connectInMemory } from "../src/transport/in-memory.ts";
import type { PassivePeer } from "../src/wire/peer.ts";
import { expectError } from "./support/expect-error.ts";
import { type TestJob, trainFederated } from "./support/in-memory-job.ts";
import { randomTable } from "./support/tables.ts";
import { binTable, testJob } from "./world/simulated.ts";

let key: PrivateKey;
beforeAll(async () => {
  key = await generateKey({ bits: 256, insecure: true });
});

const rows = 60;
const table = randomTable("questions", { rows, features: [1, 3] });
const job = (more: Partial<TestJob> = {}): TestJob => ({
  table,
  kernel: portableKernel,
  key,
  scheme: lattice,
  ...more,
});

type Nodes = Parameters<PassivePeer["histograms"]>[0];

/** Changes the request of one call, counted from the first. */
function asking(change: (nodes: Nodes) => Nodes, at: number): NonNullable<TestJob["connect"]> {
  return (name, service) => {
    const peer = connectInMemory(name, service);
    let calls = 0;
    return new Proxy(peer, {
      get: (target, property) => {
        const own: unknown = Reflect.get(target, property);
        if (property === "histograms")
          return (nodes: Nodes, options: Parameters<PassivePeer["histograms"]>[1]) =>
            calls++ === at ? ofRoot(target.histograms(change(nodes), options)) : target.histograms(nodes, options);
        return typeof own === "function" ? (own.bind(target) as unknown) : own;
      },
    });
  };
}

/** The honest requests. */
async function* ofRoot(answers: ReturnType<PassivePeer["histograms"]>): ReturnType<PassivePeer["histograms"]> {
  for await (const answer of answers) if (answer.node === 0) yield answer;
}

async function* twice(nodes: Nodes): Nodes {
  const all = [];
  for await (const node of nodes) all.push(node);
  yield* all;
  yield* all;
}

/** The same requests under valid node numbers, but more of them than a tree can have. */
async function* more(nodes: Nodes): Nodes {
  const all = [];
  for await (const node of nodes) all.push(node);
  for (let number = 0; number < 7; number++) for (const message of all) yield { ...message, node: number };
}

test("a node is answered once", async () => {
  const training = { num_round: 1 };
  const work = (): Promise<unknown> => trainFederated(job({ training, connect: asking(twice, 0) }));
  await expectError(work, "PROTOCOL_STATE", /node 0 of tree 0 is asked for too often/);
});

test("no more nodes are answered than a tree can need", async () => {
  const training = { num_round: 1 };
  const work = (): Promise<unknown> => trainFederated(job({ training, connect: asking(more, 0) }));
  await expectError(work, "PROTOCOL_STATE", /node 4 of tree 0 is asked for too often/);
});

test.each<[string, NonNullable<TestJob["training"]>]>([
  ["all columns", {}],
  ["columns drawn per tree", { colsample_bytree: 0.5, num_round: 5 }],
  ["columns drawn per node", { colsample_bynode: 0.5 }],
  ["a sample of rows", { subsample: 0.5 }],
])("a job reveals no more than was estimated before it: %s", async (_name, changes) => {
  const seen: Observation[] = [];
  const look = { observed: (_peer: string, observation: Observation) => void seen.push(observation) };
  const {
    seen: [{ active, passive }],
  } = await trainFederated(job({ training: changes, look }));
  expect(passive.ledger).toEqual(active.ledger);
  const { training } = testJob({ training: changes });
  const { colsample_bytree: byTree, colsample_bylevel: byLevel, colsample_bynode: byNode } = training;
  const columnsAreSampled = Math.min(byTree, byLevel, byNode) < 1;
  const features = binTable(table, training)[1];
  const facts = {
    active: "bank",
    passive: "shop",
    trees: training.num_round,
    rounds: training.num_round,
    hasStart: false,
    defences: noDefences,
    localRounds: 0,
    depth: training.max_depth,
    leaves: 0,
    binsMax: training.max_bin,
    memberships: [membershipFacts.hidden],
    treeShapeIsSent: byNode < 1,
    key: "lattices",
    instances: rows,
    ciphertextsPerInstance: 2,
    sampling: { method: "none" },
    columnsAreSampled,
    classes: 0,
    validationRows: 0,
    predictedRows: rows,
    alignment: null,
    passiveParty: {
      features: features.length,
      candidates: features.reduce((sum, feature) => sum + candidateCount(feature), 0),
      constrainedFeatures: 0,
      groupedFeatures: 0,
      minimums: null,
      scoringIdsMax: "refused",
    },
  } as const satisfies DisclosureFacts;
  const said = new Map(disclosuresOf(facts).reveals.map(({ name, atMost }) => [name as string, atMost]));
  for (const [name, count] of Object.entries(passive.ledger))
    // The table counts features there.
    if (count > 0 && name !== "candidates")
      expect(said.has(name) && (said.get(name) ?? Infinity), name).toBeGreaterThanOrEqual(count);
  const counted: LedgerName[] = ["candidateSums", "candidateLinks", "splitOutcomes", "encryptedGradients", "wins"];
  for (const name of counted) expect(passive.ledger[name], name).toBeGreaterThan(0);
  expect(passive.ledger.drawnTogether > 0).toBe(columnsAreSampled);
  const asked = seen.filter(({ kind }) => kind === "encrypted node").length;
  expect(asked).toBeLessThanOrEqual(said.get("nodesAsked") ?? 0);
  expect(said.get("nodesAsked")).toBeGreaterThanOrEqual(
    training.num_round * nodesAskedMax({ maxDepth: training.max_depth, maxLeaves: 0 }, { byLevel, byNode }),
  );
});
