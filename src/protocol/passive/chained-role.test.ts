/** The chain around a passive role: which copy of a message it notes. */
import { create } from "@bufbuild/protobuf";
import { expect, test } from "vitest";
import { expectError } from "../../../test/support/expect-error.ts";
import { drive } from "../../../test/support/passive-driver.ts";
import { collect } from "../../../test/support/streams.ts";
import { generateKey } from "../../crypto/paillier/index.ts";
import {
  type ActiveGradients,
  type ActiveHello,
  ActiveHelloSchema,
  ActiveTreeFinishedSchema,
} from "../../wire/generated/tandem/v1/tandem_pb.ts";
import { protocolVersion } from "../../wire/version.ts";
import { decodeEntries } from "../chain/entries.ts";
import { digestOf, GradientDigest } from "../chain/message-digests.ts";
import { firstLink, PairChain } from "../chain/pair-chain.ts";
import { chainedRole } from "./chained-role.ts";

const none = new Uint8Array(0);
const introduction = { commitment: new Uint8Array(32), certificate: none };

/** A chained role that is ready for gradients, and its chain. */
async function ready() {
  const driver = drive(await generateKey({ bits: 256, insecure: true }));
  const chain = new PairChain(0, firstLink({ jobId: none, active: none, passive: none }));
  const { role } = driver;
  const chained = chainedRole(
    {
      join: (hello: ActiveHello) => driver.join({ protocolVersion: hello.protocolVersion }),
      setUp: (message) => role.setUp(message),
      gradients: (chunks) => role.gradients(chunks),
      histograms: (nodes) => role.histograms(nodes),
      order: (request) => role.order(request),
      splits: (request) => role.splits(request),
      hiddenSplits: (messages) => role.hiddenSplits(messages),
      finishTree: (finished) => role.finishTree(finished),
    },
    {
      own: introduction,
      joined: () => ({ chain, sign: () => none, verify: () => {} }),
      closed: () => Promise.resolve(),
    },
  );
  chained.join(create(ActiveHelloSchema, { protocolVersion }));
  await chained.setUp(await driver.setUpMessage());
  return { driver, chain, chained };
}

/** All of these, and then no end before it may. */
async function* until(end: Promise<void>, items: readonly ActiveGradients[]): AsyncGenerator<ActiveGradients> {
  yield* items;
  await end;
}

test("a late copy of an earlier tree's gradients takes nothing from those that are on their way", async () => {
  const { driver, chain, chained } = await ready();
  const [before, now] = [await collect(driver.chunks(0)), await collect(driver.chunks(1))];
  await chained.gradients(until(Promise.resolve(), before));
  const { entries, link: digest } = chain.closing();
  await chained.finishTree(create(ActiveTreeFinishedSchema, { tree: 0, entries, digest }));

  let end = (): void => {};
  const taken = chained.gradients(until(new Promise((resolve) => (end = resolve)), now));
  await new Promise((resolve) => setImmediate(resolve));
  await expectError(() => chained.gradients(until(Promise.resolve(), before)), "PROTOCOL_STATE", /./);
  end();
  await taken;

  const digests = new GradientDigest();
  for (const { scheme } of now) digests.add(scheme);
  const noted = decodeEntries(chain.closing().entries).filter(({ kind }) => kind === "sample" || kind === "gradients");
  expect(noted).toEqual([
    { kind: "sample", node: 0, digest: digestOf(none) },
    { kind: "gradients", node: 0, digest: digests.digest() },
  ]);
});
