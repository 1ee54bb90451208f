/** One attempt at a job of a passive party: its role, the service around it, and what is left when it has ended. */
import { TandemError } from "../../base/error.ts";
import { categoryNamesOf, type PartyTable } from "../../data/dataset.ts";
import type { BinnedFeature } from "../../gbdt/split/binning.ts";
import { checkBitmap, isSet } from "../../wire/bitmap.ts";
import { idsDigest } from "../../protocol/ids.ts";
import { type AgreedParameters, treeCountOf } from "../../protocol/job-parameters.ts";
import { programVersion } from "../../base/program-version.ts";
import { tableDigest } from "../../data/table-digest.ts";
import { modelId } from "../../protocol/model-id.ts";
import { configNames, schemeNamed } from "../../scheme/registry.ts";
import { PassiveRole } from "../../protocol/passive/role.ts";
import { protocolVersion } from "../../wire/version.ts";
import { type PassiveEnd, passiveService, type PassiveService } from "../../transport/passive-service.ts";
import type { PassiveConfig } from "../config.ts";
import { agreedFacts } from "../disclosure-facts.ts";
import { disclosuresOf } from "../../privacy/disclosures.ts";
import type { Emit } from "../../record/events.ts";
import type { PassiveCheckpoints } from "./checkpoints.ts";
import { minimumsOf } from "../policy.ts";
import { ProcessMeter } from "../../record/process-meter.ts";
import { ProgressSampler } from "../../record/progress-sampler.ts";
import type { OwnView } from "../../record/job-record.ts";

export interface JobRows {
  readonly training: PartyTable;
  /** Bitmap over these rows: which are evaluated only and decide no bin; empty: none. */
  readonly validation: Uint8Array;
  /** The people whose predictions may be asked for. */
  readonly predictable: PartyTable;
}

export interface PassiveJobOptions {
  readonly config: PassiveConfig;
  readonly agreed: AgreedParameters;
  readonly rows: JobRows;
  /** Of the rows that are trained on. */
  readonly features: readonly BinnedFeature[];
  readonly checkpoints: PassiveCheckpoints;
  /** The active party's pinned name. */
  readonly peer: string;
  readonly emit: Emit;
  /** For this party's own eyes. */
  readonly own: (view: OwnView) => void;
}

export interface OpenedJob {
  readonly service: PassiveService;
  /** Says how it ended. */
  readonly report: (end: PassiveEnd) => void;
}

export function openPassiveJob({
  config,
  agreed,
  rows,
  features,
  checkpoints,
  peer,
  emit,
  own,
}: PassiveJobOptions): OpenedJob {
  const { name } = config;
  const { job } = agreed;
  const scheme = schemeNamed(agreed.scheme).passive(config);
  const meter = new ProcessMeter();
  const { training } = rows;
  const digest = idsDigest(training.ids);
  const model = modelId(agreed, training.ids.length, digest);
  const names = categoryNamesOf(training);
  const deciding = decidingRows(rows);
  const validation = deciding === null ? 0 : training.ids.length - deciding.length;
  const { reveals } = disclosuresOf(
    agreedFacts(
      agreed,
      { active: peer, passive: name },
      { instances: training.ids.length, validation },
      features,
      config.policy,
    ),
  );
  const sampler = new ProgressSampler({
    party: name,
    decides: false,
    bytes: () => ({ [peer]: role.tally.traffic }),
    emit,
  });
  const role: PassiveRole = new PassiveRole({
    name,
    agreed,
    idsDigest: digest,
    features,
    instanceCount: training.ids.length,
    permutationSecret: checkpoints.permutationSecret,
    samplingSecret: checkpoints.samplingSecret,
    minimums: minimumsOf(config.policy),
    ...(agreed.startModel === ""
      ? {}
      : {
          start: checkpoints.start.map((split) => ({
            split,
            values: training.features[split.feature],
            names: names[split.feature],
          })),
        }),
    progress: checkpoints.progress,
    finished: checkpoints.isFinished,
    store: (progress) => checkpoints.store(progress),
    scheme,
    lookUp: rowLookUp(rows.predictable),
    categoryNames: categoryNamesOf(rows.predictable),
    observer: {
      joined: () => {
        const {
          numRound,
          maxDepth,
          maxBin,
          scheme: schemeName,
          schemeParameters,
          codec,
          startModel,
          startTrees,
        } = agreed;
        const start = startModel === "" ? {} : { startTrees };
        const parameters = {
          num_round: numRound,
          max_depth: maxDepth,
          max_bin: maxBin,
          scheme: schemeName,
          ...configNames(schemeParameters),
          codec,
          ...(startModel === "" ? {} : { warm_start: startModel }),
        };
        const versions = { tandem: programVersion(), protocol: protocolVersion, node: process.versions.node };
        emit({
          type: "job",
          party: name,
          role: "passive",
          job,
          peers: [peer],
          treeCount: treeCountOf(agreed),
          ...start,
          depthMax: maxDepth,
          parameters,
          disclosures: reveals,
          versions,
        });
        emit({
          type: "data",
          party: name,
          job,
          data: { trainRows: training.ids.length, testRows: 0, featureCount: training.features.length },
        });
        own({ kind: "data", sha256: tableDigest(training) });
        // Once, and not with every connection: they may be many.
        for (let tree = 0; tree < startTrees && checkpoints.progress.trees === 0; tree++)
          own({ kind: "own-splits", tree, splits: checkpoints.start.filter((split) => split.tree === tree) });
        emit({ type: "joined", party: name, peer, featureCount: training.features.length, job });
        if (checkpoints.progress.trees > 0)
          emit({
            type: "resumed",
            party: name,
            job,
            trees: checkpoints.progress.trees,
            treeCount: treeCountOf(agreed),
          });
      },
      gradientsBegan: () => meter.start(),
      phase: sampler.edge,
      treeFinished: (tree, splits) => {
        meter.stop();
        own({ kind: "own-splits", tree, splits: splits.filter((split) => split.tree === tree) });
        sampler.treeEnded();
        emit({ type: "ledger", party: name, peer, ledger: role.tally.ledger });
        emit({
          type: "passive-tree",
          party: name,
          peer,
          job,
          tree,
          treeCount: treeCountOf(agreed),
          counts: { ...scheme.counts },
        });
      },
    },
  });
  const service = passiveService(role, {
    begin: () => checkpoints.begin(),
    finish: () => checkpoints.finish({ name, job, model, active: peer, splits: role.ownSplits }),
  });
  const report = ({ failure }: PassiveEnd): void => {
    scheme.close();
    const { use } = meter;
    sampler.stop();
    emit({ type: "ledger", party: name, peer, ledger: role.tally.ledger });
    if (failure === null)
      emit({
        type: "passive-result",
        party: name,
        result: { ...use, ...(role.treesKept === null ? {} : { trees: role.treesKept }), counts: scheme.counts },
      });
    emit({
      type: "job-ended",
      party: name,
      peer,
      job,
      failure: failure === null ? null : { code: failure.code, message: failure.message },
    });
  };
  return { service, report };
}

/**
 * The rows that decide where bins are cut; null: all. @throws TandemError PROTOCOL_STATE for a bitmap that does not fit
 */
export function decidingRows({ training, validation }: JobRows): Uint32Array | null {
  const count = training.ids.length;
  if (validation.length === 0) return null;
  checkBitmap(validation, count);
  const deciding = Uint32Array.from({ length: count }, (_, row) => row).filter((row) => !isSet(validation, row));
  if (deciding.length === 0) throw new TandemError("PROTOCOL_STATE", "all rows are held back for validation");
  return deciding;
}

function rowLookUp(table: PartyTable): (id: string) => ((feature: number) => number) | null {
  const rows = new Map(table.ids.map((id, row) => [id, row]));
  return (id) => {
    const row = rows.get(id);
    return row === undefined ? null : (feature) => table.features[feature][row];
  };
}
