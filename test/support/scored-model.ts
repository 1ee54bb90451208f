/** A model, cut into shares, and passive parties that answer for theirs: scoring in one process, without a network. */
import { create, type MessageInitShape } from "@bufbuild/protobuf";
import type { Model } from "../../src/gbdt/tree/model.ts";
import type { CategoryNames } from "../../src/gbdt/split/split-test.ts";
import { bySplitOrder, splitOutcomes, unknownRow } from "../../src/protocol/passive/split-outcomes.ts";
import { featureTags } from "../../src/scoring/feature-tags.ts";
import {
  type ActiveContributions,
  ActiveContributionsSchema,
  type PassiveContributions,
  PassiveContributionsSchema,
  PassiveOutcomesSchema,
  type PassiveTags,
  PassiveTagsSchema,
} from "../../src/wire/generated/tandem/v1/scoring_pb.ts";
import type { ScoringPeer, ScoringRequest } from "../../src/wire/scoring-peer.ts";
import { protocolVersion } from "../../src/wire/version.ts";
import type { ActiveShare, PassiveShare } from "../../src/store/share-files.ts";
import type { Scorer } from "../../src/scoring/scorer.ts";
import type { ScoringRows } from "../../src/scoring/scoring-question.ts";
import { inModelCodes } from "../../src/scoring/scoring-model.ts";
import { type TestTable } from "../world/simulated.ts";

export interface Shares {
  readonly activeShare: ActiveShare;
  readonly passiveShares: readonly PassiveShare[];
}

const origin = { job: "test", model: "7".repeat(64) };

/** What training leaves at each party. */
export function sharesOf(model: Model, passiveCount: number): Shares {
  const names = Array.from({ length: passiveCount }, (_, i) => `passive-${i + 1}`);
  return {
    activeShare: {
      name: "active",
      ...origin,
      ...model,
      passiveNames: names,
      trees: model.trees.map((tree) =>
        tree.map((node) =>
          node.kind === "leaf" || node.rule.owner === 0 ? node : { ...node, rule: { owner: node.rule.owner } },
        ),
      ),
    },
    passiveShares: names.map((name, i) => ({
      name,
      ...origin,
      active: "active",
      splits: model.trees.flatMap((nodes, tree) =>
        nodes.flatMap((at, node) => {
          if (at.kind === "leaf" || at.rule.owner !== i + 1) return [];
          const { owner: _owner, ...rule } = at.rule;
          return [{ tree, node, ...rule }];
        }),
      ),
    })),
  };
}

/** Knows the people of a table, by `id-<row>`. */
export class TablePeer implements ScoringPeer {
  readonly name: string;
  readonly share: PassiveShare;
  /** Accepts contributions of its own features. */
  takes = false;
  readonly received: ActiveContributions[] = [];
  readonly #columns: readonly Float32Array[];
  readonly #names: readonly CategoryNames[];

  constructor(share: PassiveShare, { parties, categories }: TestTable, party: number) {
    this.name = share.name;
    this.share = share;
    this.#columns = parties[party];
    this.#names = categories?.[party] ?? [];
  }

  maskOpen(): never {
    throw new Error("the model is not masked");
  }

  maskStep(): never {
    throw new Error("the model is not masked");
  }

  async tags(): Promise<PassiveTags> {
    const tags = [...featureTags(this.share.splits)];
    return create(PassiveTagsSchema, { protocolVersion, tags, takesContributions: this.takes });
  }

  async contributions(request: MessageInitShape<typeof ActiveContributionsSchema>): Promise<PassiveContributions> {
    this.received.push(create(ActiveContributionsSchema, request));
    return create(PassiveContributionsSchema, { protocolVersion });
  }

  async score({ ids, unknownAsMissing }: ScoringRequest) {
    const splits = this.share.splits.toSorted(bySplitOrder).map((split) => ({
      split,
      values: this.#columns[split.feature],
      names: this.#names[split.feature] ?? null,
    }));
    const rows = Int32Array.from(ids, (id) => (id.startsWith("id-") ? Number(id.slice(3)) : unknownRow));
    const { known, left } = await splitOutcomes(splits, rows, unknownAsMissing);
    return create(PassiveOutcomesSchema, { protocolVersion, known, splitCount: splits.length, left, idsMax: 1000 });
  }
}

/** All instances of a table, as the input of scoring. */
export function rowsOf(scorer: Scorer, { labels, parties, categories }: TestTable): ScoringRows {
  return {
    ids: Array.from(labels, (_, row) => `id-${row}`),
    columns: scorer.features.map((name, i) => {
      const column = Number(name.replace("p0f", ""));
      return inModelCodes(parties[0][column], categories?.[0][column] ?? null, scorer.categoryNames[i]);
    }),
  };
}
