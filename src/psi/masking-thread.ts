/**
 * The work of one masking thread: X25519 (RFC 7748) of many points under one secret, through node:crypto.
 *
 * Both functions are handed to a worker as source text (masking-pool.ts): Node 20 cannot load TypeScript into a worker,
 * and the same code must run from src under the tests and from dist. So they use their parameters only, no import.
 */
import type { createPublicKey, diffieHellman, KeyObject } from "node:crypto";

export interface X25519 {
  readonly createPublicKey: typeof createPublicKey;
  readonly diffieHellman: typeof diffieHellman;
}

export interface MaskingPort {
  on(event: "message", listener: (message: MaskingMessage) => void): void;
  postMessage(message: Uint8Array, transfer: ArrayBuffer[]): void;
}

/** First the secret, once; then points. Each message of points is answered by one of masked points. */
export type MaskingMessage = { readonly key: KeyObject } | { readonly points: Uint8Array<ArrayBuffer> };

/**
 * Replaces points[first..end) by their masks. A point of small order, which no honest party sends, becomes zero: that
 * is its X25519 by RFC 7748, but OpenSSL throws instead.
 */
export function maskPoints(x25519: X25519, key: KeyObject, points: Uint8Array, first: number, end: number): void {
  const bytes = Buffer.from(points.buffer, points.byteOffset, points.length);
  for (let offset = 32 * first; offset < 32 * end; offset += 32) {
    // A JWK is imported in 8 us, DER in 100.
    const x = bytes.toString("base64url", offset, offset + 32);
    const publicKey = x25519.createPublicKey({ key: { kty: "OKP", crv: "X25519", x }, format: "jwk" });
    try {
      bytes.set(x25519.diffieHellman({ privateKey: key, publicKey }), offset);
    } catch {
      bytes.fill(0, offset, offset + 32);
    }
  }
}

export function serveMasking(port: MaskingPort, x25519: X25519, mask: typeof maskPoints): void {
  let key: KeyObject;
  port.on("message", (message) => {
    if ("key" in message) {
      key = message.key;
      return;
    }
    const { points } = message;
    mask(x25519, key, points, 0, points.length / 32);
    port.postMessage(points, [points.buffer]);
  });
}
