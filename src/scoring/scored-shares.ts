/**
 * A passive party's shares of models with the columns of its current table: what the policy lets be asked of them, and
 * the outcomes of their splits for ids. Nothing of a request is kept but counts.
 */
import { TandemError } from "../base/error.ts";
import { checkKind } from "../gbdt/split/split-test.ts";
import type { PassiveConfig } from "../party/config/config.ts";
import { ScoringPermits } from "../party/model/scoring-permits.ts";
import { ShareLibrary } from "../party/model/share-library.ts";
import { withOwnFiles } from "../party/own-files.ts";
import type { PartnerBudgets } from "../party/partner-budget.ts";
import type { DataCache } from "../party/tables/data-cache.ts";
import {
  bySplitOrder,
  type SplitColumn,
  type SplitOutcomes,
  splitOutcomes,
  unknownRow,
} from "../protocol/passive/split-outcomes.ts";
import type { MaskedModel } from "../scheme/masked/masked-answerer.ts";
import type { PassiveShare } from "../store/share-files.ts";
import { countSet } from "../wire/bitmap.ts";
import { ShareDrift } from "./drift/share-drift.ts";
import type { RowSource, WantedColumns } from "./features/row-source.ts";
import { rowSourceOf } from "./features/row-sources.ts";
import type { RowIndex } from "./row-index.ts";
import type { ScoringMeter } from "./scoring-meter.ts";

interface PreparedShare {
  readonly rows: RowIndex;
  readonly splits: readonly SplitColumn[];
}

/** A share, as one session of masked scoring asks about it. */
export interface MaskedShare extends MaskedModel {
  readonly model: string;
}

export class ScoredShares {
  readonly #config: PassiveConfig;
  readonly #meter: ScoringMeter;
  readonly #budgets: PartnerBudgets;
  readonly #shares: ShareLibrary;
  readonly #permits: ScoringPermits;
  readonly #rows: RowSource;
  readonly #drift: ShareDrift;
  /** Shares with the columns of their splits; prepared anew when the data has changed. */
  readonly #prepared = new WeakMap<PassiveShare, PreparedShare>();

  constructor(config: PassiveConfig, data: DataCache, meter: ScoringMeter, budgets: PartnerBudgets) {
    this.#config = config;
    this.#meter = meter;
    this.#budgets = budgets;
    const onTrouble = (error: unknown): void => meter.trouble(error);
    this.#shares = new ShareLibrary(config.output.directory, onTrouble);
    this.#permits = new ScoringPermits(config, (event) => meter.log(event));
    this.#drift = new ShareDrift(config, meter);
    this.#rows = rowSourceOf(config.data, config.scoring, { data, onTrouble });
  }

  async close(): Promise<void> {
    await this.#drift.close();
    await this.#rows.close();
  }

  /** @throws TandemError POLICY if the request has too many ids */
  checkPolicy(idCount: number): void {
    const { name, policy } = this.#config;
    if (!policy.scoring) throw new TandemError("POLICY", `the policy of ${name} does not allow scoring`);
    if (idCount <= policy.max_scoring_ids) return;
    const what = `ids: ${idCount} requested, at most ${policy.max_scoring_ids} allowed`;
    throw new TandemError("POLICY", `the policy of ${name} does not allow this request: ${what}`);
  }

  /**
   * @throws TandemError MODEL_UNKNOWN, the same for no model and another partner's: models cannot be probed for; POLICY
   * for one that the caller has trained and may not ask about
   */
  async find(model: string, caller: string): Promise<PassiveShare> {
    const { name } = this.#config;
    const share = await this.#shares.find(model, caller);
    if (share === null)
      throw new TandemError("MODEL_UNKNOWN", `${name} has no share of this model that it made with this active party`);
    await this.#permits.check(model);
    return share;
  }

  /**
   * An error for the party's own log. Renaming a partner in the config orphans its models: the log says so, the answer
   * to the caller does not.
   */
  errorForOwner(error: unknown, model: string): unknown {
    if (!(error instanceof TandemError) || error.code !== "MODEL_UNKNOWN") return error;
    const partner = this.#shares.partnerOf(model);
    if (partner === null || this.#config.active.some(({ name }) => name === partner)) return error;
    const reason = `it was trained with '${partner}', which the config no longer names`;
    return new TandemError(error.code, `${error.message}: ${reason}`, { cause: error });
  }

  /**
   * Reads the current table as far as it has changed, or asks the source of features about ids; about none, whether it
   * answers. @throws TandemError if the data does not fit the share
   */
  prepare(share: PassiveShare, ids: readonly string[], caller: string): Promise<PreparedShare> {
    return withOwnFiles(
      this.#config.name,
      (event) => this.#meter.log(event),
      () => this.#prepare(share, ids, caller),
    );
  }

  /** Charges the caller's budget, and counts the ids. @throws TandemError if the budget is used up */
  async outcomes(
    share: PassiveShare,
    ids: readonly string[],
    unknownAsMissing: boolean,
    caller: string,
  ): Promise<SplitOutcomes> {
    await this.#budgets.score(caller, ids.length);
    return this.#outcomes(share, await this.prepare(share, ids, caller), ids, unknownAsMissing, caller);
  }

  async #outcomes(
    share: PassiveShare,
    { rows, splits }: PreparedShare,
    ids: readonly string[],
    unknownAsMissing: boolean,
    caller: string,
  ): Promise<SplitOutcomes> {
    const places = Int32Array.from(ids, (id) => rows.rowOf(id));
    const outcomes = await splitOutcomes(splits, places, unknownAsMissing);
    await this.#drift.see(share, rows, places);
    if (ids.length > 0)
      this.#meter.answered({
        peer: caller,
        job: share.job,
        model: share.model,
        idCount: ids.length,
        unknownCount: ids.length - countSet(outcomes.known, ids.length),
      });
    return outcomes;
  }

  /** The share is looked up at each step: it may be gone, or its file replaced. */
  masked(opened: PassiveShare, caller: string): MaskedShare {
    let share = opened;
    return {
      model: opened.model,
      splitCount: opened.splits.length,
      idsMax: this.#config.policy.max_scoring_ids,
      outputsMax: this.#config.policy.max_outputs,
      scoreNoise: opened.scoreNoise ?? 0,
      admit: async () => {
        this.checkPolicy(0);
        share = await this.find(opened.model, caller);
      },
      checkReady: async () => void (await this.prepare(share, [], caller)),
      rowCount: ({ ids }) => {
        this.checkPolicy(ids.length);
        return ids.length;
      },
      outcomes: async ({ ids, unknownAsMissing }) => {
        // First: a partner beyond its budget must not make this party ask a database, again and again.
        await this.#budgets.score(caller, ids.length);
        const prepared = await this.prepare(share, ids, caller);
        const held = ids.filter((id) => prepared.rows.rowOf(id) !== unknownRow);
        await this.#budgets.questions.charge(caller, share.model, held);
        return {
          rowCount: ids.length,
          ...(await this.#outcomes(share, prepared, ids, unknownAsMissing, caller)),
        };
      },
    };
  }

  async #prepare(share: PassiveShare, ids: readonly string[], caller: string): Promise<PreparedShare> {
    const rows = await this.#rows.rows(wantedOf(share), ids, caller);
    const kept = this.#prepared.get(share);
    if (kept?.rows === rows) return kept;
    // By name: the order of columns may have changed since training.
    const splits = share.splits.toSorted(bySplitOrder).map((split) => {
      const [values, names] = [rows.column(split.featureName), rows.names(split.featureName)];
      checkKind(split, split.featureName, values, names);
      return { split, values, names };
    });
    const prepared = { rows, splits };
    this.#prepared.set(share, prepared);
    return prepared;
  }
}

/** What a share needs of its party's columns. */
function wantedOf({ splits }: PassiveShare): WantedColumns {
  const named = (of: PassiveShare["splits"]): string[] => [...new Set(of.map(({ featureName }) => featureName))];
  return { features: named(splits), categorical: named(splits.filter((split) => "categories" in split)) };
}
