/** The oracle of companies whose tables have other ids in other orders: the model of the joined table. */
import { join } from "node:path";
import { columnIndex, labelColumn, numericColumn } from "../../src/data/columns.ts";
import { readCsvTable } from "../../src/data/csv-table.ts";
import { type PartyTable, selectRows } from "../../src/data/dataset.ts";
import { splitRows } from "../../src/data/split.ts";
import type { Model } from "../../src/gbdt/tree/model.ts";
import type { ActiveConfig } from "../../src/party/config/config.ts";
import { trainInOnePlace } from "../../src/simulate/comparison.ts";
import type { ProcessWorld } from "../world/processes.ts";

/** As a database would make it: common ids in ascending order, every company's columns. */
async function joinedTables({ bank, shops }: ProcessWorld): Promise<PartyTable[]> {
  const files = await Promise.all([bank, ...shops].map(({ folder }) => readCsvTable(join(folder, "data.csv"))));
  const idLists = files.map((file) => file.columns[columnIndex(file, "id")]);
  const common = idLists[0].filter((id) => idLists.every((ids) => ids.includes(id))).toSorted();
  return files.map((file, i) => {
    const featureNames = file.names.filter((name) => name !== "id" && name !== "outcome");
    const table = {
      ids: [...idLists[i]],
      featureNames,
      features: featureNames.map((name) => numericColumn(file, columnIndex(file, name), new Set())),
      labels: i === 0 ? labelColumn(file, columnIndex(file, "outcome"), "defaulter") : null,
    };
    return selectRows(
      table,
      Uint32Array.from(common, (id) => idLists[i].indexOf(id)),
    );
  });
}

export async function onePlaceModel(world: ProcessWorld, { data, job }: ActiveConfig): Promise<Model> {
  const tables = await joinedTables(world);
  const split = splitRows(tables[0].ids.length, data.test_fraction ?? 0, job.training.seed);
  const train = tables.map((table) => selectRows(table, split.train));
  return (await trainInOnePlace({ job, train, test: null })).model;
}
