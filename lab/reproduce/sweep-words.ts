/** A paragraph about a sweep, from its numbers: where we agree with the paper and where not. */
import { counted, decimals, percent, signed } from "./figures-in-words.ts";
import { type Accuracy, paperTimeFractions, type Range } from "./paper.ts";
import { accuracyOf, pointTitle, rangeText, type Sweep, type SweepResult } from "./sweep.ts";

/** Several times what the paper's two algorithms differ by. */
const closeAuc = 0.01;

export interface Gap {
  readonly auc: number;
  readonly ks: number;
}

/** The largest difference on test rows between the two codecs. */
export function largestGap(pairs: readonly { readonly batched: Accuracy; readonly unbatched: Accuracy }[]): Gap {
  return {
    auc: Math.max(...pairs.map(({ batched, unbatched }) => Math.abs(batched.aucTest - unbatched.aucTest))),
    ks: Math.max(...pairs.map(({ batched, unbatched }) => Math.abs(batched.ksTest - unbatched.ksTest))),
  };
}

export function sweepParagraph(sweep: Sweep, results: readonly SweepResult[]): string {
  if (results.length === 0) return "Nothing of this experiment finished.";
  return [codecsAgree(results), besideThePaper(results), times(sweep, results)]
    .filter((sentence) => sentence !== "")
    .join(" ");
}

function codecsAgree(results: readonly SweepResult[]): string {
  const ours = largestGap(
    results.map(({ measured }) => ({
      batched: accuracyOf(measured.batched),
      unbatched: accuracyOf(measured.unbatched),
    })),
  );
  const theirs = results.flatMap(({ paper }) => (paper === null ? [] : [paper]));
  const paper = largestGap(theirs);
  const beside =
    theirs.length === 0 ? "" : `In the paper it is up to ${decimals(paper.auc)} and ${decimals(paper.ks)}. `;
  return (
    `On the test rows the AUC of the two algorithms differs by at most ${decimals(ours.auc, 5)} ` +
    `and the KS by at most ${decimals(ours.ks, 5)}. ${beside}` +
    (ours.auc <= 0.002 && ours.ks <= 0.01
      ? "This confirms that the coarse slots cost no relevant accuracy."
      : "Our differences exceed the tolerances of 0.002 and 0.01. " +
        "The section on precision shows how much of it is due to the sampling of rows.")
  );
}

function besideThePaper(results: readonly SweepResult[]): string {
  const gaps = results.flatMap(({ measured, paper }) =>
    paper === null
      ? []
      : (["batched", "unbatched"] as const).map((codec) => accuracyOf(measured[codec]).aucTest - paper[codec].aucTest),
  );
  if (gaps.length === 0) return "";
  const [low, high] = [Math.min(...gaps), Math.max(...gaps)];
  const spread = low === high ? signed(low) : `${signed(low)} to ${signed(high)}`;
  const verdict = Math.max(Math.abs(low), Math.abs(high)) <= closeAuc ? "close, but not equal" : "not close";
  return (
    `Our test AUC differs from the paper's by ${spread}: ${verdict}. ` +
    "The rows and columns that the paper used were not published."
  );
}

function times(sweep: Sweep, results: readonly SweepResult[]): string {
  const perTree = results.map(({ measured }) => measured.perTreeFraction);
  const total = results.map(({ measured }) => measured.totalFraction);
  const [first, last] = [results[0], results[results.length - 1]];
  const [start, end] = [perTree[0], perTree[perTree.length - 1]];
  const along =
    end < start
      ? "It decreases along the axis, as in the paper."
      : "The paper's fraction decreases along this axis; ours does not.";
  const ends =
    ` Per tree it goes from ${percent(start)} at ${pointTitle(first.point)} ` +
    `to ${percent(end)} at ${pointTitle(last.point)} ${sweep.axis}. ${along}`;
  return (
    `With all optimisations on for both, batching takes ${among(total, paperTimeFractions.total, "total time")} ` +
    `and ${among(perTree, paperTimeFractions.perTree, "time per tree")}.${results.length === 1 ? "" : ends}`
  );
}

/** "52% to 60% of the time per tree (the paper: 50-60%; 5 of 6 points within)" */
function among(fractions: readonly number[], range: Range, what: string): string {
  const within = fractions.filter((fraction) => fraction >= range.min && fraction <= range.max).length;
  const spread =
    fractions.length === 1
      ? percent(fractions[0])
      : `${percent(Math.min(...fractions))} to ${percent(Math.max(...fractions))}`;
  const points = `${within} of ${counted(fractions.length, "point")} within`;
  return `${spread} of the ${what} (the paper: ${rangeText(range)}; ${points})`;
}
