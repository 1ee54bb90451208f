/** Invalid ciphertexts of the active party: workers report the same errors, before any answer of the round is sent.
 * */
import { afterEach, beforeEach, expect, test } from "vitest";
import { TestCrew } from "../../test/support/crews.ts";
import { expectError } from "../../test/support/expect-error.ts";
import { answerOf, type Bench, bench, keyBits, treeOf } from "../../test/support/paillier-bench.ts";
import { collect } from "../../test/support/streams.ts";
import { generateKey, type PrivateKey, selectKernel } from "../crypto/paillier/index.ts";
import { writeInteger } from "../crypto/integers.ts";
import { PaillierPassive } from "../scheme/paillier/passive.ts";
import type { SentNodes } from "../scheme/candidates/sent-nodes.ts";
import { PaillierGradientsSchema } from "../wire/generated/tandem/v1/paillier_pb.ts";
import { decodeMessage, encodeMessage } from "../wire/scheme-message.ts";

let crew: TestCrew;
let key: PrivateKey;
let made: Bench & { readonly nodes: SentNodes };
beforeEach(async () => {
  key = await generateKey({ bits: keyBits, insecure: true });
  crew = new TestCrew({ seed: "refusals" });
  crew.work("w0");
  const whole = bench(key);
  const passive = new PaillierPassive(selectKernel(), 1, crew.crew());
  await passive.setUp(await whole.active.setUp({ layout: whole.layout }), whole.job);
  made = { ...whole, passive, nodes: treeOf(whole) };
});
afterEach(() => crew.stop());

/** The round's gradients, with one of them replaced. */
async function send(value: bigint | null, place = 19): Promise<void> {
  const { passive, active, layout, gradients, nodes } = made;
  passive.beginRound(nodes);
  const [{ message }] = await collect(active.gradients(layout, gradients, null, 0));
  const { ciphertexts } = decodeMessage(PaillierGradientsSchema, message);
  const width = key.publicKey.ciphertextBytes;
  if (value !== null) writeInteger(ciphertexts, width, place, value);
  await passive.gradients(encodeMessage(PaillierGradientsSchema, { firstInstance: 0, ciphertexts }));
}

test("an invalid ciphertext ends the round; the next round succeeds", async () => {
  const { n, nSquared } = key.publicKey;
  for (const [value, code, words] of [
    [nSquared, "CIPHERTEXT_RANGE", /ciphertext 6 is not between 0 and n\^2/],
    [key.p, "CIPHERTEXT_RANGE", /ciphertext 6 is not invertible/],
    [1n + 5n * n, "PROTOCOL_STATE", /was not encrypted/],
  ] as const) {
    await send(value); // the sixth of its block
    await expectError(() => made.passive.endOfGradients(), code, words);
  }
  await send(null);
  await made.passive.endOfGradients();
  expect((await answerOf(made)).length).toBeGreaterThan(0);
});
