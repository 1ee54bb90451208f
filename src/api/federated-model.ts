/** A trained model of which this party holds its share: scores take one question to each passive party. */
import { TandemError } from "../base/error.ts";
import { allIterations } from "../gbdt/tree/iterations.ts";
import type { ActiveConfig as ReadConfig } from "../party/config/config.ts";
import type { RowSource } from "../scoring/features/row-source.ts";
import type { Scorer } from "../scoring/scorer.ts";
import type { ActiveShare } from "../store/share-files.ts";
import { stopping } from "./abort.ts";
import type { ActiveConfig } from "./parameters.ts";
import type { People } from "./people.ts";
import type { Scores } from "./predictions.ts";
import { type Table, withTableFile } from "./table.ts";

/** Options of `model.score`. */
export interface ScoreOptions {
  /**
   * Default: `prediction`. `contributions` are SHAP values of own features with a total per passive party, which must
   * allow it; `party_contributions` take each passive party as one feature; `own_contributions` take all other parties
   * as one, from the score alone.
   */
  readonly output?: "prediction" | "margin" | "leaf" | "contributions" | "party_contributions" | "own_contributions";
  /** Rounds whose trees count, from the first up to the second, which does not count. Default: all. */
  readonly iterations?: readonly [begin: number, end: number];
  /**
   * People whom a party does not hold: `refuse` the call (the default), `skip` them, so that their values are NaN, or
   * score them as if that party's values were `missing`.
   */
  readonly unknown?: "refuse" | "skip" | "missing";
  /** Ends the questions under way when it is aborted. */
  readonly signal?: AbortSignal;
}

/** Scores, and who could not be scored in full. */
export interface FederatedScores extends Scores {
  /** By id, the parties that do not hold the person. */
  readonly unknown: ReadonlyMap<string, readonly string[]>;
}

const firstTimeoutMs = 10_000;
/** How long connections stay open for the next call. */
const idleMs = 1000;

/** A model between parties. Its trees are spread over them: this party has the leaf weights and its own splits. */
export class FederatedModel {
  /** The same for all parties of the model. */
  readonly id: string;
  readonly job: string;
  readonly objective: string;
  readonly treeCount: number;
  /** The passive parties that it was trained with. */
  readonly passives: readonly string[];
  readonly #config: ReadConfig;
  readonly #share: ActiveShare;
  #scorer: Promise<Scorer> | null = null;
  #ownRows: RowSource | null = null;
  #callCount = 0;
  #idle: NodeJS.Timeout | undefined;

  private constructor(config: ReadConfig, share: ActiveShare) {
    this.#config = config;
    this.#share = share;
    this.id = share.model;
    this.job = share.job;
    this.objective = share.objective;
    this.treeCount = share.trees.length;
    this.passives = share.passiveNames;
  }

  /** A model that was trained before. @internal */
  static async open(config: ReadConfig, name: string): Promise<FederatedModel> {
    const { findActiveShare } = await import("../party/model/find-share.ts");
    return new FederatedModel(config, await findActiveShare(name, config));
  }

  /**
   * Scores people.
   * @param people ids, whose values this party looks up in the table of its config; or a table with its own columns of
   * the people, as columns or as the path of a file
   * @throws TandemError ID_UNKNOWN, unless `unknown` says otherwise; PARTY_LOST where a party cannot be reached
   */
  async score(people: readonly string[] | string | Table, options: ScoreOptions = {}): Promise<FederatedScores> {
    this.#callCount++;
    clearTimeout(this.#idle);
    const close = (): void => this.close();
    try {
      return await stopping(options.signal, close, () => this.#score(people, options));
    } finally {
      // Open connections would keep the process alive until they are closed.
      if (--this.#callCount === 0) this.#idle = setTimeout(close, idleMs).unref();
    }
  }

  /** Closes connections to passive parties at once. They are opened again when they are needed. */
  close(): void {
    clearTimeout(this.#idle);
    void this.#scorer?.then(
      (scorer) => scorer.close(),
      () => {},
    );
    this.#scorer = null;
    void this.#ownRows?.close();
  }

  async #connected(): Promise<Scorer> {
    const { Scorer } = await import("../scoring/scorer.ts");
    const opened = (this.#scorer ??= Scorer.connect(this.#config, this.#share));
    try {
      return await opened;
    } catch (error) {
      if (this.#scorer === opened) this.#scorer = null;
      throw error;
    }
  }

  async #score(given: readonly string[] | string | Table, options: ScoreOptions): Promise<FederatedScores> {
    const [{ scoreAll }, scorer] = await Promise.all([import("../scoring/run-predict.ts"), this.#connected()]);
    const { unknown: rule = "refuse", signal, output: kind = "prediction", iterations } = options;
    const range = iterations === undefined ? allIterations : { begin: iterations[0], end: iterations[1] };
    const wanted = { kind, iterations: range };
    const { names, perRow } = scorer.outputs(wanted);
    const { ids, asked, places } = await this.#people(scorer, given, rule === "missing");
    const unknown = new Map(ids.map((_, row): [number, string[]] => [row, [this.#config.name]]));
    for (const place of places) unknown.delete(place);
    refuse(rule, unknown, ids.length);
    for (const { trouble } of await scorer.ready(firstTimeoutMs)) if (trouble !== null) throw trouble;
    const onProgress = (): void => signal?.throwIfAborted();
    const sendContributions = this.#config.tell_contributions;
    const found = await scoreAll(scorer, asked, { unknown: rule, onProgress, wanted }, sendContributions);
    for (const [i, parties] of found.unknown) unknown.set(places[i], [...parties]);
    refuse(rule, unknown, ids.length);
    const values = new Float64Array(ids.length * perRow).fill(Number.NaN);
    places.forEach((place, i) => values.set(found.predictions.subarray(i * perRow, (i + 1) * perRow), place * perRow));
    return { ids, names, values, unknown: new Map([...unknown].map(([row, parties]) => [ids[row], parties])) };
  }

  async #people(scorer: Scorer, given: readonly string[] | string | Table, asMissing: boolean): Promise<People> {
    const { ownRowsOf, peopleByIds, peopleInFile } = await import("./people.ts");
    if (!isIdList(given)) return withTableFile(given, (path) => peopleInFile(this.#config, scorer, path));
    const ownRows = (this.#ownRows ??= ownRowsOf(this.#config, scorer));
    return peopleByIds(this.#config, scorer, ownRows, given, asMissing);
  }
}

/**
 * A model of an earlier job of the active party.
 * @param config an object or the path of a file
 * @param name of the job, the model's id, or the folder of the job
 * @throws TandemError MODEL_UNKNOWN
 */
export async function openModel(config: string | ActiveConfig, name: string): Promise<FederatedModel> {
  const { readActiveConfig } = await import("../party/config/config.ts");
  return FederatedModel.open(await readActiveConfig(config, () => "unnamed"), name);
}

function isIdList(people: readonly string[] | string | Table): people is readonly string[] {
  return Array.isArray(people);
}

/** @throws TandemError ID_UNKNOWN, with numbers and names of parties, never an id */
function refuse(rule: string, unknown: ReadonlyMap<number, readonly string[]>, total: number): void {
  if (rule !== "refuse" || unknown.size === 0) return;
  const parties = [...new Set([...unknown.values()].flat())].join(", ");
  throw new TandemError(
    "ID_UNKNOWN",
    `${unknown.size} of ${total} ids are unknown to a party (${parties}). Leave such ids out with ` +
      'unknown: "skip", or score them as missing with unknown: "missing"',
  );
}
