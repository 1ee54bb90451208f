/** The disclosures that the code declares where they happen. */
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";

export interface RevealsTag {
  readonly learner: "active" | "passive";
  readonly what: string;
}

/** `@reveals who: what; what`, up to the next tag, an empty line or the end of the comment. */
const tag = /@reveals (active|passive): ([\s\S]+?)(?=\n\s*\*(?:\/| *\n| *@)|\*\/)/g;

/** @param folder the sources */
export function revealsTags(folder: string): RevealsTag[] {
  return readdirSync(folder, { recursive: true, encoding: "utf8" })
    .filter((name) => name.endsWith(".ts") && !name.endsWith(".test.ts"))
    .flatMap((name) => tagsOf(readFileSync(join(folder, name), "utf8")));
}

function tagsOf(text: string): RevealsTag[] {
  return [...text.matchAll(tag)].flatMap(([, learner, parts]) =>
    parts
      .replaceAll(/\n\s*\*\s*/g, " ")
      .split(";")
      .map((what) => ({ learner: learner as RevealsTag["learner"], what: what.trim() })),
  );
}
