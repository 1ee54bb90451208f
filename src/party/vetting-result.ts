/** Puts together what a vetting has found. Bins of own columns have bounds and categories; those of others numbers. */
import type { BinnedFeature } from "../gbdt/split/binning.ts";
import { type ColumnBin, type ColumnShape, shapeOf } from "../gbdt/vet/column-bins.ts";
import { columnFigures, type SumNoise } from "../gbdt/vet/column-figures.ts";
import { exactCounts, vetColumns, VettedSums } from "../gbdt/vet/vet-sums.ts";
import { figureText } from "../record/evaluation/facts.ts";
import type { LabelledBin, VettedColumn, Vetting } from "../record/vetting/vetting.ts";
import type { VettedPeer } from "../protocol/active/vetting.ts";

interface VettedRows {
  readonly party: string;
  /** Of the party itself. */
  readonly features: readonly BinnedFeature[];
  readonly stabilities: readonly (number | null)[];
  readonly labels: Float64Array;
}

type Terms = Pick<Vetting, "job" | "label" | "binsMax"> & {
  readonly now: number;
  /** In the sums of others, in people. */
  readonly noise: number;
};

export function vettingOf(
  { party, features, stabilities, labels }: VettedRows,
  peers: readonly VettedPeer[],
  { now, noise, ...terms }: Terms,
): Vetting {
  const counts = exactCounts(labels);
  const { total } = new VettedSums(counts);
  const own = vetColumns(features, counts).map((bins, i): VettedColumn => {
    const { name } = features[i];
    const labelled = (bin: ColumnBin): BinLabel => ownLabel(features[i], bin);
    const facts = { party, number: i + 1, name, stability: stabilities[i] };
    return vetted(facts, shapeOf(features[i]), bins, labelled, null);
  });
  const sumNoise: SumNoise | null = noise === 0 ? null : { events: noise, people: noise };
  const theirs = peers.flatMap(({ party: other, columns }) =>
    columns.map(({ name, shape, stability, bins }, i) => {
      const facts = { party: other, number: i + 1, name: name === "" ? null : name, stability };
      return vetted(facts, shape, bins, (bin) => ({ label: otherLabel(shape, bin) }), sumNoise);
    }),
  );
  return {
    ...terms,
    party,
    madeAt: now,
    others: peers.map((peer) => peer.party),
    people: total.people,
    events: total.events,
    noise,
    columns: [...own, ...theirs].sort((a, b) => b.iv - b.ivBias - (a.iv - a.ivBias)),
  };

  function vetted(
    facts: Pick<VettedColumn, "party" | "number" | "name" | "stability">,
    { categorical }: ColumnShape,
    bins: readonly ColumnBin[],
    labelOf: (bin: ColumnBin) => BinLabel,
    ofSums: SumNoise | null,
  ): VettedColumn {
    const figures = columnFigures(bins, total, ofSums);
    const labelled = figures.bins.map(({ parts: _parts, ...bin }, i): LabelledBin => ({ ...bin, ...labelOf(bins[i]) }));
    return { ...facts, categorical, ...figures, bins: labelled };
  }
}

type BinLabel = Pick<LabelledBin, "label" | "from" | "below">;

function ownLabel({ thresholds, categories, binCount }: BinnedFeature, { bins, hasMissing }: ColumnBin): BinLabel {
  if (bins.length === 0) return { label: "missing" };
  const missing = hasMissing ? ", or missing" : "";
  if (categories !== undefined) return { label: bins.map((bin) => categories[bin]).join(", ") + missing };
  const [first, last] = [bins[0], bins[bins.length - 1]];
  const from = first === 0 ? undefined : thresholds[first - 1];
  const below = last === binCount - 1 ? undefined : thresholds[last];
  return {
    label: rangeText(from, below) + missing,
    ...(from === undefined ? {} : { from }),
    ...(below === undefined ? {} : { below }),
  };
}

function rangeText(from: number | undefined, below: number | undefined): string {
  if (from === undefined) return below === undefined ? "any" : `below ${figureText(below)}`;
  return below === undefined ? `${figureText(from)} and above` : `${figureText(from)} to below ${figureText(below)}`;
}

function otherLabel({ categorical, binCount }: ColumnShape, { bins, hasMissing }: ColumnBin): string {
  if (bins.length === 0) return "missing";
  const missing = hasMissing ? ", or missing" : "";
  if (categorical) return (bins.length === 1 ? `category ${bins[0] + 1}` : `${bins.length} other categories`) + missing;
  const [first, last] = [bins[0] + 1, bins[bins.length - 1] + 1];
  const which = first === last ? `bin ${first}` : `bins ${first} to ${last}`;
  return `${which} of ${binCount}${missing}`;
}
