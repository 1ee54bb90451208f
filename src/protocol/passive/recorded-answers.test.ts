/** The chain of a passive role: which copy of a duplicate message it records. */
import { create } from "@bufbuild/protobuf";
import { expect, test } from "vitest";
import { expectError } from "../../../test/support/expect-error.ts";
import { drive } from "../../../test/support/passive-driver.ts";
import { collect } from "../../../test/support/streams.ts";
import { generateKey } from "../../crypto/paillier/index.ts";
import { callsTo, everyCall } from "../../wire/every-call.ts";
import {
  type ActiveGradients,
  type ActiveHello,
  ActiveHelloSchema,
  type ActiveSetUp,
  type ActiveTreeFinished,
  PassiveParty,
} from "../../wire/generated/tandem/v1/tandem_pb.ts";
import type { PassivePeer } from "../../wire/peer.ts";
import { protocolVersion } from "../../wire/version.ts";
import { digests } from "../chain/digests.ts";
import { decodeEntries } from "../chain/entries.ts";
import { firstLink, PairChain } from "../chain/pair-chain.ts";
import type { PassivePairRecord } from "../chain/record.ts";
import { recordedAnswers } from "./recorded-answers.ts";

const none = new Uint8Array(0);
const introduction = { commitment: new Uint8Array(32), certificate: none };

/** A recorded role that is ready for gradients, and its chain. */
async function ready() {
  const driver = drive(await generateKey({ bits: 256, insecure: true }));
  const chain = new PairChain(0, firstLink({ jobId: none, active: none, passive: none }));
  const { role } = driver;
  const record: PassivePairRecord = {
    own: introduction,
    joined: () => ({
      chain,
      sign: () => none,
      verify: () => {},
      signGradients: () => ({ signature: none }),
      verifyGradients: () => {},
      signAnswer: () => none,
      verifyAnswer: () => {},
    }),
    closed: () => Promise.resolve(),
  };
  const answers = {
    join: (hello: ActiveHello) => driver.join({ protocolVersion: hello.protocolVersion }),
    setUp: (message: ActiveSetUp) => role.setUp(message),
    gradients: (chunks: AsyncIterable<ActiveGradients>) => role.answers.gradients(chunks),
    finishTree: (finished: ActiveTreeFinished) => role.answers.finishTree(finished),
  };
  const recorded = everyCall<PassivePeer, object>(PassiveParty, recordedAnswers<object>(record)(callsTo(answers)));
  for await (const _ of recorded.join(create(ActiveHelloSchema, { protocolVersion }), {}));
  await recorded.setUp(await driver.setUpMessage(), {});
  return { driver, chain, recorded };
}

/** Yields all messages, then waits before it ends. */
async function* until(end: Promise<void>, items: readonly ActiveGradients[]): AsyncGenerator<ActiveGradients> {
  yield* items;
  await end;
}

test("a late copy of an earlier tree's gradients does not disturb those in flight", async () => {
  const { driver, chain, recorded } = await ready();
  const [before, now] = [await collect(driver.chunks(0)), await collect(driver.chunks(1))];
  await recorded.gradients(until(Promise.resolve(), before), {});
  const { entries, link: digest } = chain.closing();
  await recorded.finishTree({ tree: 0, entries, digest }, {});

  let end = (): void => {};
  const taken = recorded.gradients(until(new Promise((resolve) => (end = resolve)), now), {});
  await new Promise((resolve) => setImmediate(resolve));
  await expectError(() => recorded.gradients(until(Promise.resolve(), before), {}), "PROTOCOL_STATE", /./);
  end();
  await taken;

  const gradients = digests.bytes(...now.filter(({ last }) => !last).map(({ scheme }) => digests.bytes(scheme)));
  const noted = decodeEntries(chain.closing().entries).filter(({ kind }) => kind === "sample" || kind === "gradients");
  expect(noted).toEqual([
    { kind: "sample", node: 0, digest: digests.bytes(none) },
    { kind: "gradients", node: 0, digest: gradients },
  ]);
});
