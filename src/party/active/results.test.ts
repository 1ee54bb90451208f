import { expect, test } from "vitest";
import { TandemError } from "../../base/error.ts";
import { tellFailure } from "./results.ts";

async function told(error: unknown): Promise<string[]> {
  const said: string[] = [];
  await tellFailure({ finish: async (failure = "") => void said.push(failure) }, error);
  return said;
}

test("others hear what kind of trouble there is, and no name of a file, a column or another party", async () => {
  expect(await told(new TandemError("FILE_UNWRITABLE", "/srv/bank/predictions.csv cannot be written"))).toEqual([
    "a file or directory cannot be written (FILE_UNWRITABLE)",
  ]);
  expect(await told(new TandemError("POLICY", "telecom: max_depth: 3 at most"))).toEqual([
    expect.stringMatching(/\(POLICY\)$/),
  ]);
  for (const [said] of [
    await told(new TandemError("POLICY", "telecom: max_depth: 3 at most")),
    await told(new Error("row 17 of income")),
  ])
    expect(said).not.toMatch(/telecom|max_depth|income/);
});

test("a party that is lost is waited for: nobody is told that it is over", async () => {
  for (const code of ["PARTY_LOST", "ENGINE_LOST", "ENGINE_FULL", "WORKERS_MISSING"] as const)
    expect(await told(new TandemError(code, "telecom is gone"))).toEqual([]);
});
