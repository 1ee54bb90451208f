/** Finds own columns with categories of few instances: sets of these reveal labels. Only this party is informed. */
import { trainingParameters } from "../../gbdt/parameters/training-parameters.ts";
import { binIndexCount, type BinnedFeature } from "../../gbdt/split/binning.ts";

/** Per feature that is split in sets of categories, and has small ones: in words, with its name. */
export function smallCategoriesOf(features: readonly BinnedFeature[]): string[] {
  const few = trainingParameters.min_category_people.default;
  return features.flatMap(({ name, categories, oneHot, binCount, bins }) => {
    if (categories === undefined || oneHot === true) return [];
    const counts = new Uint32Array(binIndexCount({ binCount }));
    for (const bin of bins) counts[bin]++;
    const perCategory = counts.subarray(0, binCount);
    const small = perCategory.filter((count) => count < few).length;
    if (small === 0) return [];
    const average = perCategory.reduce((sum, count) => sum + count, 0) / binCount;
    return [`'${name}' has ${small} of ${binCount} with fewer than ${few}, on average ${average.toFixed(1)}`];
  });
}
