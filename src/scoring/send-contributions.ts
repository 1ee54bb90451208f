/** The active half of contributions: sends each passive party those of its own features. */
import { treesPerRound } from "../gbdt/tree/iterations.ts";
import type { ActiveShare } from "../store/share-files.ts";
import type { ScoringPeer } from "../wire/scoring-peer.ts";
import { messageBytesMax, requirePassiveVersion } from "../wire/version.ts";
import { Explainer } from "./explainer.ts";
import type { FeatureTags } from "./feature-tags.ts";
import type { BatchOutcomes, ScoringModel } from "./scoring-model.ts";
import { contributionBytes, contributionPlaces } from "./received-contributions.ts";

/** Half a message; the other half is for ids. */
const valuesBytesMax = messageBytesMax / 2;
const valueBytes = 8;

export interface ExplainedBatch {
  readonly ids: readonly string[];
  readonly batch: BatchOutcomes;
  /** The rows of the batch that are sent. */
  readonly rows: readonly number[];
}

export class ContributionSender {
  readonly #share: ActiveShare;
  readonly #model: ScoringModel;

  constructor(share: ActiveShare, model: ScoringModel) {
    this.#share = share;
    this.#model = model;
  }

  /**
   * @param party its place in passiveNames
   * @param tags of all passive parties
   */
  async send(
    peer: ScoringPeer,
    party: number,
    tags: readonly (FeatureTags | null)[],
    { ids, batch, rows }: ExplainedBatch,
    timeoutMs: () => number,
  ): Promise<void> {
    const { job, model, outputCount = 1 } = this.#share;
    const shape = { outputCount, treesPerRound: treesPerRound({ ...this.#share, parallelTrees: 1 }) };
    const places = contributionPlaces(tags[party] ?? [], this.#model.splitTrees(party), shape);
    const explainer = new Explainer(this.#share, this.#model);
    const most = Math.max(1, Math.min(1000, Math.floor(valuesBytesMax / (valueBytes * places.length))));
    for (let first = 0; first < rows.length; first += most) {
      const some = rows.slice(first, first + most);
      const values = await explainer.tagValues(batch, some, tags, party, places);
      const message = { job, model, ids: some.map((row) => ids[row]), ...shape, values: contributionBytes(values) };
      const answer = await peer.contributions(message, { timeoutMs: timeoutMs() });
      requirePassiveVersion(answer.protocolVersion, peer.name);
    }
  }
}
