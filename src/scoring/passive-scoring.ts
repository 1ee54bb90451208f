/**
 * The passive party's service of scoring: who may ask, with which model, about how many ids. It is independent of the
 * job that may be under way, and keeps nothing of a request but counts and the sessions of masked scoring.
 */
import type { MessageInitShape } from "@bufbuild/protobuf";
import { TandemError } from "../base/error.ts";
import type { PassiveConfig } from "../party/config/config.ts";
import type { PartnerBudgets } from "../party/partner-budget.ts";
import type { DataCache } from "../party/tables/data-cache.ts";
import { isWeaker } from "../privacy/defences/defences.ts";
import { unknownRow } from "../protocol/passive/split-outcomes.ts";
import type { Emit } from "../record/events.ts";
import { MaskedAnswerer, MaskedSessions } from "../scheme/masked/masked-answerer.ts";
import type { PassiveShare } from "../store/share-files.ts";
import type { Caller } from "../transport/caller.ts";
import type { ScoringHandler } from "../transport/scoring-service.ts";
import type {
  ActiveMaskOpen,
  ActiveMaskStep,
  PassiveMaskOpenedSchema,
  PassiveMaskStepSchema,
} from "../wire/generated/tandem/v1/masked_pb.ts";
import type {
  ActiveContributions,
  ActiveScoring,
  ActiveTags,
  PassiveContributionsSchema,
  PassiveOutcomesSchema,
  PassiveTagsSchema,
} from "../wire/generated/tandem/v1/scoring_pb.ts";
import { messageBytesMax, protocolVersion, requireActiveVersion } from "../wire/version.ts";
import { Explanations } from "./explanations.ts";
import { type MaskedShare, ScoredShares } from "./scored-shares.ts";
import { ScoringMeter } from "./scoring-meter.ts";

/** The message's other fields have the rest. */
const outcomeBytesMax = messageBytesMax - (64 << 10);

export class PassiveScoring implements ScoringHandler {
  readonly #config: PassiveConfig;
  readonly #meter: ScoringMeter;
  readonly #shares: ScoredShares;
  readonly #sessions = new MaskedSessions<MaskedShare>();
  readonly #explanations: Explanations;

  constructor(config: PassiveConfig, data: DataCache, emit: Emit, budgets: PartnerBudgets) {
    this.#config = config;
    this.#meter = new ScoringMeter(config.name, emit);
    this.#explanations = new Explanations(config, (event) => this.#meter.log(event));
    this.#shares = new ScoredShares(config, data, this.#meter, budgets);
  }

  score(request: ActiveScoring, caller: Caller): Promise<MessageInitShape<typeof PassiveOutcomesSchema>> {
    return this.#logged(request.model, caller, () => this.#score(request, caller));
  }

  maskOpen(request: ActiveMaskOpen, caller: Caller): Promise<MessageInitShape<typeof PassiveMaskOpenedSchema>> {
    return this.#logged(request.model, caller, async () => {
      const share = await this.#admit(request, [], caller);
      this.#checkScoreNoise(share);
      const session = new MaskedAnswerer(request, this.#shares.masked(share, caller.name));
      this.#sessions.add(caller.name, session);
      return session.opened;
    });
  }

  async maskStep(request: ActiveMaskStep, caller: Caller): Promise<MessageInitShape<typeof PassiveMaskStepSchema>> {
    const session = this.#sessions.find(caller.name, request);
    if (session === null) return { expired: true };
    return this.#logged(session.model.model, caller, () => session.step(request));
  }

  tags(request: ActiveTags, caller: Caller): Promise<MessageInitShape<typeof PassiveTagsSchema>> {
    return this.#logged(request.model, caller, async () => {
      const share = await this.#admit(request, [], caller, () => this.#explanations.checkAllowed());
      const { job, model, splits } = share;
      const tags = this.#explanations.tags(share);
      this.#meter.log({
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
    return this.#logged(request.model, caller, async () => {
      const share = await this.#admit(request, request.ids, caller, () => this.#explanations.checkTaken());
      const { rows } = await this.#shares.prepare(share, request.ids, caller.name);
      await this.#explanations.take(request, share, (id) => rows.rowOf(id) !== unknownRow);
      return { protocolVersion };
    });
  }

  /** Logs what was answered since the last summary, and closes the source of features. */
  async close(): Promise<void> {
    this.#meter.close();
    await this.#shares.close();
  }

  /** Logs a refusal for the owner. */
  async #logged<T>(model: string, caller: Caller, answer: () => Promise<T>): Promise<T> {
    try {
      return await answer();
    } catch (error) {
      this.#meter.refused(caller.name, this.#shares.errorForOwner(error, model));
      throw error;
    }
  }

  async #score(request: ActiveScoring, caller: Caller): Promise<MessageInitShape<typeof PassiveOutcomesSchema>> {
    const { name, policy } = this.#config;
    const { ids, unknownAsMissing } = request;
    const share = await this.#admit(request, ids, caller);
    if (share.maskedScoring === true || policy.privacy.masked_scoring)
      throw new TandemError("POLICY", `${name} scores with this model by masked scoring only: no outcome is sent`);
    if ((share.splits.length * ids.length) / 8 > outcomeBytesMax)
      throw new TandemError(
        "PROTOCOL_STATE",
        `${name}: ${ids.length} ids times ${share.splits.length} splits do not fit one message`,
      );
    const { known, left } = await this.#shares.outcomes(share, ids, unknownAsMissing, caller.name);
    return { protocolVersion, known, splitCount: share.splits.length, left, idsMax: policy.max_scoring_ids };
  }

  #checkScoreNoise({ scoreNoise = 0 }: PassiveShare): void {
    const { name, policy } = this.#config;
    const demanded = policy.privacy.score_noise;
    if (isWeaker("score_noise", scoreNoise, demanded))
      throw new TandemError(
        "POLICY",
        `the policy of ${name} requires score_noise ${demanded}, and this model has ${scoreNoise}: train it with that`,
      );
  }

  /** Models are looked up last: a caller that may not ask learns nothing of them. */
  async #admit(
    request: { readonly protocolVersion: number; readonly model: string },
    ids: readonly string[],
    caller: Caller,
    check: () => void = () => {},
  ): Promise<PassiveShare> {
    requireActiveVersion(request.protocolVersion, this.#config.name);
    this.#shares.checkPolicy(ids.length);
    check();
    return this.#shares.find(request.model, caller.name);
  }
}
