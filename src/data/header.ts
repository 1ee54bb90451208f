/** Validates the header line of a table, and detects a missing header. */
import { numberSyntax } from "../base/text/number-cell.ts";

/** Rows whose cells are compared with the names above them. */
export const rowsCompared = 20;
const shownMax = 100;

/** Advice for a missing header: the end of a message. */
export const noHeaderAdvice =
  "If the first line is a row already, say so with --no-header (in a config: data.header: false)";

/** @returns what is wrong with the names of a table's columns, or null; a number may be a cell, and is not shown */
export function headerTrouble(names: readonly string[]): string | null {
  const known = new Map<string, number>();
  for (const [index, name] of names.entries()) {
    if (name === "" && index > 0) return `column #${index} of the header has no name`;
    const first = known.get(name);
    if (first !== undefined) {
      const where = `(#${first} and #${index})`;
      return names.some(isNumber)
        ? `two columns have the same name ${where}`
        : `two columns are named '${shortened(name)}' ${where}`;
    }
    known.set(name, index);
  }
  return null;
}

/**
 * Whether names look like the cells below them: there are numbers among the names, and in every column with numbers the
 * name is one too. Names that count from 0 or 1 are names, as pandas writes them.
 */
export function looksLikeRow(names: readonly string[], columns: readonly (readonly string[])[]): boolean {
  const numbers = names.filter(isNumber);
  if (numbers.length === 0 || countsUp(numbers)) return false;
  return names.every((name, i) => name === "" || isNumber(name) || !hasNumber(columns[i].slice(0, rowsCompared)));
}

function countsUp(numbers: readonly string[]): boolean {
  return [0, 1].some((first) => numbers.every((name, i) => name === String(first + i)));
}

function hasNumber(cells: readonly string[]): boolean {
  return cells.some((cell) => isNumber(cell.trim()));
}

function isNumber(text: string): boolean {
  return numberSyntax.test(text);
}

/** Shortens long names in messages. */
function shortened(name: string): string {
  return name.length > shownMax ? `${name.slice(0, shownMax)}...` : name;
}
