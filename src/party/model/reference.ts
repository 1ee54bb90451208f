/** The distributions of a training, from its table and the model's splits on own features. */
import { categoryBins, numberBins } from "../../base/statistics/distribution.ts";
import { categoryNamesPerFeature, type PartyTable } from "../../data/dataset.ts";
import { predictionCount, predictionsFrom } from "../../gbdt/objective/objectives.ts";
import type { SplitTest } from "../../gbdt/split/split-test.ts";
import type { ActiveShare } from "../../store/share-files.ts";
import type { Reference } from "../../store/reference-file.ts";

type OwnRule = SplitTest & { readonly featureName: string };

/** Of the features that rules ask about, in the order of their first rule. @param table the rows trained on */
export function featureReferences(
  table: Pick<PartyTable, "featureNames" | "features" | "categories">,
  rules: readonly OwnRule[],
): Reference["features"] {
  const known = new Map<string, Set<string>>();
  for (const rule of rules) {
    const categories = known.get(rule.featureName) ?? new Set();
    for (const category of rule.categories ?? []) categories.add(category);
    known.set(rule.featureName, categories);
  }
  const names = categoryNamesPerFeature(table);
  return [...known].map(([name, categories]) => {
    const place = table.featureNames.indexOf(name);
    const [values, ofCodes] = [table.features[place], names[place]];
    const distribution = ofCodes === null ? numberBins(values) : categoryBins(values, ofCodes, [...categories].sort());
    return { name, distribution };
  });
}

/** @param margins per row, its outputs side by side; null: not known */
export function scoreReferences(
  { objective, outputCount = 1 }: Pick<ActiveShare, "objective" | "outputCount">,
  margins: Float64Array | null,
): Reference["scores"] {
  if (margins === null) return [];
  const predictions = predictionsFrom(objective, margins, outputCount);
  const perRow = predictionCount(objective, outputCount);
  return Array.from({ length: perRow }, (_, k) => numberBins(predictions.filter((_score, i) => i % perRow === k)));
}
