/**
 * The active party's side of scoring: its share of one model and a connection to each passive party that has splits in
 * it. Parties that are lost are asked again until the time is up, so one that restarts is found again. A model that was
 * trained with masked_scoring is scored by masked sums, any other by the outcomes of splits.
 */
import { TandemError } from "../base/error.ts";
import type { CategoryNames } from "../gbdt/split/split-test.ts";
import { withWeightsInLeaves } from "../gbdt/tree/weighted-trees.ts";
import type { ActiveConfig } from "../party/config/config.ts";
import { currentPartners } from "../party/config/current-partners.ts";
import { readIdentity } from "../party/identity.ts";
import type { ActiveShare } from "../store/share-files.ts";
import { connectScoring } from "../transport/tls-connect.ts";
import type { ScoringPeer } from "../wire/scoring-peer.ts";
import { MaskedScoring } from "./masked-scoring.ts";
import { Outputs } from "./outputs.ts";
import { PlainScoring } from "./plain-scoring.ts";
import { RevealedNotes } from "./revealed-notes.ts";
import { ScoringModel } from "./scoring-model.ts";
import type {
  OnQuestion,
  PartyReadiness,
  Scores,
  ScoringOptions,
  ScoringProtocol,
  ScoringRows,
} from "./scoring-question.ts";
import { checkMasked, predictionWanted, type Wanted } from "./wanted.ts";

interface ScorerOptions {
  readonly onQuestion?: OnQuestion;
  /** Null or left out: nothing is noted. */
  readonly revealed?: RevealedNotes | null;
  readonly close?: () => void;
}

export class Scorer {
  readonly share: ActiveShare;
  /** Those that are asked, in the order of the model. */
  readonly partyNames: readonly string[];
  readonly #model: ScoringModel;
  readonly #protocol: ScoringProtocol;
  readonly #closing = new AbortController();
  readonly #revealed: RevealedNotes | null;
  readonly #close: () => void;

  /** @param peers in the order of share.passiveNames */
  constructor(
    share: ActiveShare,
    peers: readonly ScoringPeer[],
    { onQuestion = () => {}, revealed = null, close = () => {} }: ScorerOptions = {},
  ) {
    this.share = share = withWeightsInLeaves(share);
    const model = new ScoringModel(share);
    this.#model = model;
    // A party without a split in the model has no part in a score, and is not sent the ids.
    const asked = peers.filter((_, place) => model.splitCount(place) > 0);
    this.partyNames = asked.map(({ name }) => name);
    const Protocol = share.maskedScoring === true ? MaskedScoring : PlainScoring;
    this.#protocol = new Protocol(share, model, asked, this.#closing.signal, onQuestion);
    this.#revealed = revealed;
    this.#close = close;
  }

  /** @throws TandemError USAGE if the config does not name a party of the model */
  static async connect(
    config: Pick<ActiveConfig, "passives" | "tls" | "output" | "file">,
    share: ActiveShare,
    onQuestion: OnQuestion = () => {},
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
    await readIdentity(config.tls); // what is wrong with it is an error at once
    const peers = addresses.map((passive) =>
      connectScoring(
        passive.name,
        async () => {
          const [identity, [{ fingerprint }]] = await Promise.all([
            readIdentity(config.tls),
            currentPartners(config, [passive]),
          ]);
          return { identity, pins: fingerprint };
        },
        passive.channel,
      ),
    );
    const revealed = new RevealedNotes(config, share);
    return new Scorer(share, peers, {
      onQuestion: (question) => {
        // An id was revealed to the party, whether it answered or not.
        const { party: passive, idCount: ids } = question;
        if (ids > 0) revealed.add({ how: "scoring", passive, ids });
        onQuestion(question);
      },
      revealed,
      close: () => {
        revealed.write();
        peers.forEach((peer) => peer.close());
      },
    });
  }

  /** The active party's own columns that the model needs. */
  get features(): readonly string[] {
    return this.#model.features;
  }

  /** Those of `features` that trees split on. */
  get ownFeatures(): readonly string[] {
    return this.#model.ownFeatures;
  }

  /** The column of base margins, where the model takes them: a row without one cannot be scored. */
  get requiredColumn(): ScoringModel["requiredColumn"] {
    return this.#model.requiredColumn;
  }

  /** Per feature the categories that trees split on; null for numbers. */
  get categoryNames(): readonly CategoryNames[] {
    return this.#model.categoryNames;
  }

  /** Asks each party, once and without ids, whether it can score. */
  ready(timeoutMs: number): Promise<PartyReadiness[]> {
    return this.#protocol.ready(timeoutMs);
  }

  /**
   * One question to each party, or several if the rows do not fit one message or are more than a party answers at once.
   * @throws TandemError of the party that cannot answer
   */
  async score(rows: ScoringRows, options: ScoringOptions): Promise<Scores> {
    const outputs = this.outputs(options.wanted);
    const { values: predictions, unknown: unknownTo } = await this.#protocol.score(rows, outputs, options);
    const unknown = new Map<number, string[]>();
    unknownTo.forEach((ofParty, party) => {
      for (const row of ofParty) unknown.set(row, [...(unknown.get(row) ?? []), this.partyNames[party]]);
    });
    this.#noteExplanation(outputs, options, rows.ids.length);
    const { perRow } = outputs;
    if (!options.unknownAsMissing)
      for (const row of unknown.keys()) predictions.fill(Number.NaN, row * perRow, (row + 1) * perRow);
    return { predictions, unknown: new Map([...unknown].toSorted(([a], [b]) => a - b)) };
  }

  /** Names and computes a row's values. @throws TandemError USAGE for outputs that this model cannot give */
  outputs(wanted: Wanted = predictionWanted): Outputs {
    if (this.share.maskedScoring === true) checkMasked(wanted);
    return new Outputs(this.share, this.#model, wanted);
  }

  #noteExplanation(outputs: Outputs, { sendsContributions }: ScoringOptions, ids: number): void {
    if (!outputs.needsTags) return;
    const { passiveNames } = this.share;
    for (const passive of this.partyNames)
      this.#revealed?.add({ how: "tags", passive, splits: this.#model.splitCount(passiveNames.indexOf(passive)) });
    if (sendsContributions === true && outputs.maySendContributions)
      for (const passive of this.#protocol.takers ?? []) this.#revealed?.add({ how: "contributions", passive, ids });
  }

  /** Questions under way fail. */
  close(): void {
    this.#closing.abort();
    this.#close();
  }
}
