/** What a consent reveals, for the records of both parties. */
import type { PassiveShare } from "../../store/share-files.ts";

export function consentFact({ splits }: Pick<PassiveShare, "splits">) {
  const features = new Set(splits.map(({ featureName }) => featureName)).size;
  return { kind: "revealed", how: "consent", splits: splits.length, features } as const;
}
