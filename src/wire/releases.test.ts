import { readFileSync } from "node:fs";
import { expect, test } from "vitest";
import { packagePath } from "../base/package-root.ts";
import { mismatchWords, releases, thisRelease } from "./releases.ts";
import { protocolVersion } from "./version.ts";

const own = { who: "shop", version: protocolVersion };

test("an older party is asked to install this release", () => {
  expect(mismatchWords({ who: "the active party", version: 11 }, own)).toBe(
    `the active party runs Tandem 0.6 (protocol version 11), and shop runs Tandem ${thisRelease()} ` +
      `(protocol version ${protocolVersion}). The active party must install Tandem ${thisRelease()} (docs/upgrade.md)`,
  );
});

test("before a newer party this one is asked, and an unknown version has no release", () => {
  expect(mismatchWords({ who: "party bank", version: 99 }, own)).toMatch(
    /bank runs another release of Tandem .protocol version 99.*shop must install the release that party bank runs/,
  );
  expect(mismatchWords({ who: "party bank", version: 3 }, own)).toMatch(/Party bank must install Tandem 0\.\d+ /);
});

test("docs/upgrade.md has the same table", () => {
  const page = readFileSync(packagePath("docs", "upgrade.md"), "utf8");
  const rows = [...page.matchAll(/^\| (\d+\.\d+) +\| +(\d+) \|/gm)].map(([, release, version]) => [
    Number(version),
    release,
  ]);
  expect(rows.toSorted(([a], [b]) => Number(a) - Number(b))).toEqual([...releases(protocolVersion)]);
});
