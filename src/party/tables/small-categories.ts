/** Which of a party's own columns have categories of so few people that sets of them tell labels: its own affair. */
import { trainingParameters } from "../../gbdt/parameters/training-parameters.ts";
import { binIndexCount, type BinnedFeature } from "../../gbdt/split/binning.ts";

/** Per feature that is split in sets of categories, and has small ones: in words, with its name. */
export function smallCategoriesOf(features: readonly BinnedFeature[]): string[] {
  const few = trainingParameters.min_category_people.default;
  return features.flatMap(({ name, categories, oneHot, binCount, bins }) => {
    if (categories === undefined || oneHot === true) return [];
    const counts = new Uint32Array(binIndexCount({ binCount }));
    for (const bin of bins) counts[bin]++;
    const people = counts.subarray(0, binCount);
    const small = people.filter((count) => count < few).length;
    if (small === 0) return [];
    const average = people.reduce((sum, count) => sum + count, 0) / binCount;
    return [`'${name}' has ${small} of ${binCount} with fewer than ${few}, on average ${average.toFixed(1)}`];
  });
}
