/** The metrics that fit an objective, of predictions against labels. */
import { nextTurn } from "../base/event-loop-turn.ts";
import type { TrainingParameters } from "../base/parameters.ts";
import { logloss, rmse, separation } from "../gbdt/metrics.ts";
import { objectiveFor } from "../gbdt/objective.ts";
import type { Metrics } from "./events.ts";

export function predictionsFrom(objective: TrainingParameters["objective"], margins: Float64Array): Float64Array {
  const { transform } = objectiveFor(objective);
  return margins.map((margin) => transform(margin));
}

/** evaluate, with turns for the event loop in between: it runs after every tree. */
export async function evaluateInTurns(objective: TrainingParameters["objective"], margins: Float64Array, labels: Float64Array): Promise<Metrics> {
  if (objective === "reg:squarederror") return evaluate(objective, margins, labels);
  const separated = separation(margins, labels);
  await nextTurn();
  return { ...separated, logloss: logloss(predictionsFrom(objective, margins), labels) };
}

export function evaluate(objective: TrainingParameters["objective"], margins: Float64Array, labels: Float64Array): Metrics {
  const predictions = predictionsFrom(objective, margins);
  if (objective === "reg:squarederror") return { rmse: rmse(predictions, labels) };
  return { ...separation(margins, labels), logloss: logloss(predictions, labels) };
}
