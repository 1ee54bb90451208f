/**
 * The active party's side of scoring: its share of one model and a connection to each passive party that has splits in
 * it. One question to each of them per batch. What was lost is asked again until its time is up; a party that restarts
 * is found again. Of a model that was trained so, questions are masked: the answer is a score, and no outcome.
 */
import { TandemError } from "../base/error.ts";
import type { CategoryNames } from "../gbdt/split/split-test.ts";
import { withWeightsInLeaves } from "../gbdt/tree/weighted-trees.ts";
import { isSet } from "../wire/bitmap.ts";
import type { PassiveOutcomes } from "../wire/generated/tandem/v1/scoring_pb.ts";
import { fewAtOnce } from "../base/scheduling/few-at-once.ts";
import { type MaskedPeer, MaskedScorer } from "../scheme/masked/masked-scorer.ts";
import { Products } from "../scheme/masked/products.ts";
import { MaskedPartners } from "./masked-partners.ts";
import { Explainer } from "./explainer.ts";
import { checkTags, type FeatureTags } from "./feature-tags.ts";
import { Outputs } from "./outputs.ts";
import { requirePassiveVersion } from "../wire/version.ts";
import { type BatchOutcomes, ScoringModel } from "./scoring-model.ts";
import { ContributionTeller } from "./tell-contributions.ts";
import { checkMasked, predictionWanted, type Wanted } from "./wanted.ts";
import type { ScoringPeer } from "../wire/scoring-peer.ts";
import type { ActiveShare } from "../store/share-files.ts";
import { connectScoring } from "../transport/tls-connect.ts";
import type { ActiveConfig } from "../party/config/config.ts";
import { readIdentity } from "../party/identity.ts";

const retryMsMin = 20;
const retryMsMax = 500;
const attemptMsMin = 200;

/** People to score, with their values of the active party's own features. */
export interface ScoringRows {
  readonly ids: readonly string[];
  /**
   * In the order of Scorer.features; of categorical ones codes into Scorer.categoryNames, and whatever is not in there
   * beyond its end.
   */
  readonly columns: readonly Float32Array[];
}

export interface Scores {
  /**
   * Per row, in its order, what was asked for, its values side by side. NaN where a party does not hold the id, unless
   * those count as missing.
   */
  readonly predictions: Float64Array;
  /** Rows whose id is unknown to somebody, and to whom. */
  readonly unknown: ReadonlyMap<number, readonly string[]>;
}

export interface ScoringOptions {
  /** Score people whom a party does not know as if all their values there were missing, instead of not at all. */
  readonly unknownAsMissing: boolean;
  readonly timeoutMs: number;
  /** Predictions, unless something else is asked for. */
  readonly wanted?: Wanted;
  /** Tell parties that want it what their own features add, where all rounds are explained. */
  readonly tellsContributions?: boolean;
}

/** What whoever watches wants to know of each question to a party. */
export type OnQuestion = (question: {
  readonly party: string;
  readonly idCount: number;
  readonly ms: number;
  readonly error: TandemError | null;
}) => void;

export interface PartyReadiness {
  readonly party: string;
  /** Null if it can score with this model. */
  readonly trouble: TandemError | null;
}

/** A passive party of the model, and what it has said of itself. */
interface Partner {
  readonly peer: ScoringPeer;
  readonly place: number;
  idsMax: number | null;
  /** Asked for when somebody wants an explanation. */
  tags: FeatureTags | null;
  takesContributions: boolean;
}

/** Of a batch: what was asked for, and bitmaps of who is known, per partner. */
interface Answered {
  readonly values: Float64Array;
  readonly known: readonly Uint8Array[];
}

export class Scorer {
  readonly share: ActiveShare;
  readonly #model: ScoringModel;
  readonly #partners: readonly Partner[];
  readonly #onQuestion: OnQuestion;
  readonly #close: () => void;
  #isClosed = false;
  /** Null: outcomes are asked for. */
  readonly #masked: MaskedScorer | null;

  /** @param peers in the order of share.passiveNames */
  constructor(
    share: ActiveShare,
    peers: readonly ScoringPeer[],
    options: { readonly onQuestion?: OnQuestion; readonly close?: () => void } = {},
  ) {
    this.share = share = withWeightsInLeaves(share);
    this.#model = new ScoringModel(share);
    // Who has no split in the model knows nothing about anybody's score, and need not hear who is scored.
    this.#partners = peers
      .map((peer, place) => ({ peer, place, idsMax: null, tags: null, takesContributions: false }))
      .filter(({ place }) => this.#model.splitCount(place) > 0);
    this.#masked =
      share.maskedScoring === true
        ? new MaskedScorer(new Products(share), share.baseMargin, { model: share.model })
        : null;
    this.#onQuestion = options.onQuestion ?? (() => {});
    this.#close = options.close ?? (() => {});
  }

  /** @throws TandemError USAGE if the config does not name a party of the model */
  static async connect(
    config: Pick<ActiveConfig, "passives" | "tls">,
    share: ActiveShare,
    onQuestion?: OnQuestion,
  ): Promise<Scorer> {
    const addresses = share.passiveNames.map((name) => {
      const passive = config.passives.find((candidate) => candidate.name === name);
      if (passive === undefined)
        throw new TandemError(
          "USAGE",
          `the model of job ${share.job} was trained with ${name}, which is not among the 'passives' of the config`,
        );
      return passive;
    });
    const identity = await readIdentity(config.tls);
    const peers = addresses.map((passive) => connectScoring(passive.name, identity, passive.fingerprint, passive));
    return new Scorer(share, peers, {
      ...(onQuestion === undefined ? {} : { onQuestion }),
      close: () => peers.forEach((peer) => peer.close()),
    });
  }

  /** The active party's own columns that the model asks about. */
  get features(): readonly string[] {
    return this.#model.features;
  }

  /** Those of `features` that trees ask about. */
  get ownFeatures(): readonly string[] {
    return this.#model.ownFeatures;
  }

  /** The column of base margins, where the model takes them: a person without one cannot be scored. */
  get requiredColumn(): ScoringModel["requiredColumn"] {
    return this.#model.requiredColumn;
  }

  /** Of each of these features the categories that the model asks about; null of numbers. */
  get categoryNames(): readonly CategoryNames[] {
    return this.#model.categoryNames;
  }

  /** How SHAP values are called, of one class. */
  get contributionNames(): readonly string[] {
    return new Explainer(this.share, this.#model).columns;
  }

  get partyNames(): readonly string[] {
    return this.#partners.map(({ peer }) => peer.name);
  }

  /** Asks each party, once and without ids, whether it can score. */
  async ready(timeoutMs: number): Promise<PartyReadiness[]> {
    if (this.#masked !== null) return this.#maskedReady(this.#masked, timeoutMs);
    return Promise.all(
      this.#partners.map(async (partner) => {
        try {
          await this.#once(partner, [], { unknownAsMissing: false, timeoutMs });
          return { party: partner.peer.name, trouble: null };
        } catch (error) {
          if (!(error instanceof TandemError)) throw error;
          return { party: partner.peer.name, trouble: error };
        }
      }),
    );
  }

  /**
   * One question to each party, or several if the rows do not fit one message or are more than a party answers at once.
   * @throws TandemError of the party that cannot answer
   */
  async score({ ids, columns }: ScoringRows, options: ScoringOptions): Promise<Scores> {
    const deadline = performance.now() + options.timeoutMs;
    const left = (): ScoringOptions => ({ ...options, timeoutMs: deadline - performance.now() });
    const outputs = this.outputs(options.wanted);
    await this.#askLimits(left);
    if (outputs.needsTags) await this.#askTags(left);
    const { perRow } = outputs;
    const predictions = new Float64Array(ids.length * perRow);
    const unknown = new Map<number, string[]>();
    await fewAtOnce(this.#batches(ids), this.#masked === null ? 1 : 2, async ([first, end]) => {
      const batch = ids.slice(first, end);
      const values = columns.map((column) => column.subarray(first, end));
      const answered = await (this.#masked === null
        ? this.#plain(batch, values, outputs, left())
        : this.#maskedSums(this.#masked, batch, values, outputs, left()));
      predictions.set(answered.values, first * perRow);
      this.#noteUnknown(answered.known, first, batch.length, unknown);
    });
    if (!options.unknownAsMissing)
      for (const row of unknown.keys()) predictions.fill(Number.NaN, row * perRow, (row + 1) * perRow);
    return { predictions, unknown: new Map([...unknown].toSorted(([a], [b]) => a - b)) };
  }

  /** How a row's values are called, and made. @throws TandemError USAGE for what this model cannot give */
  outputs(wanted: Wanted = predictionWanted): Outputs {
    if (this.#masked !== null) checkMasked(wanted);
    return new Outputs(this.share, this.#model, wanted);
  }

  *#batches(ids: readonly string[]): Generator<[first: number, end: number]> {
    for (let first = 0, end = 0; first < ids.length; first = end) {
      const idsMax = Math.min(...this.#partners.map((partner) => partner.idsMax ?? Number.POSITIVE_INFINITY));
      end = this.#model.batchEnd(ids, first, Math.min(idsMax, Math.max(1, this.#masked?.rowsMax ?? idsMax)));
      yield [first, end];
    }
  }

  /** What a party answers at once is known from its first answer. */
  async #askLimits(left: () => ScoringOptions): Promise<void> {
    if (this.#masked !== null) {
      const masked = this.#masked;
      if (masked.isOpen || this.#partners.length === 0) return;
      await this.#untilAnswered(left().timeoutMs, (timeoutMs) =>
        this.#maskedQuestion(0, timeoutMs, (p) => masked.ready(p)),
      );
      return;
    }
    await Promise.all(
      this.#partners.filter(({ idsMax }) => idsMax === null).map((partner) => this.#ask(partner, [], left())),
    );
  }

  /** Once per process: a party says the same again whenever it is asked. */
  async #askTags(left: () => ScoringOptions): Promise<void> {
    await Promise.all(
      this.#partners
        .filter(({ tags }) => tags === null)
        .map(async (partner) => {
          const { name } = partner.peer;
          const answer = await this.#untilAnswered(left().timeoutMs, (timeoutMs) =>
            partner.peer.tags(this.share.model, { timeoutMs }),
          );
          requirePassiveVersion(answer.protocolVersion, name);
          checkTags(name, answer.tags, this.#model.splitTrees(partner.place));
          partner.tags = answer.tags;
          partner.takesContributions = answer.takesContributions;
        }),
    );
  }

  /** Of somebody whom another party does not hold nothing is told, unless that counts as missing there. */
  async #tell(
    ids: readonly string[],
    batch: BatchOutcomes,
    known: readonly Uint8Array[],
    { unknownAsMissing, timeoutMs }: ScoringOptions,
  ): Promise<void> {
    const deadline = performance.now() + timeoutMs;
    const teller = new ContributionTeller(this.share, this.#model);
    const tags = this.share.passiveNames.map((_, place) => this.#tagsOf(place));
    for (const [i, { peer, place, takesContributions }] of this.#partners.entries()) {
      if (!takesContributions) continue;
      const holders = unknownAsMissing ? [known[i]] : known;
      const rows = ids.flatMap((_, row) => (holders.every((bitmap) => isSet(bitmap, row)) ? [row] : []));
      await teller.tell(peer, place, tags, { ids, batch, rows }, () => deadline - performance.now());
    }
  }

  #tagsOf(place: number): FeatureTags | null {
    return this.#partners.find((partner) => partner.place === place)?.tags ?? null;
  }

  async #plain(
    ids: readonly string[],
    columns: readonly Float32Array[],
    outputs: Outputs,
    options: ScoringOptions,
  ): Promise<Answered> {
    const outcomes: (PassiveOutcomes | null)[] = this.share.passiveNames.map(() => null);
    await Promise.all(
      this.#partners.map(async (partner) => {
        outcomes[partner.place] = await this.#ask(partner, ids, options);
      }),
    );
    const tags = this.share.passiveNames.map((_, place) => this.#tagsOf(place));
    const answered = { idCount: ids.length, columns, outcomes };
    const values = await outputs.of(answered, tags);
    const known = this.#partners.map(({ place }) => outcomes[place]?.known ?? new Uint8Array(0));
    if (options.tellsContributions === true && outputs.mayBeTold) await this.#tell(ids, answered, known, options);
    return { values, known };
  }

  async #maskedSums(
    masked: MaskedScorer,
    ids: readonly string[],
    columns: readonly Float32Array[],
    outputs: Outputs,
    { unknownAsMissing, timeoutMs }: ScoringOptions,
  ): Promise<Answered> {
    const rows = {
      rowCount: ids.length,
      hasIds: true,
      message: { ids: [...ids], unknownAsMissing },
      ownGoesLeft: this.#model.ownOutcomes(columns),
      baseMargins: this.#model.baseMargins(columns),
    };
    const { margins, known } = await this.#untilAnswered(timeoutMs, (attemptMs) =>
      this.#maskedQuestion(ids.length, attemptMs, (peers) => masked.sums(peers, rows)),
    );
    return { values: outputs.ofMargins(margins), known };
  }

  #maskedQuestion<T>(
    idCount: number,
    timeoutMs: number,
    question: (peers: readonly MaskedPeer[]) => Promise<T>,
  ): Promise<T> {
    const partners = this.#maskedPartners(idCount, timeoutMs);
    return partners.ask(() => question(partners.peers));
  }

  #maskedPartners(idCount: number, timeoutMs: number): MaskedPartners {
    return new MaskedPartners(
      this.#partners.map(({ peer }) => peer),
      timeoutMs,
      idCount,
      this.#onQuestion,
    );
  }

  async #maskedReady(masked: MaskedScorer, timeoutMs: number): Promise<PartyReadiness[]> {
    const partners = this.#maskedPartners(0, timeoutMs);
    try {
      if (partners.peers.length > 0) await partners.ask(() => masked.ready(partners.peers));
    } catch (error) {
      if (!(error instanceof TandemError)) throw error;
    }
    return this.partyNames.map((party) => ({ party, trouble: partners.failures.get(party) ?? null }));
  }

  /** Questions under way fail. */
  close(): void {
    this.#isClosed = true;
    this.#close();
  }

  /** @param known of each partner */
  #noteUnknown(known: readonly Uint8Array[], first: number, count: number, unknown: Map<number, string[]>): void {
    known.forEach((bitmap, i) => {
      for (let row = 0; row < count; row++) {
        if (isSet(bitmap, row)) continue;
        const names = unknown.get(first + row) ?? [];
        names.push(this.share.passiveNames[this.#partners[i].place]);
        unknown.set(first + row, names);
      }
    });
  }

  #ask(partner: Partner, ids: readonly string[], options: ScoringOptions): Promise<PassiveOutcomes> {
    return this.#untilAnswered(options.timeoutMs, (timeoutMs) => this.#once(partner, ids, { ...options, timeoutMs }));
  }

  /**
   * Asks until there is an answer, an error that asking again would not mend, or no time left. Each attempt may take
   * half of what is left: a connection that swallows everything must leave time for a new one.
   */
  async #untilAnswered<T>(givenMs: number, attempt: (timeoutMs: number) => Promise<T>): Promise<T> {
    const deadline = performance.now() + givenMs;
    for (let pauseMs = retryMsMin; ; pauseMs = Math.min(2 * pauseMs, retryMsMax)) {
      const leftMs = deadline - performance.now();
      try {
        return await attempt(Math.max(leftMs / 2, Math.min(leftMs, attemptMsMin)));
      } catch (error) {
        const mayHelp = error instanceof TandemError && error.code === "PARTY_LOST";
        if (!mayHelp || this.#isClosed || performance.now() + pauseMs >= deadline) throw error;
      }
      await new Promise((resolve) => setTimeout(resolve, pauseMs));
    }
  }

  async #once(
    partner: Partner,
    ids: readonly string[],
    { unknownAsMissing, timeoutMs }: ScoringOptions,
  ): Promise<PassiveOutcomes> {
    const started = performance.now();
    const tell = (error: TandemError | null): void =>
      this.#onQuestion({ party: partner.peer.name, idCount: ids.length, ms: performance.now() - started, error });
    try {
      const outcomes = await partner.peer.score({ model: this.share.model, ids, unknownAsMissing }, { timeoutMs });
      this.#model.checkOutcomes(partner.place, outcomes, ids.length);
      partner.idsMax = outcomes.idsMax;
      tell(null);
      return outcomes;
    } catch (error) {
      tell(error instanceof TandemError ? error : new TandemError("INTERNAL", "an internal error", { cause: error }));
      throw error;
    }
  }
}
