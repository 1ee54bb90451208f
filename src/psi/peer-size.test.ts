import { expect, test } from "vitest";
import { expectError } from "../../test/support/expect-error.ts";
import { intersectActive } from "./active-psi.ts";
import type { PsiPeer } from "./psi-peer.ts";
import { DistinctIds } from "./normalise.ts";
import { checkPeerSize, suspiciousOverlap, suspiciousSize } from "./peer-size.ts";

test("a party may bring as many ids as are allowed, and no more", () => {
  expect(() => checkPeerSize("shop", 100, 100)).not.toThrow();
  expect(() => checkPeerSize("shop", 101, 100)).toThrow(/shop brings 101 ids; at most 100 .* \(max_passive_ids\)/);
});

test("an alarm for what looks like guessing: far more ids than ours, or all of ours among many more", () => {
  expect(suspiciousSize(600, 30)).toBeNull();
  expect(suspiciousSize(601, 30)).toMatch(/more than 20 times the 30/);
  expect(suspiciousSize(601, 0)).toBeNull();
  expect(suspiciousOverlap(151, 30, 29)).toBeNull();
  expect(suspiciousOverlap(150, 30, 30)).toBeNull();
  expect(suspiciousOverlap(151, 30, 30)).toMatch(/all 30 ids of this party, among 151/);
  expect(suspiciousOverlap(151, 0, 0)).toBeNull();
});

test("one party that brings too many: no other party is sent a masked id either", async () => {
  const unasked = (): never => expect.fail("a masked id was sent");
  const peer = (name: string, passiveIdCount: number): PsiPeer => ({
    name,
    boundTo: "",
    begin: async () => ({ passiveIdCount }),
    remask: unasked,
    maskedIds: unasked,
    accept: unasked,
  });
  const alarms: string[] = [];
  await expectError(
    () =>
      intersectActive(DistinctIds.from(["a"]), [peer("small", 25), peer("large", 101)], {
        threads: 0,
        passiveIdCountMax: 100,
        onAlarm: (name) => alarms.push(name),
      }),
    "POLICY",
    /large brings 101 ids/,
  );
  expect(alarms).toEqual(["small"]);
});
