import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, describe, expect, it } from "vitest";
import { measuredTrials } from "../../test/support/measured-trials.ts";
import { checkClaims } from "../reproduce/claims.ts";
import { keysOutcome } from "../reproduce/keys.ts";
import type { ResultFigure, ResultTable } from "../reproduce/outcome.ts";
import type { Reproduction } from "../reproduce/reproduce.ts";
import { scales } from "../reproduce/scale.ts";
import { figureSvg } from "./figure-svg.ts";
import { svgToPng } from "./svg-png.ts";
import { htmlTable, markdownTable } from "./table-text.ts";
import { writeReport, writeResultsPage } from "./write-report.ts";

const table: ResultTable = {
  name: "t",
  title: "T",
  columns: [
    { group: "", title: "where" },
    { group: "AUC", title: "paper" },
    { group: "AUC", title: "ours" },
    { group: "", title: "repeats" },
  ],
  rows: [["a|b <c>", "0.1", "0.2", "2"]],
  notes: [],
};

describe("a table", () => {
  it("is Markdown with groups in the names of columns", () => {
    expect(markdownTable(table)).toBe(
      "| where | AUC, paper | AUC, ours | repeats |\n|---|---:|---:|---:|\n| a\\|b <c> | 0.1 | 0.2 | 2 |",
    );
  });

  it("of words is set to the left", () => {
    expect(markdownTable({ ...table, words: true })).toContain("|---|---|---|---|");
    expect(htmlTable({ ...table, words: true })).toContain('<div class="words">');
  });

  it("is HTML with groups over their columns, and cells that cannot become tags", () => {
    const html = htmlTable(table);
    expect(html).toContain(
      '<tr><th rowspan="2">where</th><th colspan="2" class="group">AUC</th><th rowspan="2">repeats</th></tr>' +
        "<tr><th>paper</th><th>ours</th></tr>",
    );
    expect(html).toContain("<td>a|b &lt;c&gt;</td>");
  });
});

const figure: ResultFigure = {
  name: "f",
  caption: "F",
  panels: [
    {
      kind: "bars",
      title: "(a) bars",
      xTitle: "key bits",
      yTitle: "seconds",
      categories: ["128", "256"],
      series: [
        { name: "SecureBoost", values: [4, 6] },
        { name: "Proposed", values: [2, 3.3] },
      ],
      labels: ["50%", "55%"],
    },
    {
      kind: "lines",
      title: "(b) lines",
      xTitle: "n",
      yTitle: "error",
      xLog: true,
      yLog: true,
      series: [
        {
          name: "bound",
          dashed: true,
          points: [
            [1, 0.001],
            [1000, 1],
          ],
        },
      ],
    },
  ],
};

describe("a figure", () => {
  it("is SVG with its titles, names, axes and percentages as text", () => {
    const svg = figureSvg(figure);
    expect(svg.startsWith("<svg")).toBe(true);
    for (const text of [
      "(a) bars",
      "(b) lines",
      "SecureBoost",
      "Proposed",
      "bound",
      "key bits",
      "seconds",
      "128",
      "50%",
      "55%",
    ])
      expect(svg).toContain(`>${text}</text>`);
  });

  it("is PNG in which the text is drawn, with the font from its package", async () => {
    const svg = figureSvg(figure);
    const png = Buffer.from(await svgToPng(svg));
    expect(png.subarray(1, 4).toString("latin1")).toBe("PNG");
    expect([png.readUInt32BE(16), png.readUInt32BE(20)]).toEqual([1880, 720]);
    const textless = Buffer.from(await svgToPng(svg.replaceAll(/<text[\s\S]*?<\/text>/g, "")));
    expect(png.length).toBeGreaterThan(textless.length + 5000);
  });
});

describe("a report", () => {
  const scale = scales.full;
  const trials = measuredTrials(scale);
  const reproduction: Reproduction = {
    scale: "full",
    machine: { cpu: "a CPU", cores: 2, node: "v20", kernel: "native" },
    commit: "abc",
    trialCommits: ["abc", "older"],
    seed: 7,
    finishedAt: "2030-01-02T03:04:05.000Z",
    synthetic: false,
    data: [{ title: "Default", source: "UCI_Credit_Card.csv", digest: "0123456789abcdef0123" }],
    experiments: [keysOutcome(scale, trials)],
    claims: checkClaims(scale, trials),
  };
  const folder = mkdtempSync(join(tmpdir(), "tandem-report-"));
  afterAll(() => rmSync(folder, { recursive: true, force: true }));
  const read = (name: string): string => readFileSync(join(folder, name), "utf8");

  it("is one HTML file that fetches nothing, with machine, claims, figures and words", async () => {
    const html = readFileSync(await writeReport(reproduction, folder, "report"), "utf8");
    for (const text of [
      "a CPU, 2 cores",
      "commit abc; measured at older",
      "gradient ciphertexts",
      "<td>held</td>",
      reproduction.experiments[0].paragraph.slice(0, 60),
    ])
      expect(html).toContain(text);
    expect(html.match(/<svg/g)).toHaveLength(2);
    expect(html.replaceAll(/xmlns(:\w+)?="[^"]*"/g, "")).not.toMatch(/https?:|<script|<link|<img|@import|url\(/);
    expect(read("keys-accuracy.csv").split("\n")[0]).toContain(
      '"AUC train, paper","AUC train, ours","AUC train, difference"',
    );
    expect(read("keys-time.svg")).toContain("</svg>");
    expect(read("report-claims.md")).toContain("| time per tree |");
  });

  it("is a page with figures in separate files", async () => {
    const page = readFileSync(await writeResultsPage(reproduction, folder), "utf8");
    for (const [, link] of page.matchAll(/\]\((results\/[^)]+)\)/g))
      expect(readFileSync(join(folder, link)).length).toBeGreaterThan(1000);
    expect(page.match(/\]\(results\/keys-time\.(svg|png)\)/g)).toHaveLength(2);
    expect(page).toContain("| no overflow | no sum overflows in any job | 0 jobs | 0 of");
  });
});
