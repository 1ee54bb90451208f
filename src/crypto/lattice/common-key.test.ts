import { createHash } from "node:crypto";
import { expect, test } from "vitest";
import { expectError } from "../../../test/support/expect-error.ts";
import { osRandom } from "../../base/random.ts";
import { checkOwnNonce, commonKey, nonceList } from "./common-key.ts";

const nonce = (): Uint8Array => osRandom.fill(new Uint8Array(32));
const run = new Uint8Array(16).fill(9);

test("the key is SHAKE256 over name, run, the active nonce and the list", () => {
  const active = nonce();
  const list = nonceList([nonce(), nonce()], nonce);
  const text = Buffer.concat([Buffer.from("tandem/lattice/1/crs"), run, active, ...list]);
  const expected = createHash("shake256", { outputLength: 32 }).update(text).digest().subarray(0, 16);
  expect(Buffer.from(commonKey(run, active, list)).equals(expected)).toBe(true);
  expect(commonKey(run, nonce(), list)).not.toEqual(commonKey(run, active, list));
});

test("a list is padded to a multiple of 16, and contains every party's nonce", () => {
  for (const count of [0, 1, 16, 17]) {
    const own = Array.from({ length: count }, nonce);
    const list = nonceList(own, nonce);
    expect(list.length).toBe(count <= 16 ? 16 : 32);
    for (const one of own) expect(() => checkOwnNonce(list, one)).not.toThrow();
  }
});

test("a list without the party's own nonce and a malformed list are rejected", async () => {
  const own = nonce();
  const list = nonceList([own], nonce);
  await expectError(() => checkOwnNonce(nonceList([], nonce), own), "PROTOCOL_STATE", /lacks this party's own/);
  await expectError(() => checkOwnNonce(list.slice(1), own), "PROTOCOL_STATE", /multiple of 16/);
  await expectError(() => checkOwnNonce([], own), "PROTOCOL_STATE", /multiple of 16/);
  const long = Array.from({ length: 1040 }, nonce);
  await expectError(() => checkOwnNonce(long, long[0]), "PROTOCOL_STATE", /at most 1024/);
  await expectError(() => checkOwnNonce([...list.slice(1), nonce().subarray(1)], own), "PROTOCOL_STATE", /32 bytes/);
  await expectError(() => nonceList([own, own], nonce), "PROTOCOL_STATE", /duplicate/);
  await expectError(() => commonKey(new Uint8Array(32), own, list), "PROTOCOL_STATE", /fewer than 32/);
  await expectError(() => commonKey(run, own.subarray(1), list), "PROTOCOL_STATE", /32 bytes; got 31/);
});
