/**
 * Writes a reproduction's files: tables as CSV and Markdown, figures as SVG and PNG, one HTML report, and the results
 * page.
 */
import { mkdir } from "node:fs/promises";
import { join } from "node:path";
import { writeFileAtomically } from "../../src/base/files/atomic-file.ts";
import { TandemError } from "../../src/base/error.ts";
import type { Reproduction } from "../reproduce/reproduce.ts";
import { claimsTable } from "./claims-table.ts";
import { figureSvg } from "./figure-svg.ts";
import { htmlReport } from "./html-report.ts";
import { resultsPage } from "./results-page.ts";
import { svgToPng } from "./svg-png.ts";
import { csvTable, markdownTable } from "./table-text.ts";

const fileMode = 0o644;

/**
 * @param name of the HTML file, so that one experiment's report does not replace the report on all
 * @returns the path of the HTML report
 */
export async function writeReport(reproduction: Reproduction, out: string, name: string): Promise<string> {
  await makeFolder(out);
  const tables = [
    { ...claimsTable(reproduction.claims), name: `${name}-claims` },
    ...reproduction.experiments.flatMap(({ tables: own }) => own),
  ];
  for (const table of tables) {
    await csvTable(join(out, `${table.name}.csv`), table);
    await writeFileAtomically(join(out, `${table.name}.md`), `${markdownTable(table)}\n`, fileMode);
  }
  const svgs = await writeFigures(reproduction, out);
  const report = join(out, `${name}.html`);
  await writeFileAtomically(report, htmlReport(reproduction, svgs), fileMode);
  return report;
}

/** The page for a documentation folder: results.md, and figures in results/. */
export async function writeResultsPage(reproduction: Reproduction, docs: string): Promise<string> {
  const figures = "results";
  await makeFolder(join(docs, figures));
  await writeFigures(reproduction, join(docs, figures));
  const page = join(docs, "results.md");
  await writeFileAtomically(page, resultsPage(reproduction, figures), fileMode);
  return page;
}

async function writeFigures(reproduction: Reproduction, folder: string): Promise<Map<string, string>> {
  const svgs = new Map<string, string>();
  for (const figure of reproduction.experiments.flatMap(({ figures }) => figures)) {
    const svg = figureSvg(figure);
    svgs.set(figure.name, svg);
    await writeFileAtomically(join(folder, `${figure.name}.svg`), svg, fileMode);
    await writeFileAtomically(join(folder, `${figure.name}.png`), await svgToPng(svg), fileMode);
  }
  return svgs;
}

async function makeFolder(folder: string): Promise<void> {
  try {
    await mkdir(folder, { recursive: true });
  } catch (cause) {
    throw new TandemError("FILE_UNWRITABLE", `${folder} cannot be created`, { cause });
  }
}
