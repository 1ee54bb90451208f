/**
 * What a passive party answers when it is asked to score: whom, with which model, for how many ids. It keeps nothing of
 * a request but counts, and knows nothing of the job that may be under way.
 */
import type { MessageInitShape } from "@bufbuild/protobuf";
import { TandemError } from "../base/error.ts";
import { checkKind } from "../gbdt/split/split-test.ts";
import type { ActiveScoring, PassiveOutcomesSchema } from "../wire/generated/tandem/v1/scoring_pb.ts";
import { countSet } from "../wire/bitmap.ts";
import { bySplitOrder, type SplitColumn, splitOutcomes } from "../protocol/passive/split-outcomes.ts";
import { messageBytesMax, protocolVersion } from "../wire/version.ts";
import type { PassiveShare } from "../store/share-files.ts";
import type { Caller } from "../transport/caller.ts";
import type { ScoringDesk } from "../transport/scoring-service.ts";
import type { PassiveConfig } from "../party/config.ts";
import type { DataCache } from "../party/data-cache.ts";
import type { PartnerBudgets } from "../party/partner-budget.ts";
import type { Emit } from "../record/events.ts";
import { withOwnFiles } from "../party/own-files.ts";
import { CurrentRows, type RowIndex } from "./row-index.ts";
import { ScoringMeter } from "./scoring-meter.ts";
import { ShareLibrary } from "../party/model/share-library.ts";

/** What is left for the rest of the message. */
const outcomeBytesMax = messageBytesMax - (64 << 10);

interface PreparedShare {
  readonly rows: RowIndex;
  readonly splits: readonly SplitColumn[];
}

export class PassiveScoring implements ScoringDesk {
  readonly #config: PassiveConfig;
  readonly #meter: ScoringMeter;
  readonly #budgets: PartnerBudgets;
  readonly #shares: ShareLibrary;
  readonly #rows: CurrentRows;
  /** Shares with the columns that they ask about; made anew when the data has changed. */
  readonly #prepared = new WeakMap<PassiveShare, PreparedShare>();

  constructor(config: PassiveConfig, data: DataCache, emit: Emit, budgets: PartnerBudgets) {
    this.#config = config;
    this.#budgets = budgets;
    this.#meter = new ScoringMeter(config.name, emit);
    const onTrouble = (error: unknown): void => this.#meter.trouble(error);
    this.#shares = new ShareLibrary(config.output.directory, onTrouble);
    this.#rows = new CurrentRows(config.data, { data, onTrouble });
  }

  async score(request: ActiveScoring, caller: Caller): Promise<MessageInitShape<typeof PassiveOutcomesSchema>> {
    try {
      return await this.#answer(request, caller);
    } catch (error) {
      this.#meter.refused(caller.name, this.#forOwner(error, request.model));
      throw error;
    }
  }

  /** A name that has changed in the config orphans a model: the caller is not told that there is one, the owner is. */
  #forOwner(error: unknown, model: string): unknown {
    if (!(error instanceof TandemError) || error.code !== "MODEL_UNKNOWN") return error;
    const partner = this.#shares.partnerOf(model);
    if (partner === null || this.#config.active.some(({ name }) => name === partner)) return error;
    const reason = `it was trained with '${partner}', which the config no longer names`;
    return new TandemError(error.code, `${error.message}: ${reason}`, { cause: error });
  }

  /** Says what was answered since it was last said. */
  close(): void {
    this.#meter.close();
  }

  async #answer(
    { protocolVersion: theirs, model, ids, unknownAsMissing }: ActiveScoring,
    caller: Caller,
  ): Promise<MessageInitShape<typeof PassiveOutcomesSchema>> {
    const { name, policy } = this.#config;
    const idsMax = policy.max_scoring_ids;
    if (theirs !== protocolVersion)
      throw new TandemError(
        "HANDSHAKE_MISMATCH",
        `protocol version: the active party speaks ${theirs}, ${name} speaks ${protocolVersion}`,
      );
    if (!policy.scoring) throw new TandemError("POLICY", `the policy of ${name} does not allow scoring`);
    if (ids.length > idsMax)
      throw new TandemError(
        "POLICY",
        `the policy of ${name} does not allow this request: ids: ${ids.length} asked about, at most ${idsMax} allowed`,
      );
    const share = await this.#shares.find(model, caller.name);
    // The same words whether there is no such model or it is another's: nobody can look for models.
    if (share === null)
      throw new TandemError("MODEL_UNKNOWN", `${name} has no share of this model that it made with this active party`);
    if ((share.splits.length * ids.length) / 8 > outcomeBytesMax)
      throw new TandemError(
        "PROTOCOL_STATE",
        `${name}: ${ids.length} ids times ${share.splits.length} splits do not fit one message`,
      );
    await this.#budgets.score(caller.name, ids.length);
    const { rows, splits } = await withOwnFiles(
      name,
      (event) => this.#meter.say(event),
      () => this.#prepare(share),
    );
    const { known, left } = await splitOutcomes(
      splits,
      Int32Array.from(ids, (id) => rows.rowOf(id)),
      unknownAsMissing,
    );
    if (ids.length > 0)
      this.#meter.answered({
        peer: caller.name,
        job: share.job,
        model,
        idCount: ids.length,
        unknownCount: ids.length - countSet(known, ids.length),
      });
    return { protocolVersion, known, splitCount: splits.length, left, idsMax };
  }

  async #prepare(share: PassiveShare): Promise<PreparedShare> {
    const rows = await this.#rows.current();
    const kept = this.#prepared.get(share);
    if (kept?.rows === rows) return kept;
    // By name: the columns may stand in another order than when the model was trained.
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
