/**
 * What a passive party answers when it is asked to score: whom, with which model, for how many ids. It keeps nothing of
 * a request but counts, and the sessions of masked scoring; it knows nothing of the job that may be under way.
 */
import type { MessageInitShape } from "@bufbuild/protobuf";
import { TandemError } from "../base/error.ts";
import { checkKind } from "../gbdt/split/split-test.ts";
import type {
  ActiveContributions,
  ActiveScoring,
  ActiveTags,
  PassiveContributionsSchema,
  PassiveOutcomesSchema,
  PassiveTagsSchema,
} from "../wire/generated/tandem/v1/scoring_pb.ts";
import type {
  ActiveMaskOpen,
  ActiveMaskStep,
  PassiveMaskOpenedSchema,
  PassiveMaskStepSchema,
} from "../wire/generated/tandem/v1/masked_pb.ts";
import { MaskedSession, MaskedSessions, stepOf } from "../scheme/masked/masked-sessions.ts";
import { countSet } from "../wire/bitmap.ts";
import {
  bySplitOrder,
  type SplitColumn,
  type SplitOutcomes,
  splitOutcomes,
  unknownRow,
} from "../protocol/passive/split-outcomes.ts";
import { messageBytesMax, protocolVersion, requireActiveVersion } from "../wire/version.ts";
import type { PassiveShare } from "../store/share-files.ts";
import type { Caller } from "../transport/caller.ts";
import type { ScoringDesk } from "../transport/scoring-service.ts";
import type { PassiveConfig } from "../party/config/config.ts";
import type { DataCache } from "../party/tables/data-cache.ts";
import type { PartnerBudgets } from "../party/partner-budget.ts";
import type { Emit } from "../record/events.ts";
import { withOwnFiles } from "../party/own-files.ts";
import { Explanations } from "./explanations.ts";
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
  readonly #sessions = new MaskedSessions();
  readonly #explanations: Explanations;
  /** Shares with the columns that they ask about; made anew when the data has changed. */
  readonly #prepared = new WeakMap<PassiveShare, PreparedShare>();

  constructor(config: PassiveConfig, data: DataCache, emit: Emit, budgets: PartnerBudgets) {
    this.#config = config;
    this.#budgets = budgets;
    this.#explanations = new Explanations(config, (event) => this.#meter.say(event));
    this.#meter = new ScoringMeter(config.name, emit);
    const onTrouble = (error: unknown): void => this.#meter.trouble(error);
    this.#shares = new ShareLibrary(config.output.directory, onTrouble);
    this.#rows = new CurrentRows(config.data, { data, onTrouble });
  }

  score(request: ActiveScoring, caller: Caller): Promise<MessageInitShape<typeof PassiveOutcomesSchema>> {
    return this.#refusable(request.model, caller, () => this.#answer(request, caller));
  }

  maskOpen(request: ActiveMaskOpen, caller: Caller): Promise<MessageInitShape<typeof PassiveMaskOpenedSchema>> {
    return this.#refusable(request.model, caller, async () => {
      requireActiveVersion(request.protocolVersion, this.#config.name);
      this.#checkRequest([]);
      const share = await this.#share(request.model, caller);
      const session = new MaskedSession(request, request.model, share.splits.length);
      this.#sessions.add(caller.name, session);
      return {
        protocolVersion,
        session: session.id,
        splitCount: session.splitCount,
        idsMax: this.#config.policy.max_scoring_ids,
        scheme: session.opening,
      };
    });
  }

  async maskStep(request: ActiveMaskStep, caller: Caller): Promise<MessageInitShape<typeof PassiveMaskStepSchema>> {
    const session = this.#sessions.find(caller.name, request);
    if (session === null) return { expired: true };
    return this.#refusable(session.subject, caller, () => this.#maskedStep(session, request, caller));
  }

  async #maskedStep(
    session: MaskedSession,
    request: ActiveMaskStep,
    caller: Caller,
  ): Promise<MessageInitShape<typeof PassiveMaskStepSchema>> {
    const { batch, scheme } = request;
    const step = stepOf(request);
    this.#checkRequest(step.kind === "begin" ? step.rows.ids : []);
    const share = await this.#share(session.subject, caller);
    switch (step.kind) {
      case "set-up":
        if (scheme.length === 0) await this.#readied(share); // it is asked whether this party can score
        return { scheme: await session.setUp(scheme) };
      case "begin": {
        const { ids, unknownAsMissing } = step.rows;
        const [message, { known }] = await session.begin(batch, ids.length, async () => ({
          rowCount: ids.length,
          ...(await this.#outcomes(share, ids, unknownAsMissing, caller)),
        }));
        return { known, scheme: message };
      }
      case "finish": {
        const [sums] = await session.finish(batch, scheme);
        return { scheme: sums };
      }
    }
  }

  tags(request: ActiveTags, caller: Caller): Promise<MessageInitShape<typeof PassiveTagsSchema>> {
    return this.#refusable(request.model, caller, async () => {
      requireActiveVersion(request.protocolVersion, this.#config.name);
      this.#checkRequest([]);
      this.#explanations.checkAllowed();
      const share = await this.#share(request.model, caller);
      const { job, model, splits } = share;
      const tags = this.#explanations.tags(share);
      this.#meter.say({
        type: "explained",
        party: this.#config.name,
        peer: caller.name,
        job,
        model,
        splitCount: splits.length,
      });
      return { protocolVersion, tags: [...tags], takesContributions: this.#config.output.contributions };
    });
  }

  contributions(
    request: ActiveContributions,
    caller: Caller,
  ): Promise<MessageInitShape<typeof PassiveContributionsSchema>> {
    return this.#refusable(request.model, caller, async () => {
      requireActiveVersion(request.protocolVersion, this.#config.name);
      this.#checkRequest(request.ids);
      this.#explanations.checkTaken();
      const share = await this.#share(request.model, caller);
      const { rows } = await this.#readied(share);
      await this.#explanations.take(request, share, (id) => rows.rowOf(id) !== unknownRow);
      return { protocolVersion };
    });
  }

  async #refusable<T>(model: string, caller: Caller, answer: () => Promise<T>): Promise<T> {
    try {
      return await answer();
    } catch (error) {
      this.#meter.refused(caller.name, this.#forOwner(error, model));
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
    requireActiveVersion(theirs, this.#config.name);
    this.#checkRequest(ids);
    const share = await this.#share(model, caller);
    if (share.maskedScoring === true || policy.privacy.masked_scoring)
      throw new TandemError("POLICY", `${name} scores with this model by masked scoring only: no outcome is told`);
    if ((share.splits.length * ids.length) / 8 > outcomeBytesMax)
      throw new TandemError(
        "PROTOCOL_STATE",
        `${name}: ${ids.length} ids times ${share.splits.length} splits do not fit one message`,
      );
    const { known, left } = await this.#outcomes(share, ids, unknownAsMissing, caller);
    return { protocolVersion, known, splitCount: share.splits.length, left, idsMax: policy.max_scoring_ids };
  }

  #checkRequest({ length }: readonly string[]): void {
    const { name, policy } = this.#config;
    if (!policy.scoring) throw new TandemError("POLICY", `the policy of ${name} does not allow scoring`);
    if (length <= policy.max_scoring_ids) return;
    const what = `ids: ${length} asked about, at most ${policy.max_scoring_ids} allowed`;
    throw new TandemError("POLICY", `the policy of ${name} does not allow this request: ${what}`);
  }

  async #share(model: string, caller: Caller): Promise<PassiveShare> {
    const { name } = this.#config;
    const share = await this.#shares.find(model, caller.name);
    // The same words whether there is no such model or it is another's: nobody can look for models.
    if (share === null)
      throw new TandemError("MODEL_UNKNOWN", `${name} has no share of this model that it made with this active party`);
    return share;
  }

  #readied(share: PassiveShare): Promise<PreparedShare> {
    return withOwnFiles(
      this.#config.name,
      (event) => this.#meter.say(event),
      () => this.#prepare(share),
    );
  }

  async #outcomes(
    share: PassiveShare,
    ids: readonly string[],
    unknownAsMissing: boolean,
    caller: Caller,
  ): Promise<SplitOutcomes> {
    await this.#budgets.score(caller.name, ids.length);
    const { rows, splits } = await this.#readied(share);
    const outcomes = await splitOutcomes(
      splits,
      Int32Array.from(ids, (id) => rows.rowOf(id)),
      unknownAsMissing,
    );
    if (ids.length > 0)
      this.#meter.answered({
        peer: caller.name,
        job: share.job,
        model: share.model,
        idCount: ids.length,
        unknownCount: ids.length - countSet(outcomes.known, ids.length),
      });
    return outcomes;
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
