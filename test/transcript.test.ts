/** The active party's observations of a real job equal those that central training predicts. */
import { beforeAll, expect, test } from "vitest";
import { generateKey, type PrivateKey, selectKernel } from "../src/crypto/paillier/index.ts";
import { quantiserFor } from "../src/codec/gradient-layout.ts";
import { BoostingTask } from "../src/gbdt/boost/boosting-task.ts";
import { ColumnSampler, toColumnRates } from "../src/gbdt/boost/column-sampling.ts";
import { sampleRows } from "../src/gbdt/boost/row-sampling.ts";
import { type OwnTree, transcriptFrom } from "./support/observed-transcript.ts";
import { TranscriptRecorder } from "../src/privacy/attack/recorder.ts";
import type { Observation } from "../src/messages/observation.ts";
import { strideOf, type Transcript } from "../src/privacy/attack/transcript.ts";
import { membershipFacts } from "../src/base/membership.ts";
import { middleBins, mostFrequentBins } from "../src/scheme/candidates/candidate-plan.ts";
import { lattice } from "../src/scheme/lattice/lattice.ts";
import { type TestJob, trainFederated, trainInOnePlace } from "./support/in-memory-job.ts";
import { manyFeatures } from "./support/oracle-jobs.ts";
import { randomTable } from "./support/tables.ts";
import { binTable, rowsOf, samplingSecret, testJob } from "./world/simulated.ts";

const kernel = selectKernel();
let key: PrivateKey;
beforeAll(async () => {
  key = await generateKey({ bits: 256, insecure: true });
});

type Made = Pick<TestJob, "table" | "training" | "minimums" | "shortcuts" | "scheme">;

const jobs: readonly (readonly [string, Made])[] = [
  ["plain", { table: randomTable("plain", { rows: 90, features: [2, 3, 2], missingFraction: 0.1 }) }],
  [
    "with minimums, both children asked",
    {
      table: randomTable("minimums", { rows: 90, features: [1, 3], missingFraction: 0 }),
      minimums: [
        { perNode: 1, perCandidate: 1 },
        { perNode: 4, perCandidate: 6 },
      ],
      shortcuts: { subtraction: false },
    },
  ],
  ...manyFeatures.map(([name, table, training]): [string, Made] => [name, { table, training }]),
  ...[
    ...manyFeatures,
    ["plain", randomTable("hidden", { rows: 90, features: [2, 3], missingFraction: 0.1 }), {}] as const,
  ]
    .filter(([name]) => name === "plain" || name.includes("subsample") || name.includes("categor"))
    .map(([name, table, training]): [string, Made] => [
      `members hidden, ${name}`,
      { table, training, scheme: lattice },
    ]),
];

test.each(jobs)("%s", async (_, made) => {
  const { table } = made;
  const passives = table.parties.length - 1;
  const secrets = Array.from({ length: passives }, (__, i) => new Uint8Array(32).fill(i + 1));
  const observations: Observation[][] = Array.from({ length: passives }, () => []);
  const margins: Float64Array[] = [];
  const shapes: OwnTree["children"][] = [];
  await trainFederated({
    ...made,
    kernel,
    key,
    permutationSecrets: secrets,
    look: {
      observed: (peer, observation) => observations[Number(peer.slice("passive-".length)) - 1].push(observation),
      treeFinished(tree, now, grown) {
        margins[tree] = now;
        shapes[tree] = grown.map((node) => (node.kind === "split" ? { left: node.left, right: node.right } : null));
      },
    },
  });

  const { training, codec } = testJob(made);
  const binned = binTable(table, training);
  const instances = Uint32Array.from(table.labels, (__, i) => i);
  const isHidden = made.scheme?.membership === "hidden";
  const summed = rowsOf(table).training ?? instances;
  const recorders = secrets.map(
    (permutationSecret, i) =>
      new TranscriptRecorder({
        owner: i + 1,
        features: binned[i + 1],
        permutationSecret,
        skippedBins: isHidden ? middleBins(binned[i + 1], summed) : mostFrequentBins(binned[i + 1], instances),
        sampler: new ColumnSampler(toColumnRates(training), training.seed, samplingSecret(i + 1)),
        membership: membershipFacts[isHidden ? "hidden" : "sent"],
      }),
  );
  await trainInOnePlace({
    ...made,
    key,
    watch: (tree) => {
      const watches = recorders.map((recorder) => recorder.watch(tree));
      return {
        searched: (...args) => watches.forEach((each) => each.searched(...args)),
        children: (...args) => watches.forEach((each) => each.children(...args)),
        split: (...args) => watches.forEach((each) => each.split(...args)),
      };
    },
  });

  const task = new BoostingTask(training, rowsOf(table));
  const perRound = task.treeOutputs.length;
  const plaintextBits = made.scheme?.plaintextBitsMax({}) ?? key.publicKey.bits - 1;
  const quantise = quantiserFor(codec, plaintextBits, null, isHidden);
  const gradientsOf = (round: number): Pick<OwnTree, "gradients" | "sample"> => {
    const before = round === 0 ? task.startMargins() : margins[round * perRound - 1];
    const { sample, ...real } = sampleRows(training, round, task.gradients(before), task.rows.training);
    return { sample, gradients: quantise(real) };
  };
  const rounds = Array.from({ length: shapes.length / perRound }, (__, round) => gradientsOf(round));
  const own = shapes.flatMap((children, tree): OwnTree[] => {
    const round = Math.floor(tree / perRound);
    return round < training.local_rounds ? [] : [{ tree, children, ...rounds[round] }];
  });
  recorders.forEach((recorder, i) => {
    const recorded = recorder.transcript(table.labels.length);
    const simulated = isHidden ? withoutCounts(recorded) : recorded;
    const known = isHidden ? own.map((tree) => ({ ...tree, members: membersIn(recorded, tree.tree) })) : own;
    const real = transcriptFrom(observations[i], table.labels.length, known, simulated.job);
    expect(real.trees.some(({ nodes }) => nodes.length > 2 && nodes[0].rows.length > 0)).toBe(true);
    expect({ ...real, predictions: [] }).toEqual(simulated);
    const splits = simulated.trees.flatMap(({ nodes }) => nodes.filter(({ won }) => won !== null));
    expect(real.predictions.length).toBe(splits.length);
  });
});

/** Not sent where members are hidden. */
function withoutCounts(transcript: Transcript): Transcript {
  const trees = transcript.trees.map((tree) => {
    const stride = strideOf(tree);
    const nodes = tree.nodes.map((node) => ({
      ...node,
      rows: node.rows.map((value, i) => (i % stride === stride - 1 ? 0 : value)),
    }));
    return { ...tree, nodes };
  });
  return { ...transcript, trees };
}

/** The active party knows the members of its nodes. */
function membersIn({ trees }: Transcript, tree: number): Uint32Array[] {
  const members: Uint32Array[] = [];
  for (const { id, instances } of trees.find((each) => each.tree === tree)?.nodes ?? []) members[id] = instances;
  return members;
}
