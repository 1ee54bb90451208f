/**
 * A passive party's columns as it has them vetted: in a secret order, so that the order of its table stays with it, and
 * with names only if its policy allows them. Constraints are left out: nothing is split.
 */
import { join } from "node:path";
import type { BinnedFeature } from "../../gbdt/split/binning.ts";
import { isGroup, shapeOf, vettedFeature } from "../../gbdt/vet/column-bins.ts";
import type { AgreedParameters } from "../../protocol/job-parameters.ts";
import type { VettedColumn } from "../../protocol/vetting.ts";
import { isOn } from "../../privacy/defences/defences.ts";
import { secretPermutation } from "../../scheme/candidates/secret-permutation.ts";
import type { PolicyConfig } from "../config/policy-config.ts";
import { stabilityOfOthers } from "../tables/other-rows.ts";
import type { JobRows } from "./job-rows.ts";
import type { PassiveCheckpoints } from "./checkpoints.ts";

/** What the owner needs to know which number is which column. */
export const columnsFileName = "vetted-columns.csv";

export function vettedColumns(
  features: readonly BinnedFeature[],
  { source }: Pick<JobRows, "source">,
  checkpoints: Pick<PassiveCheckpoints, "permutationSecret">,
  { policy, agreed }: { readonly policy: PolicyConfig; readonly agreed: AgreedParameters },
): VettedColumn[] {
  const noise = Math.max(policy.privacy.answer_noise, agreed.defences.answer_noise);
  // It would be an exact statistic among noisy ones.
  const stabilities = isOn(noise) ? features.map(() => null) : stabilityOfOthers(features, source);
  const columns = features.map((feature, i) => ({
    feature: vettedFeature(feature),
    name: policy.vetting === "named" ? feature.name : "",
    stability: stabilities[i],
  }));
  const places = secretPermutation(checkpoints.permutationSecret, 0, columns.length);
  const shuffled = columns.map((_, place) => columns[places.indexOf(place)]);
  // Candidates of groups come first in every answer.
  const isFirst = ({ feature }: VettedColumn): boolean => isGroup(shapeOf(feature));
  return [...shuffled.filter(isFirst), ...shuffled.filter((column) => !isFirst(column))];
}

/** Writes, for this party alone, which column has which number. */
export function keepColumnNumbers(
  checkpoints: Pick<PassiveCheckpoints, "keep">,
  columns: readonly VettedColumn[],
): Promise<void> {
  const quoted = (text: string): string => `"${text.replaceAll('"', '""')}"`;
  const lines = ["number,column", ...columns.map(({ feature }, i) => `${i + 1},${quoted(feature.name)}`)];
  return checkpoints.keep((folder, storage) => storage.write(join(folder, columnsFileName), `${lines.join("\n")}\n`));
}
