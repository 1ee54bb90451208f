/** A reproduction as a Markdown page, with its figures in separate files. */
import { claimsTable, circumstances } from "./claims-table.ts";
import { markdownTable } from "./table-text.ts";
import type { ResultTable } from "../reproduce/outcome.ts";
import type { Reproduction } from "../reproduce/reproduce.ts";

/** @param figures the folder of the figures, relative to the page */
export function resultsPage(reproduction: Reproduction, figures: string): string {
  return [
    "# Results",
    "",
    "The experiments of section IV of the paper, run with Tandem and compared with the paper's numbers. The page is",
    "written by `tandem reproduce`; [data.md](data.md) describes data and settings.",
    "",
    ...circumstances(reproduction).map((line) => `- ${line}`),
    "",
    "## Claims",
    "",
    markdownTable(claimsTable(reproduction.claims)),
    "",
    ...reproduction.experiments.flatMap(({ title, reference, paragraph, tables, figures: drawn }) => [
      `## ${title}`,
      "",
      `*The paper's ${reference}.* ${paragraph}`,
      "",
      ...drawn.flatMap(({ name, caption }) => [
        `![${name}](${figures}/${name}.svg)`,
        "",
        `${caption} ([PNG](${figures}/${name}.png))`,
        "",
      ]),
      ...tables.flatMap(tableSection),
    ]),
  ].join("\n");
}

function tableSection(table: ResultTable): string[] {
  return [`### ${table.title}`, "", markdownTable(table), "", ...table.notes.flatMap((note) => [note, ""])];
}
