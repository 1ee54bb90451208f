/** A vetting on the terminal: what it will reveal, and what it has found. */
import type { ActiveConfig } from "../../party/config/config.ts";
import { presetOf } from "../../privacy/defences/defences.ts";
import { formatCount } from "../../base/text/format.ts";
import { cellText } from "../../record/evaluation/table.ts";
import { columnTable } from "../../record/vetting/tables.ts";
import type { Vetting } from "../../record/vetting/vetting.ts";
import { textTable } from "./text-table.ts";

/** Before it starts, in a few lines; --explain-leakage says all of it. */
export function vettingBrief({ name, passives, job }: ActiveConfig): string {
  const { max_bin: bins } = job.training;
  const { answer_noise: noise } = job.privacy;
  const others = passives.map((passive) => passive.name).join(", ");
  const preset = presetOf(job.privacy);
  const exact = noise > 0 ? `with noise, of standard deviation ${noise} people` : "exactly";
  return [
    `This vetting reveals to ${name}, of each column of ${others}:`,
    `- in up to ${bins} bins (of categories: in each) how many people are common, and how many have label 1: ${exact}`,
    noise > 0
      ? "- no stability index, which would be exact"
      : "- how its common people differ from the party's other people: one number",
    ...(noise > 0 && preset !== null
      ? [`privacy: ${preset} adds this noise; it could not hide the sums, because a vetting consists of them.`]
      : []),
    `To ${others} it reveals which people are common. In budgets it counts as one vetting, and as a tree's root.`,
  ].join("\n");
}

export function vettingText(vetting: Vetting): string {
  const { people, events, others, noise } = vetting;
  const { columns, rows, about } = columnTable(vetting);
  const table = rows.map((row) => row.map((cell, i) => cellText(cell, columns[i])));
  const where = others.length === 0 ? "people" : `people common with ${others.join(" and ")}`;
  return [
    "",
    `  ${formatCount(people)} ${where}, ${formatCount(events)} of them with label 1`,
    "",
    textTable([columns.map(({ name }) => name), ...table]),
    "",
    `  ${about}`,
    ...(noise > 0
      ? [
          `  Sums of other parties have noise of standard deviation ${noise} people. "error" is what it does to an`,
          '  information value, as a standard deviation; "bias" is what it adds on average.',
        ]
      : []),
    "",
  ].join("\n");
}
