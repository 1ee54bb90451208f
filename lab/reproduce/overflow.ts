/** Overflow: BatchCrypt's slots against the paper's on growing sums of real gradients (sec. II-C, Figs. 2 and 4). */
import { batchcryptEncode, batchcryptFields } from "./batchcrypt.ts";
import { quantiseValue, type Slot, slotResolution } from "../../src/codec/slot.ts";
import { count, decimals, percent } from "./figures-in-words.ts";
import type { ExperimentOutcome, LinePanel, ResultFigure, ResultTable } from "./outcome.ts";
import { plainColumns } from "./outcome.ts";
import { type Encoding, encodings, type OverflowRow, overflowRows } from "./overflow-sums.ts";
import type { PaperDataset } from "../trials/paper-datasets.ts";
import type { RealGradients } from "./real-gradients.ts";

export function overflowOutcome(
  gradients: RealGradients,
  dataset: PaperDataset,
  draws: number,
  seed: number,
): ExperimentOutcome {
  const rows = overflowRows(gradients, dataset, draws, seed);
  return {
    name: "overflow",
    title: "Overflow of negative numbers",
    reference: "sec. II-C and III-A, Figs. 2 and 4",
    paragraph: overflowWords(rows),
    tables: [overflowTable(rows, draws, dataset), exampleTable()],
    figures: [overflowFigure(rows)],
  };
}

function overflowTable(rows: readonly OverflowRow[], draws: number, dataset: PaperDataset): ResultTable {
  return {
    name: "overflow-sums",
    title: "Sums of real gradients that raise an overflow error, or are wrong without one",
    columns: [
      ...plainColumns("values added", "negative g among them"),
      ...encodings.flatMap((group) => ["raised", "wrong"].map((title) => ({ group, title }))),
    ],
    rows: rows.map(({ count: added, negatives, failures }) => [
      count(added),
      decimals(negatives, 1),
      ...encodings.flatMap((name) => [percent(failures[name].raised), percent(failures[name].wrong)]),
    ]),
    notes: [
      `${count(draws)} random draws of the gradients of the first, a middle and the last tree (${dataset.title}). ` +
        "Both encodings have a step of alpha_max / 2^r, the range alpha_max and 2 overflow bits. " +
        "For BatchCrypt this is the range of signed numbers: " +
        "no sum exceeds it, and every failure is due to the carries of negative numbers.",
    ],
  };
}

/** The paper's example, -1 plus -6, in both codings, with its numbers: Fig. 2 and Fig. 4. */
function exampleTable(): ResultTable {
  const signedSlot = { alpha: 127, r: 8, overflowBits: 2 };
  const codes = [-1, -6].map((value) => batchcryptEncode(signedSlot, [value]));
  const sum = codes[0] + codes[1];
  const [field] = batchcryptFields(signedSlot, sum, 1);
  const slot: Slot = { shift: -6, alpha: 20, alphaMax: 127, r: 7, padding: 2 };
  const quantised = [-1, -6].map((value) => quantiseValue(slot, value));
  const total = quantised[0] + quantised[1];
  const decoded = total * slotResolution(slot) + 2 * slot.shift;
  const bits = (value: bigint | number, information: number): string => {
    const text = value.toString(2).padStart(information + 2, "0");
    return `${text.slice(0, -information)} ${text.slice(-information)}`;
  };
  return {
    name: "overflow-example",
    title: "The paper's example, -1 plus -6: overflow bits, then information bits",
    columns: plainColumns("coding", "-1", "-6", "sum", "overflow bits", "decoded"),
    rows: [
      [
        "BatchCrypt",
        bits(codes[0], 8),
        bits(codes[1], 8),
        bits(sum, 8),
        bits(sum, 8).split(" ")[0],
        String(field.value),
      ],
      [
        "Proposed",
        bits(quantised[0], 7),
        bits(quantised[1], 7),
        bits(total, 7),
        bits(total, 7).split(" ")[0],
        decimals(decoded, 2),
      ],
    ],
    notes: [
      "Proposed with s = -6, alpha = 20, alpha_max = 127, r = 7. The paper calls this lossless. " +
        "By its eq. (7) a step is 127/128, not 1, so the sum comes back as -7.04.",
    ],
  };
}

function overflowFigure(rows: readonly OverflowRow[]): ResultFigure {
  const panel = (title: string, what: "raised" | "wrong"): LinePanel => ({
    kind: "lines",
    title,
    xTitle: "values added",
    yTitle: "% of sums",
    xLog: true,
    yLog: false,
    yMax: 100,
    series: encodings.map((name) => ({
      name,
      points: rows.map(({ count: added, failures }) => [added, 100 * failures[name][what]] as const),
    })),
  });
  return {
    name: "overflow-sums",
    caption: "Sums of real gradients by the number of values added: overflow errors, and wrong sums without one.",
    panels: [panel("(a) overflow is raised", "raised"), panel("(b) wrong without an overflow", "wrong")],
  };
}

export function overflowWords(rows: readonly OverflowRow[]): string {
  const failed = (row: OverflowRow, name: Encoding): number => row.failures[name].raised + row.failures[name].wrong;
  const last = rows[rows.length - 1];
  const many = rows.slice(Math.floor(rows.length / 2));
  const spread = (name: Encoding): string => {
    const fractions = many.map((row) => failed(row, name));
    return `${percent(Math.min(...fractions), 0)} to ${percent(Math.max(...fractions), 0)}`;
  };
  const first = rows.find((row) => failed(row, "BatchCrypt, h above g") > 0);
  const proposedFails = rows.filter((row) => failed(row, "Proposed") > 0);
  const proposed =
    proposedFails.length === 0
      ? `The paper's slots got every sum right, up to ${count(last.count)} values, as the paper states.`
      : `The paper's slots failed too, first at ${count(proposedFails[0].count)} values. ` +
        "The paper states that they never do.";
  const batchCrypt =
    first === undefined
      ? "BatchCrypt's slots never failed. The paper says that they would."
      : `BatchCrypt's slots fail first at ${count(first.count)} values. ` +
        `From ${count(many[0].count)} values on, with h above g ${spread("BatchCrypt, h above g")} ` +
        "of the sums raise an overflow error or are wrong. " +
        `With g above h it is ${spread("BatchCrypt, g above h")}.`;
  const order =
    failed(last, "BatchCrypt, g above h") < failed(last, "BatchCrypt, h above g")
      ? " The order of the slots matters more than the paper says. Two overflow bits count carries modulo four only. " +
        "In the highest slot, where carries are lost, a sum can appear correct again. " +
        "Below another slot, carries corrupt that slot."
      : "";
  return `${batchCrypt} ${proposed}${order}`;
}
