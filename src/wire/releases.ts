/**
 * Which release speaks which version of the wire. Parties of one job need the same version; patch releases of a minor
 * version never change it. docs/upgrade.md has the same table.
 */
import { programVersion } from "../base/program-version.ts";

/** Of the releases before this one. */
const earlier: ReadonlyMap<number, string> = new Map([
  [7, "0.2"],
  [8, "0.3"],
  [9, "0.4"],
  [10, "0.5"],
  [11, "0.6"],
]);

/** "0.7" of 0.7.3. */
export function thisRelease(): string {
  return programVersion().split(".").slice(0, 2).join(".");
}

/** @param current the version that this release speaks */
export function releases(current: number): ReadonlyMap<number, string> {
  return new Map([...earlier, [current, thisRelease()]]);
}

interface Speaker {
  /** As the reader of the message knows it. */
  readonly who: string;
  readonly version: number;
}

/** What is wrong when two parties speak different versions, and who has to install which release. */
export function mismatchWords(theirs: Speaker, own: Speaker): string {
  const known = releases(own.version);
  const runs = ({ who, version }: Speaker): string => {
    const release = known.get(version);
    const program = release === undefined ? "another release of Tandem" : `Tandem ${release}`;
    return `${who} runs ${program} (protocol version ${version})`;
  };
  const [older, newer] = theirs.version < own.version ? [theirs, own] : [own, theirs];
  const wanted = known.get(newer.version);
  const release = wanted === undefined ? `the release that ${newer.who} runs` : `Tandem ${wanted}`;
  const who = older.who.replace(/^(the |party )/, (first) => first[0].toUpperCase() + first.slice(1));
  return `${runs(theirs)}, and ${runs(own)}. ${who} must install ${release} (docs/upgrade.md)`;
}
