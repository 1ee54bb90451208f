/** Rows of a party's table by id, from where its features live when people are scored. */
import { TandemError } from "../../base/error.ts";
import type { TextRow } from "../query/row-batches.ts";

export interface LookupRequest {
  /** Distinct; none asks whether there would be an answer. */
  readonly ids: readonly string[];
  /** The column of ids, and the features that are needed. */
  readonly id: string;
  readonly features: readonly string[];
}

export interface FoundRows {
  readonly names: readonly string[];
  /** In any order. Of an id that is not held there is none; rows of others may be among them. */
  readonly rows: readonly TextRow[];
}

export interface FeatureLookup {
  /** The field of the config, for messages. */
  readonly field: string;
  /**
   * @param signal aborted when the time is up
   * @throws TandemError FILE_UNREADABLE or FILE_FORMAT without a secret or a value
   */
  find(request: LookupRequest, signal: AbortSignal): Promise<FoundRows>;
  /** Another lookup opens it again. */
  close(): Promise<void>;
}

/** A source that answers with more rows per id than this is not a table by id. */
const rowsPerId = 10;
const rowsAtLeast = 100;

export function rowsMaxFor({ ids }: Pick<LookupRequest, "ids">): number {
  return rowsAtLeast + rowsPerId * ids.length;
}

export function tooManyRows(field: string, parameter: string, request: Pick<LookupRequest, "ids">): TandemError {
  return new TandemError(
    "FILE_FORMAT",
    `${field}: the query gives over ${rowsMaxFor(request)} rows for ${request.ids.length} ids. ` +
      `It must select by ${parameter}`,
  );
}

/** What is asked for at once: longer lists are asked for in parts. */
export const idsPerQuestion = 10_000;

export function partsOf<T>(list: readonly T[], most: number): T[][] {
  const parts = Array.from({ length: Math.ceil(list.length / most) }, (_, i) => list.slice(i * most, (i + 1) * most));
  return parts.length === 0 ? [[]] : parts;
}
