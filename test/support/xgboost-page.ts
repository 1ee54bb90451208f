/** docs/xgboost.md: its sections are written by several tests, each of its own figures. */
import { readFileSync, writeFileSync } from "node:fs";

const path = new URL("../../docs/xgboost.md", import.meta.url);

/** The head comes first, without a heading. */
const sectionsOf = (text: string): string[] => text.split(/\n(?=## )/);
const headingOf = (section: string): string => section.split("\n")[0];

/** @param text sections that replace those of the same headings, or come last; all others stay */
export function writeSections(text: string): void {
  const sections = sectionsOf(readFileSync(path, "utf8"));
  for (const section of sectionsOf(text)) {
    const place = sections.findIndex((other) => headingOf(other) === headingOf(section));
    sections[place === -1 ? sections.length : place] = section;
  }
  writeFileSync(path, sections.join("\n"));
}

/** A line of a table. */
export const tableLine = (cells: readonly (number | string)[]): string => `| ${cells.join(" | ")} |`;

/** Both figures, and how far ours is from XGBoost's. */
export const figureCells = (ours: number, theirs: number): string[] => [
  ours.toFixed(5),
  theirs.toFixed(5),
  `${(100 * (ours / theirs - 1)).toFixed(2)}%`,
];
