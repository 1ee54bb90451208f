/** `tandem vet --data`: the columns of one table. Between companies a party's own columns are worth the same. */
import { basename } from "node:path";
import { CategoryBook } from "../data/category-book.ts";
import { columnIndex, idColumn } from "../data/columns.ts";
import { featureColumns, type Notice } from "../data/feature-columns.ts";
import type { TableFormat } from "../data/table-reading.ts";
import { readKeptTable } from "../data/kept-table.ts";
import { checkBothClasses, vettingTraining } from "../party/active/vetting.ts";
import { binningOf, binTable } from "../party/tables/party-data.ts";
import { checkedLabels } from "../party/tables/party-labels.ts";
import { vettingOf } from "../party/vetting-result.ts";
import type { Vetting } from "../record/vetting/vetting.ts";

export interface VettedTable {
  readonly data: string;
  readonly label: string;
  readonly id?: string | undefined;
  readonly positive?: string | undefined;
  readonly format?: TableFormat | undefined;
  readonly header?: boolean | undefined;
  readonly missing: readonly string[];
  readonly categorical?: readonly string[] | undefined;
}

/** @throws TandemError that names file, line and column of what cannot be used */
export async function vetTable(given: VettedTable, binsMax: number, notice: Notice): Promise<Vetting> {
  const { data, label, id, positive, format, header, missing, categorical = [] } = given;
  const table = await readKeptTable({ path: data }, { format, header }, notice);
  const training = vettingTraining(binsMax);
  const index = columnIndex(table, label);
  const ids = idColumn(table, id);
  const used = [index, ...(id === undefined ? [] : [columnIndex(table, id)])];
  const columns = table.names.flatMap((_, i) => (used.includes(i) ? [] : [i]));
  const { labels } = checkedLabels(table, index, { training, positive, classes: undefined }, notice);
  checkBothClasses(labels ?? new Float64Array(0));
  const reading = { text: "categories", book: new CategoryBook(), notice, missing, categorical } as const;
  const names = columns.map((column) => table.names[column] || `column ${column + 1}`);
  const parsed = { ids, labels, ...featureColumns(table, { ...reading, columns, names }) };
  const features = binTable(parsed, binningOf({ training, interactionGroups: "" }));
  return vettingOf(
    {
      party: "",
      features,
      stabilities: features.map(() => null),
      labels: labels ?? new Float64Array(0),
    },
    [],
    { job: basename(data), label, binsMax, noise: 0, now: Date.now() },
  );
}
