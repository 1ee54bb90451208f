/** One job of a passive party: its role, the service around it, and what is left when it has ended. */
import { join } from "node:path";
import { TandemError } from "../base/error.ts";
import { osRandom } from "../base/random.ts";
import { defaultThreads, selectKernel } from "../crypto/index.ts";
import type { PartyTable } from "../data/dataset.ts";
import { checkBitmap, isSet } from "../protocol/bitmap.ts";
import { idsDigest } from "../protocol/ids.ts";
import { type AgreedParameters, treeCountOf } from "../protocol/job-parameters.ts";
import { modelId } from "../protocol/model-id.ts";
import { PaillierPassive } from "../protocol/paillier-passive.ts";
import { PassiveRole } from "../protocol/passive-role.ts";
import { permutationSecretBytes } from "../protocol/secret-permutation.ts";
import { writePassiveShare } from "../store/share-files.ts";
import { type PassiveEnd, passiveService, type PassiveService } from "../transport/passive-service.ts";
import type { PassiveConfig } from "./config.ts";
import type { Emit } from "./events.ts";
import { binTable } from "./party-data.ts";
import { minimumsOf } from "./policy.ts";
import { samplingSecretOf } from "./sampling-secret.ts";
import { ProcessMeter } from "./process-meter.ts";

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
  readonly folder: string;
  /** The active party's pinned name. */
  readonly peer: string;
  readonly emit: Emit;
}

export interface OpenedJob {
  readonly service: PassiveService;
  /** Says how it ended. */
  readonly report: (end: PassiveEnd) => void;
}

export function openPassiveJob({ config, agreed, rows, folder, peer, emit }: PassiveJobOptions): OpenedJob {
  const { name } = config;
  const { job } = agreed;
  const scheme = new PaillierPassive(selectKernel(), config.threads ?? defaultThreads());
  const meter = new ProcessMeter();
  const { training } = rows;
  const digest = idsDigest(training.ids);
  const model = modelId(agreed, training.ids.length, digest);
  const role = new PassiveRole({
    name,
    agreed,
    idsDigest: digest,
    features: binTable(training, agreed.maxBin, decidingRows(rows)),
    instanceCount: training.ids.length,
    samplingSecret: samplingSecretOf(config),
    permutationSecret: osRandom.fill(new Uint8Array(permutationSecretBytes)),
    minimums: minimumsOf(config.policy),
    scheme,
    lookUp: rowLookUp(rows.predictable),
    observer: {
      joined: () => emit({ type: "joined", party: name, peer, featureCount: training.features.length, job }),
      gradientsBegan: () => meter.start(),
      treeFinished: (tree) => {
        meter.stop();
        emit({ type: "passive-tree", party: name, peer, job, tree, treeCount: treeCountOf(agreed) });
      },
    },
  });
  const service = passiveService(role, () => writePassiveShare(join(folder, "share.json"), { name, job, model, active: peer, splits: role.ownSplits }));
  const report = ({ failure }: PassiveEnd): void => {
    const { use } = meter;
    if (failure === null) emit({ type: "passive-result", party: name, result: { ...use, counts: scheme.counts } });
    emit({ type: "job-ended", party: name, peer, job, failure: failure === null ? null : { code: failure.code, message: failure.message } });
  };
  return { service, report };
}

/** The rows that decide where bins are cut. @throws TandemError PROTOCOL_STATE for a bitmap that does not fit */
function decidingRows({ training, validation }: JobRows): Uint32Array | null {
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
