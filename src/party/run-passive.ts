/** One passive party's process: read the data, serve one job, keep its share of the model. */
import { readFile } from "node:fs/promises";
import { osRandom } from "../base/random.ts";
import { defaultThreads, selectKernel } from "../crypto/index.ts";
import type { PartyTable } from "../data/dataset.ts";
import { idsDigest } from "../protocol/ids.ts";
import { agreedParameters } from "../protocol/job-parameters.ts";
import { paillierSchemeName } from "../protocol/paillier-active.ts";
import { PaillierPassive } from "../protocol/paillier-passive.ts";
import { PassiveRole } from "../protocol/passive-role.ts";
import { permutationSecretBytes } from "../protocol/secret-permutation.ts";
import { writePassiveShare } from "../store/share-files.ts";
import { passiveService } from "../transport/passive-service.ts";
import { listenTls, type TlsIdentity } from "../transport/tls.ts";
import { configParameters, type PassiveConfig } from "./config.ts";
import type { Emit } from "./events.ts";
import { binTable, readPartyTable } from "./party-data.ts";
import { ProcessMeter } from "./process-meter.ts";

export async function runPassive(config: PassiveConfig, emit: Emit): Promise<void> {
  const { name } = config;
  const { training, codec } = configParameters(config);
  const train = await readPartyTable(config.data.train, config.data, null);
  const predict = config.data.predict === undefined ? null : await readPartyTable(config.data.predict, config.data, null);
  const scheme = new PaillierPassive(selectKernel(), config.threads ?? defaultThreads());
  const meter = new ProcessMeter();
  const role = new PassiveRole({
    name,
    agreed: agreedParameters(config.job, training, codec, { name: paillierSchemeName, keyBits: config.keyBits }),
    idsDigest: idsDigest(train.ids),
    features: binTable(train, training.max_bin),
    instanceCount: train.ids.length,
    permutationSecret: osRandom.fill(new Uint8Array(permutationSecretBytes)),
    scheme,
    lookUp: rowLookUp(predict),
    observer: {
      joined: (peer) => emit({ type: "joined", party: name, peer, featureCount: 0 }),
      gradientsBegan: () => meter.start(),
      treeFinished: () => meter.stop(),
    },
  });
  const service = passiveService(role);
  const server = await listenTls(service, await readIdentity(config.tls), [{ name: "active", fingerprint: config.active.fingerprint }], config.listen);
  emit({ type: "listening", party: name, process: process.pid, port: server.port });
  const { failure } = await service.ended;
  if (failure === null) {
    await writePassiveShare(config.output.share, { name, splits: role.ownSplits });
    emit({ type: "passive-result", party: name, result: { ...meter.use, counts: scheme.counts } });
  }
  await server.close();
  if (failure !== null) throw failure;
}

function rowLookUp(table: PartyTable | null): (id: string) => ((feature: number) => number) | null {
  const rows = new Map(table?.ids.map((id, row) => [id, row]));
  return (id) => {
    const row = rows.get(id);
    return row === undefined || table === null ? null : (feature) => table.features[feature][row];
  };
}

/** Reads the PEM files that a config names. */
export async function readIdentity(tls: PassiveConfig["tls"]): Promise<TlsIdentity> {
  const [authority, certificate, key] = await Promise.all([tls.authority, tls.certificate, tls.key].map((path) => readFile(path, "utf8")));
  return { authority, certificate, key };
}
