/**
 * Features by id from an HTTP service of this company (docs/serving.md has the contract): POST with the ids and the
 * names of the features, and the answer is an object from ids to objects of features.
 */
import { request as httpRequest, type RequestOptions } from "node:http";
import { Agent, request as httpsRequest } from "node:https";
import { checkServerIdentity, type PeerCertificate } from "node:tls";
import * as z from "zod";
import { TandemError } from "../../base/error.ts";
import { readToken } from "../../base/files/token-file.ts";
import { type CertificateFiles, readCertificates } from "../query/server-identity.ts";
import { codeAndMessage, connectionWords } from "../query/server-trouble.ts";
import type { TextRow } from "../query/row-batches.ts";
import { type FeatureLookup, type FoundRows, type LookupRequest, partsOf } from "./lookup.ts";

export interface FeatureService extends CertificateFiles {
  readonly url: string;
  /** The service's certificate must also be this one. */
  readonly fingerprint?: string | undefined;
  /** A file with a token that requests carry. */
  readonly token_file?: string | undefined;
  readonly response_bytes: number;
}

export const httpField = "scoring.features.http";

/** Ids of one request; longer lists are asked for in several. */
const idsPerRequest = 1000;
/** Errors that another attempt may mend, while there is time: of the connection, or of a service that is overloaded. */
const attempts = 2;
const passingStatuses = new Set([429, 502, 503, 504]);

const cell = z.union([z.number(), z.string(), z.boolean(), z.null()]);
const answerSchema = z.record(z.string(), z.record(z.string(), cell));

export class HttpLookup implements FeatureLookup {
  readonly field = httpField;
  readonly #service: FeatureService;
  #agent: Agent | null = null;

  constructor(service: FeatureService) {
    this.#service = service;
  }

  async find({ ids, id, features }: LookupRequest, signal: AbortSignal): Promise<FoundRows> {
    const rows: TextRow[] = [];
    try {
      const options = await this.#options();
      for (const part of partsOf(ids, idsPerRequest)) {
        const text = await this.#ask(JSON.stringify({ ids: part, features }), options, signal);
        for (const row of rowsOf(text, part, features)) rows.push(row);
      }
    } catch (error) {
      throw serviceTrouble(error);
    }
    return { names: [id, ...features], rows };
  }

  close(): Promise<void> {
    this.#agent?.destroy();
    this.#agent = null;
    return Promise.resolve();
  }

  /** Once more where that may help. */
  async #ask(body: string, options: RequestOptions, signal: AbortSignal): Promise<string> {
    for (let attempt = 1; ; attempt++) {
      const mayRetry = attempt < attempts && !signal.aborted;
      try {
        const { status, text } = await this.#post(body, options, signal);
        if (status === 200) return text;
        if (!mayRetry || !passingStatuses.has(status))
          throw wrong("FILE_UNREADABLE", `the service answers with status ${status}`);
      } catch (error) {
        if (error instanceof TandemError || !mayRetry) throw error;
      }
    }
  }

  /** The token is read for every request: it may be renewed. */
  async #options(): Promise<RequestOptions> {
    const { url, token_file: tokenFile, insecureFiles: insecure = false, fingerprint } = this.#service;
    const token = tokenFile === undefined ? null : await readToken(tokenFile, insecure);
    const headers = {
      "content-type": "application/json",
      accept: "application/json",
      ...(token === null ? {} : { authorization: `Bearer ${token}` }),
    };
    if (!url.startsWith("https:")) return { method: "POST", headers };
    this.#agent ??= new Agent({
      keepAlive: true,
      minVersion: "TLSv1.2",
      ...(await readCertificates(this.#service)),
      ...(fingerprint === undefined ? {} : { checkServerIdentity: pinned(fingerprint) }),
    });
    return { method: "POST", headers, agent: this.#agent };
  }

  #post(body: string, options: RequestOptions, signal: AbortSignal): Promise<{ status: number; text: string }> {
    const { url, response_bytes: bytesMax } = this.#service;
    const send = url.startsWith("https:") ? httpsRequest : httpRequest;
    return new Promise((resolve, reject) => {
      const request = send(url, { ...options, signal }, (response) => {
        const status = response.statusCode ?? 0;
        const chunks: Buffer[] = [];
        let size = 0;
        response.on("data", (chunk: Buffer) => {
          size += chunk.length;
          chunks.push(chunk);
          if (size > bytesMax)
            response.destroy(wrong("FILE_FORMAT", `the answer has more than ${bytesMax} bytes (response_bytes)`));
        });
        response.once("end", () => resolve({ status, text: Buffer.concat(chunks).toString("utf8") }));
        response.once("error", reject);
        response.once("close", () => reject(new Error("the connection ended")));
      });
      request.once("error", reject);
      request.end(body);
    });
  }
}

/** The certificate must be signed as usual, and be this one. */
function pinned(fingerprint: string): (host: string, certificate: PeerCertificate) => Error | undefined {
  return (host, certificate) => {
    const found = certificate.fingerprint256.replaceAll(":", "").toLowerCase();
    if (found !== fingerprint) return Object.assign(new Error("another certificate"), { code: "ERR_CERT_PINNED" });
    return checkServerIdentity(host, certificate);
  };
}

/** @throws TandemError FILE_FORMAT, without a value or an id */
function rowsOf(text: string, ids: readonly string[], features: readonly string[]): TextRow[] {
  const answer = answerSchema.safeParse(parsed(text));
  if (!answer.success)
    throw wrong(
      "FILE_FORMAT",
      "the answer must be an object from ids to objects of numbers, texts, true, false or null",
    );
  const people = new Map(Object.entries(answer.data));
  return ids.flatMap((id) => {
    const person = people.get(id);
    if (person === undefined) return [];
    const values = new Map(Object.entries(person));
    return [[id, ...features.map((name) => cellOf(values.get(name), name))]];
  });
}

function cellOf(value: z.output<typeof cell> | undefined, name: string): string | null {
  if (value === undefined)
    throw wrong("FILE_FORMAT", `the answer has a person without the feature '${name}'. A missing value must be null`);
  if (typeof value === "boolean") return value ? "1" : "0";
  return typeof value === "number" ? String(value) : value;
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return null;
  }
}

function wrong(code: "FILE_UNREADABLE" | "FILE_FORMAT", words: string): TandemError {
  return new TandemError(code, `${httpField}: ${words}`);
}

function serviceTrouble(error: unknown): TandemError {
  if (error instanceof TandemError) return error;
  const { code, message } = codeAndMessage(error);
  if (code === "ERR_CERT_PINNED")
    return wrong("FILE_UNREADABLE", "the service has another certificate than 'fingerprint' says");
  return wrong(
    "FILE_UNREADABLE",
    (connectionWords(code, message) ?? "the request failed").replace("server", "service"),
  );
}
