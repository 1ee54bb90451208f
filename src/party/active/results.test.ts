import { expect, test } from "vitest";
import { TandemError } from "../../base/error.ts";
import { tellFailure } from "./results.ts";

async function sent(error: unknown): Promise<string[]> {
  const said: string[] = [];
  await tellFailure({ finish: async (failure = "") => void said.push(failure) }, error);
  return said;
}

test("other parties receive the kind of the error, and no name of a file, a column or another party", async () => {
  expect(await sent(new TandemError("FILE_UNWRITABLE", "/srv/bank/predictions.csv cannot be written"))).toEqual([
    "a file or directory cannot be written (FILE_UNWRITABLE)",
  ]);
  expect(await sent(new TandemError("POLICY", "telecom: max_depth: 3 at most"))).toEqual([
    expect.stringMatching(/\(POLICY\)$/),
  ]);
  for (const [said] of [
    await sent(new TandemError("POLICY", "telecom: max_depth: 3 at most")),
    await sent(new Error("row 17 of income")),
  ])
    expect(said).not.toMatch(/telecom|max_depth|income/);
});

test("after the loss of a party the job is not ended: no failure is sent", async () => {
  for (const code of ["PARTY_LOST", "ENGINE_LOST", "ENGINE_FULL", "WORKERS_MISSING"] as const)
    expect(await sent(new TandemError(code, "telecom is gone"))).toEqual([]);
});
