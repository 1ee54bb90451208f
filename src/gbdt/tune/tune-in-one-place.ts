/** A centralised search over parameters: the same trees as in a federated search, without encryption. */
import { beginsBoostingRound, endsBoostingRound } from "../boost/gradient-rounds.ts";
import { centralisedRounds, type CentralisedTraining } from "../boost/train.ts";
import { rowNumbers } from "../../base/rows/row-numbers.ts";
import { CountedColumns } from "../split/revealed-pieces.ts";
import { revealedWithin } from "../split/revealed-splits.ts";
import type { TrialTurns } from "./trial-turns.ts";

export interface OnePlaceSearch extends Pick<
  CentralisedTraining,
  "parties" | "rows" | "quantise" | "samplingSecrets" | "minimums" | "defences" | "membership" | "noiseSecrets"
> {
  /** The rows of each fold. */
  readonly folds: readonly Uint32Array[];
  /** After each turn. */
  readonly onTurn?: (turns: TrialTurns) => void;
}

/** A trial's model of one fold, while it may continue. */
interface GrowingModel {
  readonly boostingRounds: AsyncGenerator<void, unknown>;
  /** Its trees so far, and the index of the next among all trees of the job. */
  trees: number;
  firstTree: number;
  margins: Float64Array;
}

export async function growTrials(turns: TrialTurns, { folds, onTurn, ...training }: OnePlaceSearch): Promise<void> {
  const models = new Map<number, GrowingModel[]>();
  const revealed = training.parties.map((features, party) =>
    party === 0
      ? null
      : revealedWithin(training.defences, () => new CountedColumns(features, rowNumbers(training.rows.count))),
  );
  const job = {
    instanceCount: training.rows.count,
    folds: folds.length,
    revealed,
    rounds: new Map<string, number>(),
    whole: turns.whole,
  };
  while (!turns.isOver) {
    const turn = turns.next();
    const ofTrial = models.get(turn.trial) ?? [];
    models.set(turn.trial, ofTrial);
    const model = (ofTrial[turn.fold] ??= begun((own) => ({
      ...training,
      parameters: { ...turn.training, early_stopping_rounds: 0 },
      rows: training.rows.holdingOut(folds[turn.fold]),
      job,
      treeNumber: (tree) => own.firstTree + tree - own.trees,
      onTree: (_tree, _index, margins) => (own.margins = margins),
    })));
    if (beginsBoostingRound(turn.gradientRound, turn.training)) {
      model.firstTree = turn.firstTree;
      await model.boostingRounds.next();
    }
    if (endsBoostingRound(turn.gradientRound, turn.training)) {
      turn.margins.set(model.margins);
      model.trees += turn.task.treeOutputs.length * turn.training.num_parallel_tree;
    }
    await turns.finish(turn);
    for (const trial of models.keys()) if (!turns.isRunning(trial)) models.delete(trial);
    onTurn?.(turns);
  }
}

function begun(training: (own: GrowingModel) => CentralisedTraining): GrowingModel {
  const own: { -readonly [K in keyof GrowingModel]?: GrowingModel[K] } = { trees: 0, firstTree: 0 };
  own.margins = new Float64Array(0);
  own.boostingRounds = centralisedRounds(training(own as GrowingModel));
  return own as GrowingModel;
}
