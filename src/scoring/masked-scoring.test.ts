import { create } from "@bufbuild/protobuf";
import { expect, test } from "vitest";
import { expectError } from "../../test/support/expect-error.ts";
import { TandemError } from "../base/error.ts";
import type { MaskedPeer } from "../scheme/masked/mask-channel.ts";
import { PassiveMaskOpenedSchema, PassiveMaskStepSchema } from "../wire/generated/tandem/v1/masked_pb.ts";
import type { ScoringPeer } from "../wire/scoring-peer.ts";
import { MaskedPartners } from "./masked-scoring.ts";
import type { OnQuestion } from "./scoring-question.ts";

/** Answers every call, and keeps the time-outs that it was given. */
function shop(name: string, given: number[], failure: TandemError | null = null): ScoringPeer {
  const answer = async <T>(value: T, timeoutMs: number): Promise<T> => {
    given.push(timeoutMs);
    if (failure !== null) throw failure;
    return value;
  };
  return {
    name,
    score: () => Promise.reject(new Error("the model is masked")),
    tags: () => Promise.reject(new Error("the model is masked")),
    contributions: () => Promise.reject(new Error("the model is masked")),
    maskOpen: (_request, { timeoutMs }) => answer(create(PassiveMaskOpenedSchema), timeoutMs),
    maskStep: (_request, { timeoutMs }) => answer(create(PassiveMaskStepSchema), timeoutMs),
  };
}

const reported: [string, string | null][] = [];
const onQuestion: OnQuestion = ({ party, error }) => void reported.push([party, error?.code ?? null]);

test("a question is reported once per party, and a failure under the name of the party whose call failed", async () => {
  const lost = new TandemError("PARTY_LOST", "gone");
  const peers = [shop("shop1", []), shop("shop2", [], lost)];
  const good = new MaskedPartners(peers.slice(0, 1), 1000, 3, onQuestion);
  await good.ask(async ([peer]) => {
    await peer.maskStep({ batch: 1 });
    await peer.maskStep({ batch: 1 });
  });
  expect(reported.splice(0)).toEqual([["shop1", null]]);
  const bad = new MaskedPartners(peers, 1000, 3, onQuestion);
  await expectError(() => bad.ask(([, peer]) => peer.maskStep({ batch: 1 })), "PARTY_LOST", /^gone$/);
  expect(reported.splice(0)).toEqual([["shop2", "PARTY_LOST"]]);
  expect([...bad.failures]).toEqual([["shop2", lost]]);
  // An error that no call failed with may be any party's.
  const unclear = new MaskedPartners(peers, 1000, 3, onQuestion);
  await expectError(
    () => unclear.ask(() => Promise.reject(new TandemError("PROTOCOL_STATE", "odd"))),
    "PROTOCOL_STATE",
  );
  expect(reported.splice(0).map(([party]) => party)).toEqual(["shop1", "shop2"]);
});

test("a question has its deadline, and a set-up may continue after it", async () => {
  const given: number[] = [];
  const partners = new MaskedPartners([shop("shop1", given)], 5, 1, onQuestion);
  let end = (): void => {};
  const setUp = new Promise<void>((resolve) => (end = resolve));
  const calls = async ([peer]: readonly MaskedPeer[]): Promise<void> => {
    await setUp;
    await peer.maskOpen({});
    await peer.maskStep({ batch: 0, scheme: Uint8Array.of(1) });
    await peer.maskStep({ batch: 0 });
    await peer.maskStep({ batch: 1 });
  };
  let late: Promise<void> = Promise.resolve();
  await expectError(
    () => partners.ask((peers) => (late = calls(peers))),
    "PARTY_LOST",
    /party shop1 did not answer in time/,
  );
  end();
  await late;
  expect(given.map((ms) => ms >= 10_000)).toEqual([true, true, false, false]);
});
