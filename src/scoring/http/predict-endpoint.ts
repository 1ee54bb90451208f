/**
 * POST /predict: from a parsed body to predictions. An id that cannot be scored gets its own error and does not affect
 * the others; a malformed request is refused as a whole.
 */
import { type Normalisation, normaliseId } from "../../psi/normalise.ts";
import { TandemError } from "../../base/error.ts";
import { likeliestClass } from "../../data/prediction-columns.ts";
import type { CategoryNames } from "../../gbdt/split/split-test.ts";
import type { RowSource } from "../features/row-source.ts";
import { wantedColumns } from "../run-predict.ts";
import { modelCode, type RequiredColumn } from "../scoring-model.ts";
import { unknownRow } from "../../protocol/passive/split-outcomes.ts";
import { type PredictResponse, predictRequest, type Problem, requestMistake, wantedBy } from "./messages.ts";
import { isExplanation, type Wanted } from "../wanted.ts";
import type { MicroBatcher } from "./micro-batcher.ts";

export interface EndpointOptions {
  readonly model: string;
  /** Names of the classes. Null or left out: they have none. */
  readonly naming?: { readonly cutOff: number; readonly classes: readonly string[] } | null;
  /** The active party, and its own features that the model needs. */
  readonly party: string;
  readonly features: readonly string[];
  /** Per feature the categories that the model splits on; null of numbers. */
  readonly categoryNames: readonly CategoryNames[];
  /** The one of them that every row must have; null if there is none. */
  readonly requiredColumn: RequiredColumn | null;
  /** The names of SHAP values, of one class. */
  readonly contributionNames: (wanted: Wanted) => readonly string[];
  readonly normalise: readonly Normalisation[];
  readonly requestIdsMax: number;
  /** Score ids that a party does not hold as if all their values there were missing. */
  readonly unknownAsMissing: boolean;
  /** The active party's own data, for requests that give ids only. */
  readonly ownRows: Pick<RowSource, "rows">;
  readonly batcher: Pick<MicroBatcher, "score">;
  readonly onRow: (outcome: string) => void;
}

/** One row of a request: its id and values, or why it cannot be scored. */
type RequestedRow = { readonly given: string } & (
  | { readonly id: string; readonly values: Float32Array }
  | { readonly problem: Problem }
);

type Contributions = Record<string, number>;

interface Request {
  readonly rows: readonly RequestedRow[];
  readonly wanted: Wanted;
}

export class PredictEndpoint {
  readonly #options: EndpointOptions;
  readonly #schemas: ReturnType<typeof predictRequest>;

  constructor(options: EndpointOptions) {
    this.#options = options;
    this.#schemas = predictRequest(options.features, options.categoryNames, options.requestIdsMax);
  }

  /** @throws TandemError USAGE naming the field, or an error that affects all rows */
  async answer(body: unknown): Promise<PredictResponse> {
    const { rows, wanted } = await this.#request(body);
    const scorable = rows.filter((row) => "id" in row);
    const columns = this.#options.features.map((_, feature) =>
      Float32Array.from(scorable, ({ values }) => values[feature]),
    );
    const ids = scorable.map(({ id }) => id);
    const scores = ids.length === 0 ? null : await this.#options.batcher.score({ ids, columns }, wanted);
    let next = 0;
    const predictions = rows.map((requested): PredictResponse["predictions"][number] => {
      if ("problem" in requested) return this.#refused(requested.given, requested.problem);
      const row = next++;
      const unknown = scores?.unknown.get(row);
      if (unknown !== undefined && !this.#options.unknownAsMissing)
        return this.#refused(requested.given, unknownTo(unknown));
      this.#options.onRow("scored");
      const values = valuesOf(scores?.predictions ?? new Float64Array(0), row, ids.length);
      if (isExplanation(wanted)) return { id: requested.given, contributions: this.#contributions(values, wanted) };
      return { id: requested.given, ...this.#prediction(values, wanted) };
    });
    const { model } = this.#options;
    const naming = this.#naming(wanted);
    return { model, ...(naming ? { classes: [...naming.classes] } : {}), predictions };
  }

  /** A number, or one per class or tree; and the likeliest class where classes have names. */
  #prediction(values: readonly number[], wanted: Wanted): { readonly prediction: number | number[]; class?: string } {
    const naming = this.#naming(wanted);
    return {
      prediction: values.length === 1 ? values[0] : [...values],
      ...(naming ? { class: likeliestClass(naming.cutOff, Float64Array.from(values), naming.classes) } : {}),
    };
  }

  /** Margins and leaves have no class names. */
  #naming({ kind }: Wanted): EndpointOptions["naming"] {
    return kind === "prediction" ? this.#options.naming : null;
  }

  /** Values by their names; of several classes one after the other. */
  #contributions(values: readonly number[], wanted: Wanted): Contributions | Contributions[] {
    const names = this.#options.contributionNames(wanted);
    const all = Array.from({ length: values.length / names.length }, (_, k) =>
      Object.fromEntries(names.map((name, i) => [name, values[k * names.length + i]])),
    );
    return all.length === 1 ? all[0] : all;
  }

  #refused(id: string, error: Problem): { id: string; error: Problem } {
    this.#options.onRow(error.code);
    return { id, error };
  }

  async #request(body: unknown): Promise<Request> {
    if (typeof body !== "object" || body === null || Array.isArray(body))
      throw new TandemError("USAGE", "the request must be a JSON object with 'ids' or 'rows'");
    if ("rows" in body) return this.#requestByRows(body);
    if ("ids" in body) return this.#requestByIds(body);
    throw new TandemError("USAGE", "the request has neither 'ids' nor 'rows'");
  }

  #requestByRows(body: object): Request {
    const { features, categoryNames } = this.#options;
    const parsed = this.#schemas.rows.safeParse(body);
    if (!parsed.success) throw requestMistake(parsed.error);
    const rows = parsed.data.rows.map((row, index) => {
      const values = new Float32Array(features.length);
      features.forEach((name, i) => {
        const given = row.features[name] as number | string | null; // checked by the schema
        const value = typeof given === "string" ? modelCode(given.trim(), categoryNames[i] ?? []) : given;
        values[i] = value ?? Number.NaN;
        if (value !== null && !Number.isFinite(values[i]))
          throw new TandemError("USAGE", `rows[${index}].features.${name}: is outside the range of float32`);
      });
      return this.#requestedRow(row.id, () => values);
    });
    return { rows, wanted: wantedBy(parsed.data) };
  }

  async #requestByIds(body: object): Promise<Request> {
    const { features, categoryNames, ownRows, party, unknownAsMissing } = this.#options;
    const parsed = this.#schemas.ids.safeParse(body);
    if (!parsed.success) throw requestMistake(parsed.error);
    const { ids } = parsed.data;
    const wanted = wantedBy(parsed.data);
    if (features.length === 0)
      return { rows: ids.map((given) => this.#requestedRow(given, () => new Float32Array(0))), wanted };
    const index = await ownRows.rows(wantedColumns({ features, categoryNames }), ids, party);
    const read = index.reader(features, categoryNames);
    const rows = ids.map((given) =>
      this.#requestedRow(given, (id) => {
        const row = index.rowOf(id);
        if (row !== unknownRow) return read(row);
        // Passive parties are not sent an id that gets no score.
        return unknownAsMissing ? new Float32Array(features.length).fill(Number.NaN) : unknownTo([party]);
      }),
    );
    return { rows, wanted };
  }

  #requestedRow(given: string, valuesOf: (id: string) => Float32Array | Problem): RequestedRow {
    const id = normaliseId(given, this.#options.normalise);
    if (id === "") return { given, problem: { code: "ID_UNKNOWN", message: "the id is empty after normalisation" } };
    if (/\p{Surrogate}/u.test(id))
      return { given, problem: { code: "ID_UNKNOWN", message: "the id is not Unicode text" } };
    const values = valuesOf(id);
    if (!(values instanceof Float32Array)) return { given, problem: values };
    const { requiredColumn: required } = this.#options;
    if (required !== null && !required.isUsable(values[required.place]))
      return {
        given,
        problem: { code: "CELL_UNPARSABLE", message: `'${required.name}', the base margin, is missing` },
      };
    return { given, id, values };
  }
}

function unknownTo(parties: readonly string[]): Problem {
  return { code: "ID_UNKNOWN", message: `unknown to ${parties.join(" and ")}` };
}

function valuesOf(predictions: Float64Array, row: number, rowCount: number): number[] {
  const perRow = predictions.length / rowCount;
  return Array.from(predictions.subarray(row * perRow, (row + 1) * perRow));
}
