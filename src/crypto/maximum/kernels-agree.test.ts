/** With the same coins both parties' messages are the same bytes with every kernel. */
import { createHash } from "node:crypto";
import { describe, expect, it } from "vitest";
import { dealt, openSessions, randomNode, termsOf } from "../../../test/support/compared-candidates.ts";
import { derivedRandom, derivedSecretBytes, SeededRandom } from "../../base/random.ts";
import type { MaximumKernel, ProductJob } from "./kernel.ts";
import { loadNativeMaximum } from "./native-kernel.ts";
import { portableMaximumKernel } from "./portable-kernel.ts";

const secret = Uint8Array.from({ length: derivedSecretBytes }, (_, i) => i);

/** Messages of both parties, each as a digest, and what comes out. */
async function transcript(kernel: MaximumKernel): Promise<readonly string[]> {
  const { active, passive } = await openSessions(kernel, {
    active: derivedRandom(secret, 1),
    passive: derivedRandom(secret, 2),
  });
  const random = new SeededRandom("transcript");
  const seen: string[] = [];
  for (const [batch, bits] of [12, 32].entries()) {
    const nodes = [3, 1, 10].map((count, i) => randomNode(random, i, bits, count));
    const sums = dealt(nodes, bits, random);
    const asking = active.begin(batch + 1, termsOf(nodes, bits), { totals: nodes, sums: sums.active });
    const answering = passive.begin(batch + 1, termsOf(nodes, bits), { sums: sums.passive });
    let request: Uint8Array | undefined = await asking.first();
    while (request !== undefined) {
      const answer = await answering.answer(request);
      for (const bytes of [request, answer])
        seen.push(`${bytes.length} ${createHash("sha256").update(bytes).digest("hex").slice(0, 16)}`);
      request = await asking.next(answer);
    }
    seen.push(
      asking
        .result()
        .map((found) => (found ? `${found.gradient}/${found.hessian}` : "none"))
        .join(" "),
    );
  }
  return seen;
}

const expected = transcript(portableMaximumKernel);

it("portable: the messages of stored coins, by their digests", async () => {
  expect(
    createHash("sha256")
      .update((await expected).join("\n"))
      .digest("hex"),
  ).toMatchInlineSnapshot(`"79c5bd079907971668c02e5c71116b1270f73b8dc894425382ef642bf172a810"`);
});

describe.each([...loadNativeMaximum(2).kernels.values()])("$name", (kernel) => {
  it("sends what the portable kernel sends, message by message", async () => {
    expect(await transcript(kernel)).toEqual(await expected);
  });

  it("hashes columns of one block and of many", () => {
    const random = new SeededRandom(kernel.name);
    const draw = (count: number): Uint32Array => Uint32Array.from({ length: count }, () => random.uint32());
    const point = new Uint8Array(draw(4).buffer);
    for (const blocks of [1, 2, 125]) {
      const columns = draw(3 * 4 * blocks);
      expect(kernel.columnHashes(point, columns, 4 * blocks)).toEqual(
        portableMaximumKernel.columnHashes(point, columns, 4 * blocks),
      );
    }
  });

  it("multiplies at every width and offset of bits", () => {
    const random = new SeededRandom(kernel.name);
    const draw = (count: number): Uint32Array => Uint32Array.from({ length: count }, () => random.uint32());
    const count = 150;
    for (const bits of [1, 5, 127]) {
      const job: ProductJob = {
        rows: draw(4 * bits * 3),
        batch: 2 ** 40 + 5,
        first: 2 ** 32 - 7,
        bits,
        factors: Uint32Array.from({ length: count }, () => random.below(3)),
        uses: Uint32Array.from({ length: count }, (_, i) => i),
        widths: Uint8Array.from({ length: count }, (_, i) => 1 + ((i * 5) % 127)),
      };
      const [numbers, choices, flips] = [draw(4 * count), bitsOf(random, 3 * bits), bitsOf(random, 3 * bits)];
      const secretRow = draw(4);
      const made = (each: MaximumKernel): unknown => {
        const sent = each.corrections(job, secretRow, numbers);
        return [
          sent,
          each.senderShares(job, numbers, sent.held, flips),
          each.receiverShares(job, choices, flips, sent.corrections),
        ];
      };
      expect(made(kernel)).toEqual(made(portableMaximumKernel));
    }
  });
});

function bitsOf(random: SeededRandom, count: number): Uint8Array {
  return Uint8Array.from({ length: count }, () => random.below(2));
}
