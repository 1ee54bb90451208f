/**
 * Margins by the trees of a model in a job with masked scoring: passive parties and the active one compute sums of leaf
 * weights, and no outcome of a split is told.
 */
import { fewAtOnce } from "../../base/scheduling/few-at-once.ts";
import { MaskedScorer } from "../../scheme/masked/masked-scorer.ts";
import { Products } from "../../scheme/masked/products.ts";
import type { Tree } from "../../gbdt/tree/tree.ts";
import { ownOutcomes, type RowOutcomes } from "./federated-margins.ts";
import type { ActiveRule } from "./federated-tree.ts";
import type { ActiveModel } from "./job.ts";
import type { PeerPredictions } from "./peer-predictions.ts";

/** One batch is worked on here while the other is worked on there. */
const batchesAtOnce = 2;

/** What is asked about, in pieces. */
export interface MaskedQuestion {
  readonly rowCount: number;
  /** Those of the test rows, in the pieces in which they are named; null: instances of the job, by a start model. */
  readonly ids: readonly (readonly string[])[] | null;
  /** Where each row starts, of a model that was trained with such. */
  readonly baseMargins?: Float64Array | undefined;
  readonly own: Pick<RowOutcomes, "ownValue" | "ownNames">;
}

export async function maskedMargins(
  sessions: readonly PeerPredictions[],
  model: Pick<ActiveModel, "trees" | "outputCount" | "baseMargin">,
  answered: readonly Tree<ActiveRule>[],
  { rowCount, ids, baseMargins, own }: MaskedQuestion,
): Promise<Float64Array> {
  const { outputCount = 1, trees, baseMargin } = model;
  const margins = new Float64Array(rowCount * outputCount);
  const scorer = new MaskedScorer(new Products(model, answered), baseMargin, { startModel: ids === null });
  const parties = scorer.parties.map(({ owner }) => sessions[owner - 1]);
  if (ids !== null) await Promise.all(parties.map((session) => session.testRows(ids)));
  const goesLeft = ownOutcomes(trees, own);
  const rowsMax = Math.max(1, scorer.rowsMax);
  function* batches(): Generator<[first: number, end: number]> {
    for (let first = 0, end = 0; first < rowCount; first = end) {
      end = Math.min(rowCount, first + rowsMax);
      yield [first, end];
    }
  }
  await fewAtOnce(batches(), batchesAtOnce, async ([first, end]) => {
    const sums = await scorer.sums(
      parties.map((session) => session.masked(end - first)),
      {
        rowCount: end - first,
        hasIds: false,
        message: { firstRow: first, rowCount: end - first },
        baseMargins: baseMargins?.subarray(first, end),
        ownGoesLeft: (tree, node, row) => goesLeft(tree, node, first + row),
      },
    );
    margins.set(sums.margins, first * outputCount);
  });
  return margins;
}
