/** Scoring by outcomes: each passive party answers, per batch, which way each of its splits sends each id. */
import { TandemError } from "../base/error.ts";
import type { ActiveShare } from "../store/share-files.ts";
import { isSet } from "../wire/bitmap.ts";
import type { PassiveOutcomes } from "../wire/generated/tandem/v1/scoring_pb.ts";
import type { ScoringPeer } from "../wire/scoring-peer.ts";
import { requirePassiveVersion } from "../wire/version.ts";
import { checkTags, type FeatureTags } from "./feature-tags.ts";
import type { Outputs } from "./outputs.ts";
import { retryLost } from "./retry-lost.ts";
import type { BatchOutcomes, ScoringModel } from "./scoring-model.ts";
import type {
  OnQuestion,
  PartyReadiness,
  RowValues,
  ScoringOptions,
  ScoringProtocol,
  ScoringRows,
} from "./scoring-question.ts";
import { ContributionSender } from "./send-contributions.ts";

/** A passive party of the model, and what it has said of itself. */
interface Partner {
  readonly peer: ScoringPeer;
  /** Its index in passiveNames. */
  readonly place: number;
  /** The most ids that it answers for at once; null before its first answer. */
  idsMax: number | null;
  /** Null until an explanation needs them. */
  tags: FeatureTags | null;
  takesContributions: boolean;
}

export class PlainScoring implements ScoringProtocol {
  readonly #share: ActiveShare;
  readonly #model: ScoringModel;
  readonly #partners: readonly Partner[];
  readonly #closing: AbortSignal;
  readonly #onQuestion: OnQuestion;

  /** @param peers those with splits in the model, in its order */
  constructor(
    share: ActiveShare,
    model: ScoringModel,
    peers: readonly ScoringPeer[],
    closing: AbortSignal,
    onQuestion: OnQuestion,
  ) {
    this.#share = share;
    this.#model = model;
    this.#partners = peers.map((peer) => ({
      peer,
      place: share.passiveNames.indexOf(peer.name),
      idsMax: null,
      tags: null,
      takesContributions: false,
    }));
    this.#closing = closing;
    this.#onQuestion = onQuestion;
  }

  get takers(): readonly string[] {
    return this.#partners.flatMap(({ peer, takesContributions }) => (takesContributions ? [peer.name] : []));
  }

  ready(timeoutMs: number): Promise<PartyReadiness[]> {
    return Promise.all(
      this.#partners.map(async (partner) => {
        try {
          await this.#askOnce(partner, [], { unknownAsMissing: false, timeoutMs });
          return { party: partner.peer.name, trouble: null };
        } catch (error) {
          if (!(error instanceof TandemError)) throw error;
          return { party: partner.peer.name, trouble: error };
        }
      }),
    );
  }

  async score({ ids, columns }: ScoringRows, outputs: Outputs, options: ScoringOptions): Promise<RowValues> {
    const deadline = performance.now() + options.timeoutMs;
    const left = (): ScoringOptions => ({ ...options, timeoutMs: deadline - performance.now() });
    // The first answer of a party says how many ids it answers for at once.
    await Promise.all(
      this.#partners.filter(({ idsMax }) => idsMax === null).map((partner) => this.#ask(partner, [], left())),
    );
    if (outputs.needsTags) await this.#askTags(left);
    const values = new Float64Array(ids.length * outputs.perRow);
    const unknown = this.#partners.map((): number[] => []);
    for (let first = 0, end = 0; first < ids.length; first = end) {
      end = this.#model.batchEnd(ids, first, Math.min(...this.#partners.map(({ idsMax }) => idsMax ?? Infinity)));
      const some = ids.slice(first, end);
      const batch = await this.#outcomes(
        some,
        columns.map((column) => column.subarray(first, end)),
        left(),
      );
      values.set(await outputs.fromOutcomes(batch, this.#tags), first * outputs.perRow);
      this.#partners.forEach(({ place }, i) => {
        for (let row = first; row < end; row++) if (!isKnown(batch, place, row - first)) unknown[i].push(row);
      });
      if (options.sendsContributions === true && outputs.maySendContributions)
        await this.#sendContributions(some, batch, left());
    }
    return { values, unknown };
  }

  async #outcomes(
    ids: readonly string[],
    columns: readonly Float32Array[],
    options: ScoringOptions,
  ): Promise<BatchOutcomes> {
    const outcomes: (PassiveOutcomes | null)[] = this.#share.passiveNames.map(() => null);
    await Promise.all(
      this.#partners.map(async (partner) => {
        outcomes[partner.place] = await this.#ask(partner, ids, options);
      }),
    );
    return { idCount: ids.length, columns, outcomes };
  }

  /** Once per process: a party answers the same again. */
  async #askTags(left: () => ScoringOptions): Promise<void> {
    await Promise.all(
      this.#partners
        .filter(({ tags }) => tags === null)
        .map(async (partner) => {
          const { name } = partner.peer;
          const answer = await retryLost(left().timeoutMs, this.#closing, (timeoutMs) =>
            partner.peer.tags(this.#share.model, { timeoutMs }),
          );
          requirePassiveVersion(answer.protocolVersion, name);
          checkTags(name, answer.tags, this.#model.splitTrees(partner.place));
          partner.tags = answer.tags;
          partner.takesContributions = answer.takesContributions;
        }),
    );
  }

  /** Per passive party of the model; null where none were asked for. */
  get #tags(): readonly (FeatureTags | null)[] {
    return this.#share.passiveNames.map((_, i) => this.#partners.find(({ place }) => place === i)?.tags ?? null);
  }

  /** Of an id that another party does not hold nothing is sent, unless it counts as missing there. */
  async #sendContributions(
    ids: readonly string[],
    batch: BatchOutcomes,
    { unknownAsMissing, timeoutMs }: ScoringOptions,
  ): Promise<void> {
    const deadline = performance.now() + timeoutMs;
    const sender = new ContributionSender(this.#share, this.#model);
    for (const { peer, place, takesContributions } of this.#partners) {
      if (!takesContributions) continue;
      const holders = unknownAsMissing ? [place] : this.#partners.map((partner) => partner.place);
      const rows = [...ids.keys()].filter((row) => holders.every((holder) => isKnown(batch, holder, row)));
      await sender.send(peer, place, this.#tags, { ids, batch, rows }, () => deadline - performance.now());
    }
  }

  #ask(partner: Partner, ids: readonly string[], options: ScoringOptions): Promise<PassiveOutcomes> {
    return retryLost(options.timeoutMs, this.#closing, (timeoutMs) =>
      this.#askOnce(partner, ids, { ...options, timeoutMs }),
    );
  }

  async #askOnce(
    partner: Partner,
    ids: readonly string[],
    { unknownAsMissing, timeoutMs }: ScoringOptions,
  ): Promise<PassiveOutcomes> {
    const started = performance.now();
    const report = (error: TandemError | null): void =>
      this.#onQuestion({ party: partner.peer.name, idCount: ids.length, ms: performance.now() - started, error });
    try {
      const outcomes = await partner.peer.score({ model: this.#share.model, ids, unknownAsMissing }, { timeoutMs });
      this.#model.checkOutcomes(partner.place, outcomes, ids.length);
      partner.idsMax = outcomes.idsMax;
      report(null);
      return outcomes;
    } catch (error) {
      report(error instanceof TandemError ? error : new TandemError("INTERNAL", "an internal error", { cause: error }));
      throw error;
    }
  }
}

function isKnown({ outcomes }: BatchOutcomes, place: number, row: number): boolean {
  const known = outcomes[place]?.known;
  return known !== undefined && isSet(known, row);
}
