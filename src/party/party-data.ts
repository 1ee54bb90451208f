/** A party's own files as typed columns. */
import { columnIndex, idColumn, labelColumn, numericColumn } from "../data/columns.ts";
import { type CsvTable, readCsvTable } from "../data/csv-table.ts";
import type { PartyTable } from "../data/dataset.ts";
import { binFeature, type BinnedFeature } from "../gbdt/binning.ts";
import type { DataConfig } from "./config.ts";

export interface LabelSpec {
  readonly label: string;
  readonly positive?: string | undefined;
}

/** @throws TandemError naming file, line and column of what cannot be used */
export async function readPartyTable(path: string, data: DataConfig, label: LabelSpec | null): Promise<PartyTable> {
  const csv = await readCsvTable(path);
  return partyTable(csv, data, label);
}

export function partyTable(csv: CsvTable, data: Pick<DataConfig, "features" | "missing"> & { readonly id: string | undefined }, label: LabelSpec | null): PartyTable {
  const missing = new Set(data.missing);
  return {
    ids: idColumn(csv, data.id),
    featureNames: data.features,
    features: data.features.map((name) => numericColumn(csv, columnIndex(csv, name), missing)),
    labels: label === null ? null : labelColumn(csv, columnIndex(csv, label.label), label.positive),
  };
}

export function binTable(table: PartyTable, maxBin: number): BinnedFeature[] {
  return table.features.map((values, i) => binFeature(table.featureNames[i], values, maxBin));
}
