/** A federated job whose parts a test can reach into: roles, services and peers, not yet started. */
import { osRandom } from "../../src/base/random.ts";
import type { CodecParameters } from "../../src/base/parameters/parameters.ts";
import type { Defences } from "../../src/privacy/defences/defences.ts";
import type { TrainingParameters } from "../../src/gbdt/parameters/training-parameters.ts";
import type { Kernel } from "../../src/crypto/paillier/kernel.ts";
import type { PrivateKey } from "../../src/crypto/paillier/keys.ts";
import type { BinnedFeature } from "../../src/gbdt/split/binning.ts";
import { type Minimums, noMinimums } from "../../src/gbdt/split/offered-candidates.ts";
import { ActiveRole, type ActiveModel } from "../../src/protocol/active/role.ts";
import { idsDigest } from "../../src/protocol/ids.ts";
import { type AgreedParameters, agreedParameters } from "../../src/protocol/job-parameters.ts";
import { PaillierActive } from "../../src/scheme/paillier/active.ts";
import { PaillierPassive } from "../../src/scheme/paillier/passive.ts";
import { type PassiveJob, PassiveRole } from "../../src/protocol/passive/role.ts";
import type { SentNodes } from "../../src/scheme/candidates/sent-nodes.ts";
import type { PassivePeer } from "../../src/wire/peer.ts";
import { connectInMemory } from "../../src/transport/in-memory.ts";
import { passiveService, type PassiveService } from "../../src/transport/passive-service.ts";
import { binTable, noiseSecret, rowsOf, type TestTable } from "./in-memory-job.ts";
import { testJob } from "../world/test-job.ts";

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

export interface PreparedPassive {
  readonly name: string;
  readonly role: PassiveRole;
  readonly scheme: PaillierPassive;
  /** Of the tree under way. */
  nodes(): SentNodes;
  readonly service: PassiveService;
  readonly features: readonly BinnedFeature[];
}

export interface PreparedJob {
  readonly active: ActiveRole;
  readonly scheme: PaillierActive;
  readonly passives: readonly PreparedPassive[];
  readonly ids: readonly string[];
  readonly agreed: AgreedParameters;
  /** Every observer call of every party: [party, event, ...arguments]. */
  readonly observed: unknown[][];
  /**
   * Joins, trains, predicts the training rows and finishes; after a failure tells the parties why, as a party's process
   * does.
   */
  run(): Promise<{ model: ActiveModel; margins: Float64Array }>;
}

/** Shows whose sums it is asked for. */
class WatchedPassive extends PaillierPassive {
  #tree: SentNodes | null = null;

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

export function prepareJob(options: JobOptions): PreparedJob {
  const job = testJob(options);
  const { kernel, key, table, connect = connectInMemory } = options;
  const ids = Array.from(table.labels, (_, i) => `id-${i}`);
  const digest = idsDigest(ids);
  const binned = binTable(table, job.training);
  const scheme = new PaillierActive(kernel, key, 1);
  const agreed = agreedParameters(job);
  const observed: unknown[][] = [];
  const see =
    (party: string, event: string) =>
    (...details: unknown[]): void =>
      void observed.push([party, event, ...details]);

  const passives = binned.slice(1).map((features, i): PreparedPassive => {
    const name = `passive-${i + 1}`;
    const passiveScheme = new WatchedPassive(kernel, 1);
    const role = new PassiveRole({
      name,
      agreed,
      idsDigest: digest,
      features,
      instanceCount: ids.length,
      permutationSecret: osRandom.fill(new Uint8Array(32)),
      noiseSecret: noiseSecret(i + 1),
      minimums: options.minimums?.[i + 1] ?? noMinimums,
      scheme: passiveScheme,
      lookUp: (id) => {
        const row = ids.indexOf(id);
        return row < 0 ? null : (feature) => table.parties[i + 1][feature][row];
      },
      categoryNames: table.categories?.[i + 1] ?? [],
      observer: {
        joined: see(name, "joined"),
        roundBegan: see(name, "roundBegan"),
        treeFinished: see(name, "treeFinished"),
      },
      ...options.passive,
    });
    return {
      name,
      role,
      scheme: passiveScheme,
      nodes: () => passiveScheme.nodes(),
      service: passiveService(role.answers),
      features,
    };
  });
  const active = new ActiveRole({
    name: "bank",
    job,
    features: binned[0],
    rows: rowsOf(table),
    idsDigest: digest,
    scheme,
    peers: passives.map(({ name, service }, i) => connect(name, service, i)),
    observer: {
      joined: see("bank", "joined"),
      layoutProven: see("bank", "layoutProven"),
      treeBegan: see("bank", "treeBegan"),
      treeFinished: (tree, margins) => see("bank", "treeFinished")(tree, margins.slice()),
    },
    now: () => performance.now(),
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
