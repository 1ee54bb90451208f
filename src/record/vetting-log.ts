/**
 * The vettings of a party's columns, or by it, in its output directory: a line each in `.vettings.jsonl`. Records of
 * later jobs with the same partner list them, since they say what that partner knew before.
 */
import { join } from "node:path";
import { JsonLinesFile, LineTail } from "../base/files/json-lines.ts";
import { isOwnLine, type OwnLine } from "./own-lines.ts";

export const vettingsFileName = ".vettings.jsonl";
const bytesMax = 1 << 20;

export type VettingLine = Extract<OwnLine, { kind: "revealed" }>;

/** A log that cannot be written must not fail what it would note. */
export function noteVetting(directory: string, line: VettingLine): void {
  try {
    const file = new JsonLinesFile(join(directory, vettingsFileName), bytesMax);
    file.append(line);
    file.close();
  } catch {
    // Records of later jobs go without.
  }
}

/** Between these two parties, the earliest first. */
export function earlierVettings(directory: string, active: string, passive: string): VettingLine[] {
  const tail = new LineTail(join(directory, vettingsFileName));
  const lines: unknown[] = [];
  for (let next = tail.next(); next.length > 0; next = tail.next())
    for (const line of next) {
      try {
        lines.push(JSON.parse(line));
      } catch {
        // A process that died while writing left it.
      }
    }
  return lines.filter(
    (line): line is VettingLine =>
      isOwnLine(line) &&
      line.kind === "revealed" &&
      line.how === "vetting" &&
      line.active === active &&
      line.passive === passive,
  );
}
