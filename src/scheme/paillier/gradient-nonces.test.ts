/** Gradients are encrypted to the same bytes by every process that has the job's seed, whatever was precomputed. */
import { expect, test } from "vitest";
import { bench, keyBits } from "../../../test/support/paillier-bench.ts";
import { collect } from "../../../test/support/streams.ts";
import { generateKey, selectKernel } from "../../crypto/paillier/index.ts";
import { portableKernel } from "../../crypto/paillier/portable-kernel.ts";
import { allShortcuts } from "../shortcuts.ts";
import { PaillierActive } from "./active.ts";

test("a round has the same bytes in every process, and no two rounds share a nonce", async () => {
  const key = await generateKey({ bits: keyBits, insecure: true });
  const { layout, gradients } = bench(key, "batched");
  const idle = (): Promise<void> => Promise.resolve();
  const seed = new Uint8Array(32).fill(9);
  const active = new PaillierActive(selectKernel(), key, 1, allShortcuts, idle, seed);
  const other = new PaillierActive(portableKernel, key, 2, allShortcuts, () => new Promise(() => {}), seed);
  const seen = new Set<string>();
  const messages = async (half: PaillierActive, sample: Uint32Array | null, serial: number): Promise<Uint8Array[]> =>
    (await collect(half.gradients(layout, gradients, sample, serial))).map(({ message }) => message);
  for (const [round, ahead] of [0, 100, 40, 300].entries()) {
    if (ahead > 0) active.expectRound(layout, ahead, round);
    while (active.obfuscatorsReady < ahead) await new Promise((resolve) => setImmediate(resolve));
    const sample = round === 2 ? Uint32Array.of(1, 5, 9) : null;
    const sent = await messages(active, sample, round);
    expect(await messages(active, sample, round)).toEqual(sent);
    expect(await messages(other, sample, round)).toEqual(sent);
    active.expectRound(layout, 50, round + 7); // for a round that does not come
    expect(await messages(active, sample, round)).toEqual(sent);
    for (const message of sent) seen.add(Buffer.from(message).toString("hex"));
  }
  expect(seen.size).toBeGreaterThanOrEqual(4);
  const anyone = new PaillierActive(selectKernel(), key, 1);
  expect(await messages(anyone, null, 0)).not.toEqual(await messages(active, null, 0));
  active.close();
});

test("textbook encryption of experiments has the same bytes too, with either kernel", async () => {
  const key = await generateKey({ bits: keyBits, insecure: true });
  const { layout, gradients } = bench(key, "batched");
  const seed = new Uint8Array(32).fill(9);
  const textbook = { ...allShortcuts, ownerEncryption: false };
  const [active, other] = [selectKernel(), portableKernel].map(
    (kernel) => new PaillierActive(kernel, key, 1, textbook, undefined, seed),
  );
  const messages = async (half: PaillierActive, serial: number): Promise<string[]> =>
    (await collect(half.gradients(layout, gradients, null, serial))).map(({ message }) =>
      Buffer.from(message).toString("hex"),
    );
  const rounds = [await messages(active, 0), await messages(active, 1)];
  expect([await messages(other, 0), await messages(active, 1)]).toEqual(rounds);
  expect(new Set(rounds.flat()).size).toBe(rounds.flat().length);
});
