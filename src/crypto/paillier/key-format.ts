/**
 * Keys as JSON, format 1. Numbers are lowercase hexadecimal strings without leading zeros.
 *
 *   public:  { "format": "tandem-public-key/1", "bits": 2048, "n": "c3..." }
 *   private: { "format": "tandem-private-key/1", "bits": 2048, "n": "c3...",
 *              "p": { "prime": "..", "subprime": "..", "cofactor": "..", "generator": ".." }, "q": { the same } }
 *
 * with prime = 2 * cofactor * subprime + 1 and generator a generator of Z_prime^*. Parsing is strict: exactly these
 * fields, sizes that agree, primes that are prime. Errors name the field and never a value: they reach logs and peers.
 */
import { checkPrime } from "node:crypto";
import { open } from "node:fs/promises";
import { promisify } from "node:util";

import { writeFileAtomically } from "../../base/files/atomic-file.ts";
import { TandemError } from "../../base/error.ts";
import { bitLength, gcd } from "../integers.ts";
import { isGenerator, requireSecureBits } from "./key-generation.ts";
import { keyBitsMax, keyBitsMin, PrivateKey, PublicKey, publicKeyFormat, type SecretPrime } from "./keys.ts";

const checkPrimeAsync = promisify(checkPrime);

const privateKeyFormat = "tandem-private-key/1";
/** A 4096-bit private key takes about 6 kB. */
const keyTextCharactersMax = 32_768;
/** Factored by trial division when the generator is checked. */
const cofactorBitsMax = 24;

export interface ParseOptions {
  /** Allows keys below 2048 bits. */
  readonly insecure?: boolean;
}

export function serialisePublicKey(key: PublicKey): string {
  return key.canonicalForm();
}

/**
 * @throws TandemError KEY_FORMAT naming the field
 * @throws TandemError KEY_TOO_SHORT below 2048 bits unless `insecure` is set
 */
export function parsePublicKey(text: string, options: ParseOptions = {}): PublicKey {
  const fields = parseFields(parseJson(text), "", ["format", "bits", "n"]);
  parseFormat(fields["format"], publicKeyFormat);
  return new PublicKey(parseModulus(fields, options));
}

/** The private key in clear: only for writePrivateKey, never for logs. */
export function serialisePrivateKey(key: PrivateKey): string {
  const { p, q } = key.secretPrimes();
  const { publicKey } = key;
  return `${JSON.stringify(
    {
      format: privateKeyFormat,
      bits: publicKey.bits,
      n: publicKey.n.toString(16),
      p: serialiseSide(p),
      q: serialiseSide(q),
    },
    undefined,
    2,
  )}\n`;
}

function serialiseSide(secret: SecretPrime): Record<string, string> {
  return Object.fromEntries(sideFields.map((name) => [name, secret[name].toString(16)]));
}

/** @throws as parsePublicKey */
export async function parsePrivateKey(text: string, options: ParseOptions = {}): Promise<PrivateKey> {
  const fields = parseFields(parseJson(text), "", ["format", "bits", "n", "p", "q"]);
  parseFormat(fields["format"], privateKeyFormat);
  const n = parseModulus(fields, options);
  const [p, q] = [parseSide(fields["p"], "p", n), parseSide(fields["q"], "q", n)];
  if (p.prime === q.prime) throw malformed("q.prime", "must differ from p.prime");
  if (p.prime * q.prime !== n) throw malformed("n", "must be the product of p.prime and q.prime");
  await Promise.all([requireStrongPrime(p, "p"), requireStrongPrime(q, "q")]);
  if (gcd(n, (p.prime - 1n) * (q.prime - 1n)) !== 1n) throw malformed("n", "must share no factor with phi(n)");
  return new PrivateKey(p, q);
}

/**
 * Writes atomically, readable by the owner only.
 * @throws TandemError FILE_UNWRITABLE naming the file
 */
export async function writePrivateKey(path: string, key: PrivateKey): Promise<void> {
  await writeFileAtomically(path, serialisePrivateKey(key), 0o600);
}

/**
 * @throws TandemError FILE_UNREADABLE if there is no such file
 * @throws TandemError KEY_FORMAT for a file that others may read, and as parsePrivateKey
 */
export async function readPrivateKey(path: string, options: ParseOptions = {}): Promise<PrivateKey> {
  let text: string;
  try {
    const file = await open(path, "r");
    try {
      const { mode, size } = await file.stat();
      if (process.platform !== "win32" && (mode & 0o077) !== 0) {
        throw new TandemError("KEY_FORMAT", `${path}: other users may read this private key; run: chmod 600 '${path}'`);
      }
      if (size > keyTextCharactersMax) throw new TandemError("KEY_FORMAT", `${path}: too large for a key`);
      text = await file.readFile("utf8");
    } finally {
      await file.close();
    }
  } catch (cause) {
    if (cause instanceof TandemError) throw cause;
    throw new TandemError("FILE_UNREADABLE", `${path}: cannot read the private key`, { cause });
  }
  try {
    return await parsePrivateKey(text, options);
  } catch (error) {
    if (error instanceof TandemError) throw new TandemError(error.code, `${path}: ${error.message}`);
    throw error;
  }
}

const sideFields = ["prime", "subprime", "cofactor", "generator"] as const;

function malformed(field: string, problem: string): TandemError {
  return new TandemError("KEY_FORMAT", `key field '${field}' ${problem}`);
}

function parseJson(text: string): unknown {
  if (text.length > keyTextCharactersMax) throw new TandemError("KEY_FORMAT", "too large for a key");
  try {
    return JSON.parse(text);
  } catch {
    // No cause: V8's message quotes the text.
    throw new TandemError("KEY_FORMAT", "a key must be a JSON object");
  }
}

/** An object with exactly these fields. */
function parseFields(value: unknown, path: string, names: readonly string[]): Record<string, unknown> {
  if (typeof value !== "object" || value === null || Array.isArray(value)) {
    throw path === ""
      ? new TandemError("KEY_FORMAT", "a key must be a JSON object")
      : malformed(path, "must be an object");
  }
  const fields = new Map<string, unknown>(Object.entries(value));
  const prefix = path === "" ? "" : `${path}.`;
  for (const name of names) if (!fields.has(name)) throw malformed(prefix + name, "is missing");
  for (const name of fields.keys())
    if (!names.includes(name)) throw malformed(prefix + name.slice(0, 32), "is unknown");
  return Object.fromEntries(fields);
}

function parseFormat(value: unknown, expected: string): void {
  if (value !== expected) throw malformed("format", `must be '${expected}'`);
}

function parseInteger(value: unknown, field: string, bitsMax: number): bigint {
  if (typeof value !== "string" || !/^(0|[1-9a-f][0-9a-f]*)$/.test(value)) {
    throw malformed(field, "must be a lowercase hexadecimal string without leading zeros");
  }
  if (4 * value.length > bitsMax + 3) throw malformed(field, `must have at most ${bitsMax} bits`);
  return BigInt(`0x${value}`);
}

function parseModulus(fields: Record<string, unknown>, options: ParseOptions): bigint {
  const bits = fields["bits"];
  if (typeof bits !== "number" || !Number.isInteger(bits) || bits % 2 !== 0 || bits < keyBitsMin || bits > keyBitsMax) {
    throw malformed("bits", `must be an even integer from ${keyBitsMin} to ${keyBitsMax}`);
  }
  const n = parseInteger(fields["n"], "n", bits);
  if (bitLength(n) !== bits) throw malformed("n", "must have exactly 'bits' bits");
  if (n % 2n === 0n) throw malformed("n", "must be odd");
  requireSecureBits(bits, options.insecure ?? false);
  return n;
}

function parseSide(value: unknown, side: string, n: bigint): SecretPrime {
  const fields = parseFields(value, side, sideFields);
  const bits = bitLength(n) / 2;
  const prime = parseInteger(fields["prime"], `${side}.prime`, bits);
  const subprime = parseInteger(fields["subprime"], `${side}.subprime`, bits);
  const cofactor = parseInteger(fields["cofactor"], `${side}.cofactor`, cofactorBitsMax);
  const generator = parseInteger(fields["generator"], `${side}.generator`, bits);
  if (prime >> BigInt(bits - 2) !== 3n)
    throw malformed(`${side}.prime`, "must have half the bits of n, the top two set");
  if (cofactor === 0n) throw malformed(`${side}.cofactor`, "must not be zero");
  if (prime !== 2n * cofactor * subprime + 1n) throw malformed(`${side}.prime`, "must be 2 * cofactor * subprime + 1");
  return { prime, subprime, cofactor, generator };
}

async function requireStrongPrime(secret: SecretPrime, side: string): Promise<void> {
  if (!(await checkPrimeAsync(secret.prime))) throw malformed(`${side}.prime`, "must be prime");
  if (!(await checkPrimeAsync(secret.subprime))) throw malformed(`${side}.subprime`, "must be prime");
  if (!isGenerator(secret)) throw malformed(`${side}.generator`, "must generate the group modulo the prime");
}
