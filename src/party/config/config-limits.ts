/**
 * What a config file may be, before it is parsed: the parser follows nesting with its own stack, compares every field
 * of a map with every other, and multiplies what aliases stand for. Honest configs have a few dozen fields.
 */
import { Lexer } from "yaml";

export const configLimits = {
  sizeBytes: 1 << 20,
  /** Collections within collections, and columns of indentation. */
  depth: 64,
  indentation: 256,
  fields: 4096,
  aliases: 100,
} as const;

/** Stands before the text of a plain or a block scalar, which may look like anything. */
const scalarMark = "\u001f";

/** @returns the line and what is wrong with it; null: the text may be parsed */
export function configTrouble(text: string): { readonly line: number; readonly what: string } | null {
  const { depth, indentation, fields, aliases } = configLimits;
  const open: string[] = [];
  let line = 1;
  let [indicatorsOfLine, fieldCount, aliasCount] = [0, 0, 0];
  let isScalar = false;
  for (const token of new Lexer().lex(text)) {
    if (!isScalar) {
      if (token === "[" || token === "{") open.push(token);
      else if (token === "]" || token === "}") open.pop();
      else if (open.length === 0 && (token === "-" || token === "?" || token === ":")) indicatorsOfLine++;
      if (token === "?" || token === ":" || (token === "," && open.at(-1) === "{")) fieldCount++;
      else if (token.startsWith("*")) aliasCount++;
      const wrong =
        (Math.max(open.length, indicatorsOfLine) > depth && `this is nested more than ${depth} deep`) ||
        (fieldCount > fields && `there are more than ${fields} fields`) ||
        (aliasCount > aliases && `there are more than ${aliases} aliases`) ||
        (isIndentation(token) && token.length > indentation && `this is indented by more than ${indentation} columns`);
      if (wrong !== false) return { line, what: wrong };
    }
    isScalar = token === scalarMark;
    const breaks = token.split("\n").length - 1;
    if (breaks > 0) indicatorsOfLine = 0;
    line += breaks;
  }
  return null;
}

function isIndentation(token: string): boolean {
  return token.startsWith(" ") && token.trim() === "";
}
