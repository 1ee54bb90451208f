/**
 * The key from which everybody draws the public rows of an attempt. Every passive party brings a fresh nonce, so that
 * nobody can choose the rows, or have the same ones twice. The list is padded to a multiple of 16: it does not tell how
 * many passive parties there are.
 *
 *   key = first 16 bytes of SHAKE256("tandem/lattice/1/crs" || run || active nonce || the list)
 *
 * A run's name is shorter than a nonce, and all else has whole nonces: the length tells where the name ends, so no two
 * inputs give the same bytes.
 */
import { createHash } from "node:crypto";
import { TandemError } from "../../base/error.ts";
import type { SecureRandom } from "../../base/random.ts";
import { commonKeyBytes } from "./portable/streams.ts";

export const nonceBytes = 32;
const listUnit = 16;
const listMax = 1024;

/** A list that holds the passive parties' nonces, among random ones. */
export function nonceList(nonces: readonly Uint8Array[], random: SecureRandom): Uint8Array[] {
  const paddedCount = Math.max(1, Math.ceil(nonces.length / listUnit)) * listUnit;
  const padding = Array.from({ length: paddedCount - nonces.length }, () => random.fill(new Uint8Array(nonceBytes)));
  const list = [...nonces, ...padding];
  // Random bytes, so their order tells nothing of whose they are.
  list.sort((a, b) => Buffer.compare(a, b));
  checkNonceList(list);
  return list;
}

/**
 * What a passive party asks of the list before it draws rows from it.
 * @throws TandemError PROTOCOL_STATE
 */
export function checkOwnNonce(list: readonly Uint8Array[], own: Uint8Array): void {
  checkNonceList(list);
  if (list.some((nonce) => Buffer.compare(nonce, own) === 0)) return;
  throw new TandemError("PROTOCOL_STATE", "the active party's list of nonces lacks this party's own");
}

function checkNonceList(list: readonly Uint8Array[]): void {
  if (list.length === 0 || list.length % listUnit !== 0 || list.length > listMax) {
    throw new TandemError(
      "PROTOCOL_STATE",
      `a list of nonces has a multiple of ${listUnit} and at most ${listMax} of them; got ${list.length}`,
    );
  }
  list.forEach(checkNonce);
  if (new Set(list.map((nonce) => Buffer.from(nonce).toString("hex"))).size === list.length) return;
  throw new TandemError("PROTOCOL_STATE", "a nonce stands in the list twice");
}

function checkNonce(nonce: Uint8Array): void {
  if (nonce.length === nonceBytes) return;
  throw new TandemError("PROTOCOL_STATE", `a nonce has ${nonceBytes} bytes; got ${nonce.length}`);
}

/**
 * @param run what names the job to both sides
 * @throws TandemError PROTOCOL_STATE where a length is wrong
 */
export function commonKey(run: Uint8Array, activeNonce: Uint8Array, list: readonly Uint8Array[]): Uint8Array {
  if (run.length >= nonceBytes) {
    throw new TandemError("PROTOCOL_STATE", `a run's name has fewer than ${nonceBytes} bytes; got ${run.length}`);
  }
  checkNonce(activeNonce);
  checkNonceList(list);
  const hash = createHash("shake256", { outputLength: commonKeyBytes }).update("tandem/lattice/1/crs").update(run);
  hash.update(activeNonce);
  for (const nonce of list) hash.update(nonce);
  return new Uint8Array(hash.digest());
}
