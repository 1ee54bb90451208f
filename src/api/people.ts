/** The rows that a model is asked about: by id from this party's own table, or from a table that is given. */
import { normaliseId } from "../psi/normalise.ts";
import { TandemError } from "../base/error.ts";
import type { ActiveConfig } from "../party/config/config.ts";
import { DataCache } from "../party/tables/data-cache.ts";
import { readPartyTable } from "../party/tables/party-data.ts";
import { unknownRow } from "../protocol/passive/split-outcomes.ts";
import type { RowSource } from "../scoring/features/row-source.ts";
import { rowSourceOf } from "../scoring/features/row-sources.ts";
import {
  type AskedRows,
  askedRows,
  inputData,
  requireBaseMargins,
  scoringData,
  wantedColumns,
} from "../scoring/run-predict.ts";
import type { Scorer } from "../scoring/scorer.ts";

export interface People {
  /** As they were given. */
  readonly ids: readonly string[];
  /** Those whom passive parties are asked about, and their places among all. */
  readonly asked: AskedRows;
  readonly places: Uint32Array;
}

/** @throws TandemError naming file, line and column of what cannot be used */
export async function peopleInFile(config: ActiveConfig, scorer: Scorer, path: string): Promise<People> {
  const table = await readPartyTable({ path }, inputData(config.data, scorer), null, { text: "as trained" });
  requireBaseMargins(path, table, scorer);
  const asked = askedRows(scorer, table);
  return { ids: [...asked.ids], asked, places: Uint32Array.from({ length: asked.ids.length }, (_, row) => row) };
}

/** This party's own table, read again when its file has changed; or where its config says that its features are. */
export function ownRowsOf(config: ActiveConfig, scorer: Scorer): RowSource {
  const data = scoringData(config.data, scorer);
  return rowSourceOf(data, config.scoring, { data: new DataCache(data, "as trained"), onTrouble: () => {} });
}

/**
 * Passive parties do not learn ids that this party does not hold itself, unless they are scored as missing.
 * @throws TandemError CELL_UNPARSABLE for a person without the base margin that the model needs
 */
export async function peopleByIds(
  { data, name }: Pick<ActiveConfig, "data" | "name">,
  scorer: Scorer,
  ownRows: RowSource,
  ids: readonly string[],
  unknownAsMissing: boolean,
): Promise<People> {
  const { features, categoryNames, requiredColumn: required } = scorer;
  const index = features.length === 0 ? null : await ownRows.rows(wantedColumns(scorer), ids, name);
  const rows = ids.map((id) => index?.rowOf(id) ?? 0);
  const places = Uint32Array.from(ids.keys()).filter((place) => unknownAsMissing || rows[place] !== unknownRow);
  const columns = features.map(() => new Float32Array(places.length).fill(Number.NaN));
  const read = index?.reader(features, categoryNames);
  places.forEach((place, i) => {
    if (rows[place] !== unknownRow) read?.(rows[place]).forEach((value, feature) => (columns[feature][i] = value));
  });
  if (required !== null && !columns[required.place].every(required.isUsable))
    throw new TandemError("CELL_UNPARSABLE", `'${required.name}', the base margin, is missing for some of the people`);
  const asked = { ids: Array.from(places, (place) => normaliseId(ids[place], data.normalise)), columns };
  return { ids, asked, places };
}
