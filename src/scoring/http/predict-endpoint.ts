/**
 * POST /predict: from a parsed body to predictions. A person who cannot be scored gets an error of his own and is no
 * obstacle to the others; a request that is not what it should be is refused as a whole.
 */
import { type Normalisation, normaliseId } from "../../psi/normalise.ts";
import { TandemError } from "../../base/error.ts";
import { likeliestClass } from "../../data/prediction-columns.ts";
import type { CategoryNames } from "../../gbdt/split/split-test.ts";
import type { CurrentRows } from "../row-index.ts";
import { modelCode } from "../scoring-model.ts";
import { unknownRow } from "../../protocol/passive/split-outcomes.ts";
import { type PredictResponse, predictRequest, type Problem, requestMistake, wantedBy } from "./messages.ts";
import { isExplanation, type Wanted } from "../wanted.ts";
import type { MicroBatcher } from "./micro-batcher.ts";

export interface EndpointOptions {
  readonly model: string;
  /** Names of what is predicted. Null or left out: it has none. */
  readonly naming?: { readonly cutOff: number; readonly classes: readonly string[] } | null;
  /** The active party, and its own features that the model asks about. */
  readonly party: string;
  readonly features: readonly string[];
  /** Of each of them the categories that the model asks about; null of numbers. */
  readonly categoryNames: readonly CategoryNames[];
  /** The one of them without which nobody can be scored; null if there is none. */
  readonly requiredColumn: { readonly place: number; readonly name: string } | null;
  /** How SHAP values are called, of one class. */
  readonly contributionNames: readonly string[];
  readonly normalise: readonly Normalisation[];
  readonly requestIdsMax: number;
  /** Score people whom a party does not hold as if all their values there were missing. */
  readonly unknownAsMissing: boolean;
  /** The active party's own data, for requests that give ids only. */
  readonly ownRows: Pick<CurrentRows, "current">;
  readonly batcher: Pick<MicroBatcher, "score">;
  readonly onRow: (outcome: string) => void;
}

/** One person of a request: what goes into a batch, or why nothing does. */
type Person = { readonly given: string } & (
  | { readonly id: string; readonly values: Float32Array }
  | { readonly problem: Problem }
);

type Contributions = Record<string, number>;

interface Request {
  readonly people: readonly Person[];
  readonly wanted: Wanted;
}

export class PredictEndpoint {
  readonly #options: EndpointOptions;
  readonly #schemas: ReturnType<typeof predictRequest>;

  constructor(options: EndpointOptions) {
    this.#options = options;
    this.#schemas = predictRequest(options.features, options.categoryNames, options.requestIdsMax);
  }

  /** @throws TandemError USAGE naming the field, or what keeps everybody from being scored */
  async answer(body: unknown): Promise<PredictResponse> {
    const { people, wanted } = await this.#request(body);
    const scorable = people.filter((person) => "id" in person);
    const columns = this.#options.features.map((_, feature) =>
      Float32Array.from(scorable, ({ values }) => values[feature]),
    );
    const ids = scorable.map(({ id }) => id);
    const scores = ids.length === 0 ? null : await this.#options.batcher.score({ ids, columns }, wanted);
    let next = 0;
    const predictions = people.map((person): PredictResponse["predictions"][number] => {
      if ("problem" in person) return this.#refused(person.given, person.problem);
      const row = next++;
      const strangers = scores?.unknown.get(row);
      if (strangers !== undefined && !this.#options.unknownAsMissing)
        return this.#refused(person.given, unknownTo(strangers));
      this.#options.onRow("scored");
      const values = valuesOf(scores?.predictions ?? new Float64Array(0), row, ids.length);
      if (isExplanation(wanted)) return { id: person.given, contributions: this.#contributions(values) };
      return { id: person.given, ...this.#prediction(values, wanted) };
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

  /** Margins and leaves stand for no class. */
  #naming({ kind }: Wanted): EndpointOptions["naming"] {
    return kind === "prediction" ? this.#options.naming : null;
  }

  /** Values by their names; of several classes one after the other. */
  #contributions(values: readonly number[]): Contributions | Contributions[] {
    const { contributionNames: names } = this.#options;
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
    if ("rows" in body) return this.#peopleByRows(body);
    if ("ids" in body) return this.#peopleByIds(body);
    throw new TandemError("USAGE", "the request has neither 'ids' nor 'rows'");
  }

  #peopleByRows(body: object): Request {
    const { features, categoryNames } = this.#options;
    const parsed = this.#schemas.rows.safeParse(body);
    if (!parsed.success) throw requestMistake(parsed.error);
    const people = parsed.data.rows.map((row, index) => {
      const values = new Float32Array(features.length);
      features.forEach((name, i) => {
        const given = row.features[name] as number | string | null; // the schema has seen to it
        const value = typeof given === "string" ? modelCode(given.trim(), categoryNames[i] ?? []) : given;
        values[i] = value ?? Number.NaN;
        if (value !== null && !Number.isFinite(values[i]))
          throw new TandemError("USAGE", `rows[${index}].features.${name}: lies outside float32's range`);
      });
      return this.#person(row.id, () => values);
    });
    return { people, wanted: wantedBy(parsed.data) };
  }

  async #peopleByIds(body: object): Promise<Request> {
    const { features, categoryNames, ownRows, party, unknownAsMissing } = this.#options;
    const parsed = this.#schemas.ids.safeParse(body);
    if (!parsed.success) throw requestMistake(parsed.error);
    const { ids } = parsed.data;
    const wanted = wantedBy(parsed.data);
    if (features.length === 0)
      return { people: ids.map((given) => this.#person(given, () => new Float32Array(0))), wanted };
    const index = await ownRows.current();
    const read = index.reader(features, categoryNames);
    const people = ids.map((given) =>
      this.#person(given, (id) => {
        const row = index.rowOf(id);
        if (row !== unknownRow) return read(row);
        // Nobody else needs to hear of an id that will get no score.
        return unknownAsMissing ? new Float32Array(features.length).fill(Number.NaN) : unknownTo([party]);
      }),
    );
    return { people, wanted };
  }

  #person(given: string, valuesOf: (id: string) => Float32Array | Problem): Person {
    const id = normaliseId(given, this.#options.normalise);
    if (id === "") return { given, problem: { code: "ID_UNKNOWN", message: "the id is empty after normalisation" } };
    if (/\p{Surrogate}/u.test(id))
      return { given, problem: { code: "ID_UNKNOWN", message: "the id is not Unicode text" } };
    const values = valuesOf(id);
    if (!(values instanceof Float32Array)) return { given, problem: values };
    const { requiredColumn: required } = this.#options;
    if (required !== null && Number.isNaN(values[required.place]))
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
