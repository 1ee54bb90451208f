/** A reproduction as one HTML file that needs nothing else: styles and figures are inside, nothing is fetched. */
import { htmlText } from "./html-text.ts";
import { claimsTable, circumstances } from "./claims-table.ts";
import { htmlTable } from "./table-text.ts";
import type { ResultTable } from "../reproduce/outcome.ts";
import type { Reproduction } from "../reproduce/reproduce.ts";

const style = `
body { font: 16px/1.5 Inter, system-ui, sans-serif; color: #222; background: #fff; }
body { max-width: 76rem; margin: 2rem auto; padding: 0 1rem; }
h1, h2, h3 { line-height: 1.25; font-weight: 600; }
h2 { margin-top: 3rem; border-bottom: 1px solid #d9d9d9; padding-bottom: .3rem; }
h3 { font-size: 1rem; margin-top: 1.8rem; }
p, li, figcaption { max-width: 62rem; }
.wide { overflow-x: auto; }
table { border-collapse: collapse; font-size: .8rem; font-variant-numeric: tabular-nums; }
th, td { padding: .25rem .45rem; border-bottom: 1px solid #e6e6e6; }
th, td { text-align: right; vertical-align: top; white-space: nowrap; }
th { font-weight: 600; }
th:first-child, td:first-child, .words td, .words th { text-align: left; }
.words td { white-space: normal; }
.words td:last-child { white-space: nowrap; }
.group { text-align: center; border-left: 1px solid #d9d9d9; }
figure { margin: 1.5rem 0; }
figure svg { max-width: 100%; height: auto; }
figcaption, .note { font-size: .85rem; color: #555; }
`;

/** @param svgs the figures by name */
export function htmlReport(reproduction: Reproduction, svgs: ReadonlyMap<string, string>): string {
  const title = "Tandem: the paper's Section IV, reproduced";
  const sections = reproduction.experiments.map(({ title: heading, reference, paragraph, tables, figures }) =>
    [
      `<h2>${htmlText(heading)}</h2>`,
      `<p><em>The paper's ${htmlText(reference)}.</em> ${htmlText(paragraph)}</p>`,
      ...figures.map(({ name, caption }) => figureSection(htmlText(caption), svgs.get(name) ?? "")),
      ...tables.map(tableSection),
    ].join("\n"),
  );
  return [
    "<!doctype html>",
    '<html lang="en"><head><meta charset="utf-8">',
    '<meta name="viewport" content="width=device-width, initial-scale=1">',
    `<title>${htmlText(title)}</title><style>${style}</style></head><body>`,
    `<h1>${htmlText(title)}</h1>`,
    "<p>Xu, Fan, Li, Yang: <em>Efficient Batch Homomorphic Encryption for Vertically Federated XGBoost</em>.",
    "Each number is compared with the paper's.</p>",
    `<ul>${circumstances(reproduction)
      .map((line) => `<li>${htmlText(line)}</li>`)
      .join("")}</ul>`,
    `<h2>Claims</h2>${htmlTable(claimsTable(reproduction.claims))}`,
    ...sections,
    "</body></html>",
    "",
  ].join("\n");
}

function figureSection(caption: string, svg: string): string {
  return `<figure role="img" aria-label="${caption}">${svg}<figcaption>${caption}</figcaption></figure>`;
}

function tableSection(table: ResultTable): string {
  return [
    `<h3>${htmlText(table.title)}</h3>`,
    htmlTable(table),
    ...table.notes.map((note) => `<p class="note">${htmlText(note)}</p>`),
  ].join("\n");
}
