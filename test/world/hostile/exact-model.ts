/** Whether a job's model is the one that all columns in one place make: split for split, weight for weight. */
import { noConstraints } from "../../../src/data/feature-constraints.ts";
import { isDeepStrictEqual } from "node:util";
import { join } from "node:path";
import { selectRows } from "../../../src/data/dataset.ts";
import type { Model } from "../../../src/gbdt/tree/model.ts";
import { trainPlain } from "../../../src/party/active/plain-training.ts";
import { jobTables, readActiveTables } from "../../../src/party/active/tables.ts";
import { joinParts } from "../../../src/party/tables/joined-tables.ts";
import type { ActiveConfig } from "../../../src/party/config/config.ts";
import { withGrid } from "../../../src/party/job-grid.ts";
import { noiseSecretFrom } from "../../../src/party/noise-secret.ts";
import { readPartyTable } from "../../../src/party/tables/party-data.ts";
import type { ProcessWorld } from "../processes.ts";
import { columnsOf, plantedSecrets } from "./hostile-parties.ts";

/** The model of a job like this one, trained in one place. */
export async function centralisedModel(config: ActiveConfig, { shop }: ProcessWorld): Promise<Model> {
  const tables = await readActiveTables(config);
  const ids = [...joinParts(tables).table.ids];
  const ascending = Uint32Array.from(ids, (_, row) => row).sort((a, b) => (ids[a] < ids[b] ? -1 : 1));
  const { train, rows: own } = jobTables(tables, config.align ? ascending : null, config);
  const isCategorical = config.job.training.enable_categorical;
  const theirs = await readPartyTable(
    { path: join(shop.folder, "data.csv") },
    {
      ...config.data,
      features: [...columnsOf.shop],
      categorical: isCategorical ? ["shop_c"] : [],
      ...noConstraints,
    },
    null,
  );
  const theirIds = [...theirs.table.ids];
  const rows = Uint32Array.from(train.ids, (id) => theirIds.indexOf(id));
  const { model } = await trainPlain({
    train: [train, selectRows(theirs.table, rows)],
    test: null,
    rows: own,
    job: withGrid(config.job, own.trainedCount),
    samplingSecrets: [plantedSecrets[0], plantedSecrets[1]],
    noiseSecrets: [noiseSecretFrom(plantedSecrets[0]), noiseSecretFrom(plantedSecrets[2])],
  });
  return model;
}

/** Equal once written to a file: models, metrics, scores. */
export function isSameJson(a: unknown, b: unknown): boolean {
  return isDeepStrictEqual(JSON.parse(JSON.stringify(a)), JSON.parse(JSON.stringify(b)));
}
