/**
 * What runs before a release only. `npm test` takes some seeds of every test and a part of every grid; `npm run
 * campaigns` sets TANDEM_CAMPAIGN and takes them all, and also runs test/campaigns/.
 */
export const isCampaign = process.env["TANDEM_CAMPAIGN"] === "1";

export function seedCount({ test, campaign }: { readonly test: number; readonly campaign: number }): number {
  return isCampaign ? campaign : test;
}

/**
 * Every `parts`-th case, from the one at `part` on; in a campaign all. Tests that go through the same cases with other
 * options take different parts, so that each case runs with one of them.
 */
export function partOf<T>(cases: readonly T[], part: number, parts: number): readonly T[] {
  return isCampaign ? cases : cases.filter((_, i) => i % parts === part % parts);
}
