/** One model behind the server: a connection to each of its parties, batches of requests, and the endpoint. */
import { classCutOff } from "../../gbdt/objective/objectives.ts";
import type { ServingParameters } from "../../base/parameters/parameters.ts";
import type { ActiveConfig } from "../../party/config/config.ts";
import { DataCache } from "../../party/tables/data-cache.ts";
import { batchesAtOnce } from "../../scheme/masked/masked-driver.ts";
import type { ActiveShare } from "../../store/share-files.ts";
import type { DriftSummary } from "../../record/drift-facts.ts";
import type { Emit } from "../../record/events.ts";
import { CountedScorer } from "../drift/counted-scorer.ts";
import { DriftNotes } from "../drift/drift-notes.ts";
import type { RowSource } from "../features/row-source.ts";
import { rowSourceOf } from "../features/row-sources.ts";
import { scoringData, wantedColumns } from "../run-predict.ts";
import { Scorer } from "../scorer.ts";
import type { PartyReadiness } from "../scoring-question.ts";
import type { PredictResponse, ReadyResponse } from "./messages.ts";
import { MicroBatcher } from "./micro-batcher.ts";
import { PredictEndpoint } from "./predict-endpoint.ts";
import { Readiness } from "./readiness.ts";
import type { ServerMetrics } from "./server-metrics.ts";

export interface ServedModelOptions {
  /** The model's name in paths and metrics. */
  readonly name: string;
  readonly parameters: ServingParameters;
  readonly unknownAsMissing: boolean;
  readonly metrics: ServerMetrics;
  readonly complain: (error: unknown) => void;
  readonly emit: Emit;
}

export class ServedModel {
  readonly share: ActiveShare;
  readonly #scorer: Scorer;
  readonly #drift: DriftNotes | null;
  readonly #batcher: MicroBatcher;
  readonly #endpoint: PredictEndpoint;
  readonly #ownRows: RowSource;
  readonly #readiness: Readiness;
  #underWay = 0;
  #idle: () => void = () => {};

  private constructor(config: ActiveConfig, scorer: Scorer, drift: DriftNotes | null, options: ServedModelOptions) {
    const { name, parameters, unknownAsMissing, metrics, complain } = options;
    const { share } = scorer;
    this.share = share;
    this.#scorer = scorer;
    this.#drift = drift;
    const counted = drift === null ? scorer : new CountedScorer(scorer, drift);
    this.#batcher = new MicroBatcher(counted, {
      windowMs: parameters.window_ms,
      batchIdsMax: parameters.batch_ids,
      // More would not be computed at once: requests that wait share the next batch instead.
      batchesMax: share.maskedScoring === true ? Math.min(parameters.batches, batchesAtOnce) : parameters.batches,
      queueIdsMax: parameters.queue_ids,
      timeoutMs: parameters.timeout_ms,
      unknownAsMissing,
      onBatch: (requestCount, idCount) => metrics.onBatch(name, requestCount, idCount),
    });
    const ownData = scoringData(config.data, scorer);
    const table = { data: new DataCache(ownData, "as trained"), onTrouble: complain };
    this.#ownRows = rowSourceOf(ownData, config.scoring, table);
    // Reads ahead, or connects; an error is reported to requests by id.
    this.#ownRows.rows(wantedColumns(scorer), [], config.name).catch(() => {});
    this.#endpoint = new PredictEndpoint({
      model: share.model,
      naming: share.classes ? { cutOff: classCutOff(share.objective), classes: share.classes } : null,
      party: config.name,
      features: scorer.features,
      categoryNames: scorer.categoryNames,
      requiredColumn: scorer.requiredColumn,
      contributionNames: (wanted) => scorer.outputs(wanted).contributionNames,
      normalise: config.data.normalise,
      requestIdsMax: parameters.request_ids,
      unknownAsMissing,
      ownRows: this.#ownRows,
      batcher: this.#batcher,
      onRow: (outcome) => metrics.rows.add({ model: name, outcome }),
    });
    this.#readiness = new Readiness(scorer);
  }

  static async open(config: ActiveConfig, share: ActiveShare, options: ServedModelOptions): Promise<ServedModel> {
    const { name, metrics, complain } = options;
    const lost = new Set<string>();
    const scorer = await Scorer.connect(config, share, (question) => {
      metrics.onQuestion(name, question);
      // Logged when a party begins to fail, not for every failed request.
      if (question.error === null) lost.delete(question.party);
      else if (!lost.has(question.party)) complain(question.error);
      if (question.error !== null) lost.add(question.party);
    });
    const { name: party, output } = config;
    const of = { party, job: share.job, model: share.model, directory: output.directory };
    const drift = await DriftNotes.open(of, options.emit).catch((error: unknown) => {
      complain(error); // scores do not need it
      return null;
    });
    return new ServedModel(config, scorer, drift, options);
  }

  /** Null while too few people were scored, or without reference distributions. */
  get drift(): DriftSummary | null {
    return this.#drift?.summary ?? null;
  }

  get features(): Scorer["features"] {
    return this.#scorer.features;
  }

  get categoryNames(): Scorer["categoryNames"] {
    return this.#scorer.categoryNames;
  }

  get queuedIds(): number {
    return this.#batcher.queuedIds;
  }

  async answer(body: unknown): Promise<PredictResponse> {
    this.#underWay++;
    try {
      return await this.#endpoint.answer(body);
    } finally {
      if (--this.#underWay === 0) this.#idle();
    }
  }

  /** As of the last second. */
  readyNow(): Promise<ReadyResponse> {
    return this.#readiness.now();
  }

  /** Asks each party now. */
  ready(timeoutMs: number): Promise<PartyReadiness[]> {
    return this.#scorer.ready(timeoutMs);
  }

  /** Settles once requests under way are answered, which their time limit bounds. */
  async retire(): Promise<void> {
    if (this.#underWay > 0) await new Promise<void>((resolve) => (this.#idle = resolve));
    await this.close();
  }

  close(): Promise<void> {
    this.#drift?.close();
    this.#scorer.close();
    return this.#ownRows.close();
  }
}
