/** Whole federated jobs in one process, and their centralised counterpart: what the oracle tests compare. */
import type { CodecParameters } from "../../src/base/parameters/parameters.ts";
import type { Defences } from "../../src/privacy/defences/defences.ts";
import type { Shortcuts } from "../../src/scheme/shortcuts.ts";
import type { TrainingParameters } from "../../src/gbdt/parameters/training-parameters.ts";
import type { Kernel } from "../../src/crypto/paillier/kernel.ts";
import type { PrivateKey } from "../../src/crypto/paillier/keys.ts";
import type { Model } from "../../src/gbdt/tree/model.ts";
import type { Tree } from "../../src/gbdt/tree/tree.ts";
import { type Minimums, noMinimums } from "../../src/gbdt/split/offered-candidates.ts";
import { type CentralisedTraining, trainCentralised } from "../../src/gbdt/boost/train.ts";
import type { ActiveRule } from "../../src/protocol/active/federated-tree.ts";
import type { ActiveJob, ActiveObserver } from "../../src/protocol/active/role.ts";
import { quantiserFor } from "../../src/codec/gradient-layout.ts";
import { idsDigest } from "../../src/protocol/ids.ts";
import { noiseIn } from "../../src/protocol/job-parameters.ts";
import { modelId } from "../../src/protocol/model-id.ts";
import { PaillierActive } from "../../src/scheme/paillier/active.ts";
import { PaillierPassive } from "../../src/scheme/paillier/passive.ts";
import type { Tally } from "../../src/messages/tally.ts";
import type { PassiveAnswers, PassiveJob } from "../../src/protocol/passive/role.ts";
import type { PassivePeer } from "../../src/wire/peer.ts";
import type { ActiveScheme, OperationCounts, PassiveScheme, Scheme } from "../../src/scheme/scheme.ts";
import { mergeShares } from "../../src/store/merge-shares.ts";
import type { ActiveShare, PassiveShare } from "../../src/store/share-files.ts";
import { passiveService, type PassiveService } from "../../src/transport/passive-service.ts";
import {
  binTable,
  groupsOfTable,
  noiseSecret,
  rowsOf,
  samplingSecret,
  simulatedRoles,
  testJob,
  type TestTable,
} from "../world/simulated.ts";

export interface TestJob {
  readonly table: TestTable;
  readonly training?: Partial<TrainingParameters>;
  readonly codec?: Partial<CodecParameters>;
  readonly shortcuts?: Partial<Shortcuts>;
  readonly kernel: Kernel;
  readonly key: PrivateKey;
  /** Another scheme than Paillier with this kernel and key. */
  readonly scheme?: Scheme;
  /** What the active party computes with in place of Paillier's own half. */
  readonly activeScheme?: (kernel: Kernel, key: PrivateKey, shortcuts?: Shortcuts) => ActiveScheme;
  /** What passive parties compute with in place of the scheme's own half. */
  readonly passiveScheme?: () => PassiveScheme;
  /** Per party, index 0 the active one; none where left out. */
  readonly minimums?: readonly Minimums[];
  /** What the parties have agreed on; none where left out. */
  readonly defences?: Partial<Defences>;
  /** Resumes from what this training left. */
  readonly start?: Pick<TestOutcome, "model" | "activeShare" | "passiveShares"> | undefined;
  /** Sees what the active party observes of each passive one, and each tree as it is finished. */
  readonly look?: Pick<ActiveObserver, "observed" | "alarm"> & {
    treeFinished?(tree: number, margins: Float64Array, grown: Tree<ActiveRule>): void;
  };
  /** Per passive party the secret of its candidates' order; drawn where left out. */
  readonly permutationSecrets?: readonly Uint8Array[];
  /** What passive parties have stored in an earlier attempt, and how they store. */
  readonly stored?: Pick<PassiveJob, "progress" | "store" | "nodeJournal">;
  /** The same of the active party. */
  readonly activeStored?: Pick<ActiveJob, "progress" | "store">;
  /** What stands between a passive party and the transport. */
  readonly around?: (answers: PassiveAnswers) => PassiveAnswers;
  /** Per passive party, what records its answers. */
  readonly recording?: () => Parameters<typeof passiveService>[2];
  /** In memory unless a test brings its own transport. */
  readonly connect?: (name: string, service: PassiveService) => PassivePeer;
}

export interface TestOutcome {
  readonly model: Model;
  readonly activeShare: ActiveShare;
  readonly passiveShares: readonly PassiveShare[];
  readonly activeCounts: OperationCounts;
  readonly passiveCounts: readonly OperationCounts[];
  readonly margins: Float64Array;
  /** Trees grown; the model may keep fewer. */
  readonly grown: number;
  readonly traffic: { readonly activeToPassive: number; readonly passiveToActive: number };
  /** Per passive party what both ends have counted. */
  readonly seen: readonly { readonly active: Pick<Tally, "ledger" | "traffic">; readonly passive: Tally }[];
}

export function trainInOnePlace(
  job: Pick<TestJob, "table" | "training" | "codec" | "key" | "scheme" | "minimums" | "defences"> & {
    readonly start?: { readonly model: Model } | undefined;
    readonly watch?: CentralisedTraining["watch"];
  },
  samplingSecrets = job.table.parties.map((_, party) => samplingSecret(party)),
): Promise<Model> {
  const { training, codec, privacy: defences } = testJob(job);
  const noise = noiseIn(testJob(job));
  const quantise = quantiserFor(
    codec,
    job.scheme?.plaintextBitsMax({}) ?? job.key.publicKey.bits - 1,
    noise,
    noise !== null || defences.hidden_sums || job.scheme?.membership === "hidden",
    defences.hidden_sums && job.scheme?.membership !== "hidden",
  );
  const start =
    job.start === undefined
      ? null
      : {
          model: job.start.model,
          columns: job.table.parties,
          ...(job.table.categories === undefined ? {} : { names: job.table.categories }),
        };
  return trainCentralised({
    start,
    parties: binTable(job.table, training),
    rows: rowsOf(job.table),
    parameters: training,
    quantise,
    samplingSecrets,
    minimums: job.minimums ?? [],
    defences,
    membership: job.scheme?.membership ?? "sent",
    noiseSecrets: job.table.parties.map((_, party) => noiseSecret(party)),
    ...(job.watch === undefined ? {} : { watch: job.watch }),
  });
}

/** The seed of a party's half of a scheme, which is the same in every attempt. */
function schemeSeed(party: number): Uint8Array {
  return new Uint8Array(32).fill(party + 1);
}

export async function trainFederated(job: TestJob): Promise<TestOutcome> {
  const { kernel, key, table, start } = job;
  const own = {
    ...testJob({ ...job, interactionGroups: groupsOfTable(table) }),
    start: start?.activeShare ?? null,
  };
  const { shortcuts } = own;
  const scheme = job.scheme
    ? job.scheme.active(await job.scheme.makeSecret({ keyBits: 0, insecureKey: true }), { seed: schemeSeed(0) })
    : (job.activeScheme?.(kernel, key, shortcuts) ?? new PaillierActive(kernel, key, 1, shortcuts));
  let margins = new Float64Array(0);
  let grown = 0;
  const { active, passives, ids, agreed } = simulatedRoles({
    table,
    job: own,
    scheme,
    passiveScheme: (party) =>
      job.passiveScheme?.() ?? job.scheme?.passive({ seed: schemeSeed(party) }) ?? new PaillierPassive(kernel, 1),
    passive: (party) => ({
      allowsUnpacked: true,
      ...(job.permutationSecrets === undefined ? {} : { permutationSecret: job.permutationSecrets[party - 1] }),
      minimums: job.minimums?.[party] ?? noMinimums,
      ...job.stored,
      ...(start === undefined
        ? {}
        : {
            start: start.passiveShares[party - 1].splits.map((split) => ({
              split,
              values: table.parties[party][split.feature],
              names: table.categories?.[party][split.feature] ?? null,
            })),
          }),
    }),
    service: ({ answers }) => passiveService(job.around?.(answers) ?? answers, undefined, job.recording?.()),
    ...(job.connect === undefined ? {} : { connect: job.connect }),
    active: {
      ...job.activeStored,
      observer: {
        treeFinished(tree, now, _, grownTree) {
          [margins, grown] = [now.slice(), tree + 1];
          job.look?.treeFinished?.(tree, margins, grownTree);
        },
        observed: (peer, observation) => job.look?.observed?.(peer, observation),
        alarm: (...alarm) => {
          if (job.look?.alarm === undefined) throw new Error(`an honest job raised an alarm: ${alarm.join(", ")}`);
          job.look.alarm(...alarm);
        },
      },
    },
  });
  await active.join();
  const activeModel = await active.train();
  const predicted = await active.predict(activeModel, {
    ids,
    features: table.parties[0],
    categoryNames: table.categories?.[0] ?? [],
    baseMargins: table.columns?.base_margin,
  });
  await active.finish();
  const origin = { job: "test", model: modelId(agreed, ids.length, idsDigest(ids)) };
  const activeShare = { name: "active", ...origin, ...activeModel };
  const passiveShares = passives.map(({ role }, i) => ({
    name: `passive-${i + 1}`,
    ...origin,
    active: "active",
    splits: role.ownSplits,
  }));
  const isWhole = activeModel.trees.length === grown; // early stopping drops trees that the last margins have
  if (isWhole && !margins.every((margin, i) => Object.is(margin, predicted[i])))
    throw new Error("prediction differs from training-time margins");
  return {
    model: mergeShares(activeShare, passiveShares),
    activeShare,
    passiveShares,
    activeCounts: scheme.counts,
    passiveCounts: passives.map(({ scheme: s }) => s.counts),
    margins,
    grown,
    traffic: active.traffic,
    seen: active.exchanges.map(({ ledger, bytes }, i) => ({
      active: { ledger, traffic: bytes },
      passive: passives[i].role.tally,
    })),
  };
}
