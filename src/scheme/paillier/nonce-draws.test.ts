/** Reproducible encryption of gradients: also with precomputed obfuscators, and only with the recipe. */
import { expect, test } from "vitest";
import { bench, keyBits } from "../../../test/support/paillier-bench.ts";
import { collect } from "../../../test/support/streams.ts";
import { generateKey, selectKernel } from "../../crypto/paillier/index.ts";
import { allShortcuts } from "../shortcuts.ts";
import { PaillierActive } from "./active.ts";
import { NonceDraws } from "./nonce-draws.ts";

test("every round can be reproduced", async () => {
  const key = await generateKey({ bits: keyBits, insecure: true });
  const { layout, gradients } = bench(key, "batched");
  const idle = (): Promise<void> => Promise.resolve();
  const active = new PaillierActive(selectKernel(), key, 1, allShortcuts, idle, new NonceDraws());
  const auditor = new PaillierActive(selectKernel(), key, 1);
  const seen = new Set<string>();
  for (const [round, ahead] of [0, 100, 40, 300].entries()) {
    active.expectRound(layout, ahead);
    while (active.obfuscatorsReady < ahead) await new Promise((resolve) => setImmediate(resolve));
    const sample = round === 2 ? Uint32Array.of(1, 5, 9) : null;
    const messages = (await collect(active.gradients(layout, gradients, sample))).map(({ message }) => message);
    const { recipe } = active;
    if (recipe === null) throw new Error("the round has no recipe");
    expect(await collect(auditor.gradientsAgain(layout, gradients, sample, recipe))).toEqual(messages);
    const [column, ...others] = gradients.columns;
    const marked = column.slice();
    marked[5]++;
    const cheated = auditor.gradientsAgain(layout, { ...gradients, columns: [marked, ...others] }, sample, recipe);
    expect(await collect(cheated)).not.toEqual(messages);
    const short = { ...recipe, chunks: recipe.chunks.map((parts) => parts.map(([draw, n, at]) => [draw, n, at, 1])) };
    await expect(collect(auditor.gradientsAgain(layout, gradients, sample, short))).rejects.toThrow(/exponents/);
    for (const message of messages) seen.add(Buffer.from(message).toString("hex"));
  }
  expect(seen.size).toBeGreaterThanOrEqual(4); // the same gradients, never the same ciphertexts
  active.close();
  expect(auditor.recipe).toBe(null);
});
