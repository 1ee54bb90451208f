/** A passive party's role, driven message by message as an active party would. */
import { create } from "@bufbuild/protobuf";
import { quantise } from "../../src/codec/batch-codec.ts";
import type { PrivateKey } from "../../src/crypto/paillier/index.ts";
import { selectKernel } from "../../src/crypto/paillier/index.ts";
import {
  type ActiveGradients,
  ActiveGradientsSchema,
  ActiveHelloSchema,
  type ActiveNode,
  ActiveNodeSchema,
  ActivePredictSchema,
  type ActiveSetUp,
  ActiveSetUpSchema,
  ActiveOrderSchema,
  ActiveSplitDecisionsSchema,
  ActiveTestRowsSchema,
  ActiveTreeFinishedSchema,
} from "../../src/wire/generated/tandem/v1/tandem_pb.ts";
import { gradientLayout } from "../../src/codec/gradient-layout.ts";
import { idsDigest } from "../../src/protocol/ids.ts";
import { type AgreedParameters, noiseIn, proposedParameters } from "../../src/protocol/job-parameters.ts";
import type { PassiveRole } from "../../src/protocol/passive/role.ts";
import { isSet } from "../../src/wire/bitmap.ts";
import { protocolVersion } from "../../src/wire/version.ts";

import { type JobOptions, prepareJob, type PreparedJob } from "./prepared-job.ts";
import { collect, one } from "./streams.ts";
import { testJob } from "../world/simulated.ts";

/** Feature 1 is a copy of feature 0, so that every split ties; half of each is missing. */
export const column = Float32Array.of(1, 2, 3, Number.NaN, 1, 2, 3, Number.NaN, 1, 2);
const table = { labels: Float64Array.from(column, (_, i) => i % 2), parties: [[column], [column, column]] };
const plain = { num_round: 2, max_depth: 2 };

interface Hello {
  readonly protocolVersion: number;
  readonly activeName: string;
  readonly instanceCount: number;
  readonly idsDigest: Uint8Array;
  readonly parameters: AgreedParameters;
  readonly trees: number;
  readonly validationRows: Uint8Array;
}

/** A node, and who of its parent is in it; null for the root. */
export interface DescribedNode {
  readonly node: number;
  readonly origin: { readonly parent: number; readonly sibling: number; readonly members: Uint8Array } | null;
}

export interface Driver {
  readonly job: PreparedJob;
  readonly role: PassiveRole;
  join(change?: Partial<Hello>): ReturnType<PassiveRole["join"]>;
  setUpMessage(): Promise<ActiveSetUp>;
  setUp(): Promise<number>;
  /** @param g instead of its usual gradients; @param sampled bitmap of sampled instances, if not all */
  chunks(tree: number, g?: Float64Array, sampled?: Uint8Array): AsyncIterable<ActiveGradients>;
  gradients(tree: number, g?: Float64Array, sampled?: Uint8Array): Promise<void>;
  root(tree: number): ReturnType<typeof asked>;
  node(tree: number, description: DescribedNode): ReturnType<typeof asked>;
  /** What an answer's ciphertexts hold, slot by slot. */
  sums(answer: Awaited<ReturnType<typeof asked>>): Promise<number[]>;
  /** The root is asked about before it is split. */
  splits(tree: number, node: number, candidate: number): Promise<Uint8Array>;
  order(tree: number, node: number): Promise<number[]>;
  finishTree(tree: number): Promise<void>;
  /** Names these test rows. */
  testRows(ids: readonly string[]): Promise<void>;
  /** Names these test rows, and asks about all of them. */
  predict(ids: readonly string[]): ReturnType<typeof predicted>;
}

function asked(role: PassiveRole, request: ActiveNode) {
  return collect(role.answers.histograms(one(request)));
}

function predicted(role: PassiveRole, rowCount: number) {
  return collect(role.answers.predict(create(ActivePredictSchema, { rowCount })));
}

export function drive(
  key: PrivateKey,
  passive: JobOptions["passive"] = {},
  training: NonNullable<JobOptions["training"]> = plain,
  defences: NonNullable<JobOptions["defences"]> = {},
): Driver {
  const job = prepareJob({ table, kernel: selectKernel(), key, training, passive, defences });
  const [{ role }] = job.passives;
  const { scheme } = job;
  const own = testJob({ training, defences });
  const g = Float64Array.from(column, (_, i) => (i % 2 === 0 ? 0.5 : -0.5));
  const h = g.map(() => 0.25);
  const pairs = Array.from({ length: job.agreed.outputs });
  const bounded = {
    values: pairs.flatMap(() => [g, h]),
    bounds: pairs.flatMap(() => [
      { min: -1, max: 1 },
      { min: 0, max: 0.25 },
    ]),
  };
  const layout = gradientLayout(own.codec, scheme.plaintextBitsMax, bounded, noiseIn(own));
  const hello = {
    protocolVersion,
    activeName: "bank",
    instanceCount: column.length,
    idsDigest: idsDigest(job.ids),
  };
  const driver: Driver = {
    job,
    role,
    join: ({ parameters = job.agreed, ...change } = {}) =>
      role.join(create(ActiveHelloSchema, { ...hello, ...change, parameters: proposedParameters(parameters) })),
    setUpMessage,
    setUp: async () => (await role.setUp(await setUpMessage())).candidateCount ?? 0,
    chunks,
    gradients: (tree, other, sampled) => role.answers.gradients(chunks(tree, other, sampled)),
    root: (tree) => node(tree, { node: 0, origin: null }),
    node,
    sums: async (answer) => {
      const pieces = answer.map(({ scheme: message, counts, suppressed = new Uint8Array(0) }) => {
        // With noise counts are not sent; suppressed candidates have no instances.
        const most = counts.map((_, i) => (suppressed.length > 0 && isSet(suppressed, i) ? 0 : column.length));
        return scheme.sums(layout, message, layout.noise === null ? counts : most);
      });
      return (await Promise.all(pieces)).flatMap((piece) => [...piece]);
    },
    splits: async (tree, node, candidate) => {
      if (node === 0) await driver.root(tree);
      const named = { case: "candidate" as const, value: candidate };
      const [answer] = await collect(
        role.answers.splits(create(ActiveSplitDecisionsSchema, { tree, decisions: [{ node, named }] })),
      );
      return answer.leftMembers ?? new Uint8Array(0);
    },
    order: async (tree, node) => {
      const pieces = await collect(role.answers.order(create(ActiveOrderSchema, { tree, nodes: [node] })));
      return pieces.flatMap(({ ranks }) => ranks ?? []);
    },
    finishTree: (tree) => role.answers.finishTree(create(ActiveTreeFinishedSchema, { tree })),
    testRows: (ids) => role.answers.testRows(one(create(ActiveTestRowsSchema, { ids: [...ids] }))),
    predict: async (ids) => {
      await driver.testRows(ids);
      return predicted(role, ids.length);
    },
  };
  return driver;

  async function setUpMessage(): Promise<ActiveSetUp> {
    return create(ActiveSetUpSchema, { scheme: await scheme.setUp({ layout }), skipBin: true });
  }

  function node(tree: number, { node: number, origin }: DescribedNode): ReturnType<typeof asked> {
    const members = origin ?? { isRoot: true };
    return asked(role, create(ActiveNodeSchema, { tree, node: number, members }));
  }

  async function* chunks(
    tree: number,
    other: Float64Array = g,
    sampled: Uint8Array = new Uint8Array(0),
  ): AsyncGenerator<ActiveGradients> {
    let sequence = 0;
    const rows = Uint32Array.from(column.keys()).filter((row) => isSet(sampled, row));
    const sample = sampled.length === 0 ? null : rows;
    for await (const chunk of scheme.gradients(
      layout,
      quantise(
        layout,
        pairs.flatMap(() => [other, h]),
      ),
      sample,
      tree,
    )) {
      yield create(ActiveGradientsSchema, {
        tree,
        sequence,
        scheme: chunk.message,
        sampled: sequence++ === 0 ? sampled : new Uint8Array(0),
      });
    }
    yield create(ActiveGradientsSchema, { tree, sequence, last: true });
  }
}
