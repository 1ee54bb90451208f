/** A federated job whose parts a test can reach into: roles, services and peers, not yet started. */
import type { CodecParameters } from "../../src/base/parameters/parameters.ts";
import type { Defences } from "../../src/privacy/defences/defences.ts";
import type { TrainingParameters } from "../../src/gbdt/parameters/training-parameters.ts";
import type { Kernel } from "../../src/crypto/paillier/kernel.ts";
import type { PrivateKey } from "../../src/crypto/paillier/keys.ts";
import { type Minimums, noMinimums } from "../../src/gbdt/split/offered-candidates.ts";
import type { ActiveModel, ActiveRole } from "../../src/protocol/active/role.ts";
import type { AgreedParameters } from "../../src/protocol/job-parameters.ts";
import { PaillierActive } from "../../src/scheme/paillier/active.ts";
import { PaillierPassive } from "../../src/scheme/paillier/passive.ts";
import { type PassiveJob } from "../../src/protocol/passive/role.ts";
import type { SentNodes } from "../../src/scheme/candidates/sent-nodes.ts";
import type { PassivePeer } from "../../src/wire/peer.ts";
import { type PassiveService } from "../../src/transport/passive-service.ts";
import { testJob, type TestTable, simulatedRoles, type SimulatedPassive } from "../world/simulated.ts";

export interface JobOptions {
  readonly table: TestTable;
  readonly kernel: Kernel;
  readonly key: PrivateKey;
  readonly training?: Partial<TrainingParameters>;
  readonly codec?: Partial<CodecParameters>;
  /** What a passive party has stored before, and where it stores. */
  readonly passive?: Partial<
    Pick<
      PassiveJob,
      | "progress"
      | "store"
      | "roundStore"
      | "finished"
      | "observer"
      | "permutationSecret"
      | "noiseSecret"
      | "admitNode"
      | "admitScores"
      | "start"
    >
  >;
  /** Per party, index 0 the active one; none where left out. */
  readonly minimums?: readonly Minimums[];
  /** What the parties have agreed on; none where left out. */
  readonly defences?: Partial<Defences>;
  /** What stands between the active party and a passive one; in memory unless a test brings its own. */
  readonly connect?: (name: string, service: PassiveService, index: number) => PassivePeer;
}

export interface PreparedJob {
  readonly active: ActiveRole;
  readonly scheme: PaillierActive;
  readonly passives: readonly SimulatedPassive<WatchedPassive>[];
  readonly ids: readonly string[];
  readonly agreed: AgreedParameters;
  /** Every observer call of every party: [party, event, ...arguments]. */
  readonly observed: unknown[][];
  /**
   * Joins, trains, predicts the training rows and finishes; after a failure sends the parties the reason, as a party's
   * process does.
   */
  run(): Promise<{ model: ActiveModel; margins: Float64Array }>;
}

/** Shows whose sums it is asked for. */
export class WatchedPassive extends PaillierPassive {
  #tree: SentNodes | null = null;

  /** Of the tree under way. */
  nodes(): SentNodes {
    if (this.#tree === null) throw new Error("no tree has begun");
    return this.#tree;
  }

  override beginRound(tree: SentNodes): void {
    this.#tree = tree;
    super.beginRound(tree);
  }

  override nextTree(tree: SentNodes): void {
    this.#tree = tree;
    super.nextTree(tree);
  }
}

/** Of every attempt at a job: redone rounds have the same bytes. */
const seed = new Uint8Array(32).fill(7);

export function prepareJob(options: JobOptions): PreparedJob {
  const { kernel, key, table } = options;
  const scheme = new PaillierActive(kernel, key, 1, undefined, undefined, seed);
  const observed: unknown[][] = [];
  const see =
    (party: string, event: string) =>
    (...details: unknown[]): void =>
      void observed.push([party, event, ...details]);
  const { active, passives, ids, agreed } = simulatedRoles({
    table,
    job: testJob(options),
    scheme,
    passiveScheme: () => new WatchedPassive(kernel, 1),
    passive: (party) => ({
      minimums: options.minimums?.[party] ?? noMinimums,
      observer: {
        joined: see(`passive-${party}`, "joined"),
        roundBegan: see(`passive-${party}`, "roundBegan"),
        treeFinished: see(`passive-${party}`, "treeFinished"),
      },
      ...options.passive,
    }),
    ...(options.connect === undefined ? {} : { connect: options.connect }),
    active: {
      name: "bank",
      observer: {
        joined: see("bank", "joined"),
        layoutProven: see("bank", "layoutProven"),
        treeBegan: see("bank", "treeBegan"),
        treeFinished: (tree, margins) => see("bank", "treeFinished")(tree, margins.slice()),
      },
    },
  });
  const run = async (): Promise<{ model: ActiveModel; margins: Float64Array }> => {
    try {
      await active.join();
      const model = await active.train();
      const margins = await active.predict(model, {
        ids,
        features: table.parties[0],
        categoryNames: table.categories?.[0] ?? [],
      });
      await active.finish();
      return { model, margins };
    } catch (error) {
      await active.finish(error instanceof Error ? error.message : "unknown");
      throw error;
    }
  };
  return { active, scheme, passives, ids, agreed, observed, run };
}
