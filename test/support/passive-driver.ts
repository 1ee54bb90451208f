/** A passive party's role, driven message by message as an active party would. */
import { create } from "@bufbuild/protobuf";
import { quantise } from "../../src/codec/batch-codec.ts";
import type { PrivateKey } from "../../src/crypto/paillier/index.ts";
import { portableKernel } from "../../src/crypto/paillier/portable-kernel.ts";
import {
  type ActiveGradients,
  ActiveGradientsSchema,
  ActiveHelloSchema,
  ActiveNodeSchema,
  ActivePredictSchema,
  ActiveSetUpSchema,
  ActiveOrderSchema,
  ActiveSplitDecisionsSchema,
  ActiveTestRowsSchema,
  ActiveTreeFinishedSchema,
} from "../../src/wire/generated/tandem/v1/tandem_pb.ts";
import { gradientLayout } from "../../src/codec/gradient-layout.ts";
import { idsDigest } from "../../src/protocol/ids.ts";
import type { AgreedParameters } from "../../src/protocol/job-parameters.ts";
import type { NodeRequest } from "../../src/protocol/active/peer-session.ts";
import type { PassiveRole } from "../../src/protocol/passive/role.ts";
import { protocolVersion } from "../../src/wire/version.ts";
import { parametersOf } from "./in-memory-job.ts";
import { type JobOptions, prepareJob, type PreparedJob } from "./prepared-job.ts";
import { collect, one } from "./streams.ts";

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

export interface Driver {
  readonly job: PreparedJob;
  readonly role: PassiveRole;
  join(change?: Partial<Hello>): ReturnType<PassiveRole["join"]>;
  setUp(): number;
  chunks(tree: number): AsyncIterable<ActiveGradients>;
  gradients(tree: number): Promise<void>;
  root(tree: number): Promise<unknown>;
  node(tree: number, description: Pick<NodeRequest, "node" | "origin">): Promise<unknown>;
  /** The root is asked about before it is split. */
  splits(tree: number, node: number, candidate: number): Promise<Uint8Array>;
  order(tree: number, node: number): Promise<number[]>;
  finishTree(tree: number): Promise<void>;
  /** Names these test rows. */
  testRows(ids: readonly string[]): Promise<void>;
  /** Names these test rows, and asks about all of them. */
  predict(ids: readonly string[]): ReturnType<typeof predicted>;
}

function predicted(role: PassiveRole, rowCount: number) {
  return collect(role.predict(create(ActivePredictSchema, { rowCount })));
}

export function drive(
  key: PrivateKey,
  passive: JobOptions["passive"] = {},
  training: NonNullable<JobOptions["training"]> = plain,
  defences: NonNullable<JobOptions["defences"]> = {},
): Driver {
  const job = prepareJob({ table, kernel: portableKernel, key, training, passive, defences });
  const [{ role }] = job.passives;
  const { scheme } = job;
  const { codec } = parametersOf({});
  const g = Float64Array.from(column, (_, i) => (i % 2 === 0 ? 0.5 : -0.5));
  const h = g.map(() => 0.25);
  const layout = gradientLayout(codec, scheme.plaintextBitsMax, {
    values: [g, h],
    bounds: [
      { min: -1, max: 1 },
      { min: 0, max: 0.25 },
    ],
  });
  const hello = {
    protocolVersion,
    activeName: "bank",
    instanceCount: column.length,
    idsDigest: idsDigest(job.ids),
    parameters: job.agreed,
  };
  const driver: Driver = {
    job,
    role,
    join: (change = {}) => role.join(create(ActiveHelloSchema, { ...hello, ...change })),
    setUp: () =>
      role.setUp(create(ActiveSetUpSchema, { scheme: scheme.setUp(layout), skipBin: true })).candidateCount ?? 0,
    chunks,
    gradients: (tree) => role.gradients(chunks(tree)),
    root: (tree) => node(tree, { node: 0, origin: null }),
    node,
    splits: async (tree, node, candidate) => {
      if (node === 0) await driver.root(tree);
      const named = { case: "candidate" as const, value: candidate };
      const [answer] = await collect(
        role.splits(create(ActiveSplitDecisionsSchema, { tree, decisions: [{ node, named }] })),
      );
      return answer.leftMembers ?? new Uint8Array(0);
    },
    order: async (tree, node) => {
      const pieces = await collect(role.order(create(ActiveOrderSchema, { tree, nodes: [node] })));
      return pieces.flatMap(({ ranks }) => ranks ?? []);
    },
    finishTree: (tree) => role.finishTree(create(ActiveTreeFinishedSchema, { tree })),
    testRows: (ids) => role.testRows(one(create(ActiveTestRowsSchema, { ids: [...ids] }))),
    predict: async (ids) => {
      await driver.testRows(ids);
      return predicted(role, ids.length);
    },
  };
  return driver;

  function node(tree: number, description: Pick<NodeRequest, "node" | "origin">): Promise<unknown> {
    return collect(
      role.histograms(
        one(
          create(ActiveNodeSchema, {
            tree,
            node: description.node,
            members: description.origin ?? { isRoot: true },
            scheme: scheme.node(),
          }),
        ),
      ),
    );
  }

  async function* chunks(tree: number): AsyncGenerator<ActiveGradients> {
    let sequence = 0;
    for await (const chunk of scheme.gradients(layout, quantise(layout, [g, h]), null)) {
      yield create(ActiveGradientsSchema, { tree, sequence: sequence++, scheme: chunk.message });
    }
  }
}
