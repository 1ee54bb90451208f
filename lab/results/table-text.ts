/** A result table as Markdown, HTML and CSV. */
import { htmlText } from "./html-text.ts";
import type { Column, ResultTable } from "../reproduce/outcome.ts";
import { writeCsv } from "../../src/data/write-csv.ts";

/** "AUC test, ours" where a column stands in a group. */
export function columnName({ group, title }: Column): string {
  return group === "" ? title.trim() : `${group}, ${title}`;
}

export function markdownTable({ columns, rows, words }: ResultTable): string {
  const line = (cells: readonly string[]): string =>
    `| ${cells.map((cell) => cell.replaceAll("|", "\\|")).join(" | ")} |`;
  return [
    line(columns.map(columnName)),
    `|${columns.map((_, i) => (i === 0 || words === true ? "---" : "---:")).join("|")}|`,
    ...rows.map(line),
  ].join("\n");
}

export function htmlTable({ columns, rows, words }: ResultTable): string {
  const grouped = columns.some(({ group }) => group !== "");
  const head = grouped
    ? groupedHead(columns)
    : `<tr>${columns.map(({ title }) => `<th>${htmlText(title)}</th>`).join("")}</tr>`;
  const body = rows.map((row) => `<tr>${row.map((cell) => `<td>${htmlText(cell)}</td>`).join("")}</tr>`).join("\n");
  const table = `<table><thead>${head}</thead><tbody>\n${body}\n</tbody></table>`;
  return `<div class="${words === true ? "words" : "wide"}">${table}</div>`;
}

/** Two lines: a group over its columns; columns without a group reach over both. */
function groupedHead(columns: readonly Column[]): string {
  const upper: string[] = [];
  const lower: string[] = [];
  for (let i = 0; i < columns.length;) {
    const { group, title } = columns[i];
    if (group === "") {
      upper.push(`<th rowspan="2">${htmlText(title)}</th>`);
      i++;
      continue;
    }
    const next = columns.findIndex((column, at) => at > i && column.group !== group);
    const end = next === -1 ? columns.length : next;
    upper.push(`<th colspan="${end - i}" class="group">${htmlText(group)}</th>`);
    lower.push(...columns.slice(i, end).map((column) => `<th>${htmlText(column.title)}</th>`));
    i = end;
  }
  return `<tr>${upper.join("")}</tr><tr>${lower.join("")}</tr>`;
}

export function csvTable(path: string, { columns, rows }: ResultTable): Promise<void> {
  return writeCsv(
    path,
    columns.map(columnName),
    columns.map((_, i) => rows.map((row) => row[i])),
  );
}
