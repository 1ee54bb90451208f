/** The tables of a vetting: one line per column, and the bins of each. Runs in browsers too. */
import { stabilityOf } from "../../base/statistics/stability-index.ts";
import { column, type EvaluationTable, figure, percent, text, thousandths, whole } from "../evaluation/table.ts";
import { columnTitle, type VettedColumn, type Vetting } from "./vetting.ts";

/** The customary reading of an information value. */
export function ivWords(iv: number): string {
  if (iv < 0.02) return "none";
  if (iv < 0.1) return "weak";
  if (iv < 0.3) return "medium";
  return iv < 0.5 ? "strong" : "very strong";
}

export function columnTable({ columns, noise, others, party }: Vetting): EvaluationTable {
  const hasNoise = noise > 0;
  const hasOthers = others.length > 0;
  return {
    name: "columns",
    title: "Columns",
    about:
      "Each column by itself: what it adds to the others, or to a model, only training shows. " +
      "An information value (IV) of 0.02 to 0.1 is customarily called weak, to 0.3 medium, to 0.5 strong; " +
      "above that check whether the column was recorded after the event." +
      (hasNoise ? " Columns are sorted and judged by their information value less its bias." : ""),
    columns: [
      ...(hasOthers ? [column("party", text)] : []),
      column("column", text),
      column("strength", text),
      column("information value", figure),
      ...(hasNoise ? [column("IV error", figure), column("IV bias", figure)] : []),
      column("AUC", figure),
      column("KS", figure),
      column("missing", percent),
      ...(hasOthers ? [column("stability index", thousandths)] : []),
      column("bins", whole),
    ],
    rows: columns.map((one) => [
      ...(hasOthers ? [one.party] : []),
      nameOf(one),
      ivWords(one.iv - one.ivBias),
      one.iv,
      // Own sums have no noise.
      ...(hasNoise ? (one.party === party ? [null, null] : [one.ivError, one.ivBias]) : []),
      one.auc,
      one.ks,
      one.missingShare,
      ...(hasOthers ? [one.stability] : []),
      one.bins.length,
    ]),
  };
}

export function binTable(columns: readonly VettedColumn[]): EvaluationTable {
  return {
    name: "bins",
    title: "Weight of evidence by bin",
    about:
      "Weight of evidence: ln(part of all label 1 that is in this bin / part of all label 0 that is in it). " +
      "Above 0 label 1 is more frequent here than among all people.",
    columns: [
      column("party", text),
      column("column", text),
      column("bin", text),
      column("people", whole),
      column("label 1", whole),
      column("share of people", percent),
      column("rate of label 1", percent),
      column("weight of evidence", figure),
      column("information value", figure),
    ],
    rows: columns.flatMap((one) =>
      one.bins.map((bin) => [
        one.party,
        nameOf(one),
        bin.label,
        bin.people,
        bin.events,
        bin.share,
        bin.rate,
        bin.woe,
        bin.iv,
      ]),
    ),
  };
}

export function nameOf({ name, number }: VettedColumn): string {
  return name ?? `column ${number}`;
}

export function stabilityWords({ stability }: VettedColumn): string {
  return stability === null ? "not known" : stabilityOf(stability);
}

export function vettingTables(vetting: Vetting): EvaluationTable[] {
  return [columnTable(vetting), binTable(vetting.columns)];
}

/** The summary of the page. */
export function vettingSentences({ columns, noise, others, party }: Vetting): string[] {
  const isWorth = ({ iv, ivBias, ivError }: VettedColumn): boolean => iv - ivBias - 2 * ivError >= 0.02;
  const worth = columns.filter(isWorth);
  const known = columns.filter(({ iv, ivBias }) => iv - ivBias >= 0.5);
  const drifted = columns.filter(({ stability }) => stability !== null && stabilityOf(stability) === "large");
  const sparse = columns.filter(({ missingShare }) => missingShare !== null && missingShare >= 0.5);
  const perParty = others.map((other) => {
    const own = columns.filter((one) => one.party === other);
    return `${worth.filter((one) => one.party === other).length} of ${own.length} columns of ${other}`;
  });
  return [
    others.length === 0
      ? `${worth.length} of ${columns.length} columns have an information value of 0.02 or more.`
      : `${perParty.join(" and ")} have an information value of 0.02 or more` +
        `${noise > 0 ? ", by more than twice their error" : ""}.`,
    ...(known.length === 0
      ? []
      : [`Check whether these were recorded after the event, since they nearly tell the label: ${listed(known)}.`]),
    ...(sparse.length === 0 ? [] : [`Missing for half of the people or more: ${listed(sparse)}.`]),
    ...(drifted.length === 0
      ? []
      : [`The common people differ much from their party's other people in: ${listed(drifted)}.`]),
    ...(noise > 0
      ? [
          `Sums of ${others.join(" and ")} have noise of standard deviation ${noise} people. It changes information ` +
            "values: each has its error (a standard deviation) and its bias (what noise adds on average), and the " +
            "bias is subtracted before a column is judged.",
        ]
      : []),
    "A column is judged by itself. Two that say the same are worth as much as one, and trees find what columns say " +
      `together${others.length === 0 ? "" : `: train a model to see what they add to ${party}'s own`}.`,
  ];
}

const listedMax = 8;

function listed(columns: readonly VettedColumn[]): string {
  const names = columns.slice(0, listedMax).map(columnTitle);
  return columns.length > listedMax ? `${names.join(", ")} and ${columns.length - listedMax} more` : names.join(", ");
}
