/**
 * The key from which all parties draw the public rows of a job. Every party contributes a nonce of its own secret, so
 * no party can choose the rows or repeat those of another job. The list is padded to a multiple of 16, so its length
 * does not reveal the number of passive parties.
 *
 *   key = first 16 bytes of SHAKE256("tandem/lattice/1/crs" || run || active nonce || the list)
 *
 * A run's name is shorter than a nonce, and everything after it consists of whole nonces: the total length determines
 * where the name ends, so no two inputs give the same bytes.
 */
import { createHash } from "node:crypto";
import { TandemError } from "../../base/error.ts";
import { commonKeyBytes } from "./portable/streams.ts";

export const nonceBytes = 32;
const listUnit = 16;
const listMax = 1024;

/** A list of the passive parties' nonces and padding. @param pad a nonce by its index: secret ones look random */
export function nonceList(nonces: readonly Uint8Array[], pad: (index: number) => Uint8Array): Uint8Array[] {
  const paddedCount = Math.max(1, Math.ceil(nonces.length / listUnit)) * listUnit;
  const padding = Array.from({ length: paddedCount - nonces.length }, (_, i) => pad(i));
  const list = [...nonces, ...padding];
  // Random bytes, so sorting them does not reveal their owners.
  list.sort((a, b) => Buffer.compare(a, b));
  checkNonceList(list);
  return list;
}

/**
 * A passive party's check of the list before it draws rows from it.
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
  throw new TandemError("PROTOCOL_STATE", "the list of nonces contains a duplicate");
}

function checkNonce(nonce: Uint8Array): void {
  if (nonce.length === nonceBytes) return;
  throw new TandemError("PROTOCOL_STATE", `a nonce has ${nonceBytes} bytes; got ${nonce.length}`);
}

/**
 * @param run identifies the job for both parties
 * @throws TandemError PROTOCOL_STATE if a length is wrong
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
