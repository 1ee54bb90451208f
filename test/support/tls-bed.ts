/** Services over TLS on loopback for the tests of one file; servers and connections are closed after each test. */
import { afterAll, afterEach, beforeAll } from "vitest";
import { generateKey, type PrivateKey, selectKernel } from "../../src/crypto/paillier/index.ts";
import { idsDigest } from "../../src/protocol/ids.ts";
import { proposedParameters } from "../../src/protocol/job-parameters.ts";
import type { PassiveService } from "../../src/transport/passive-service.ts";
import type { TlsPeer } from "../../src/transport/tls-connect.ts";
import type { TlsIdentity } from "../../src/transport/tls-settings.ts";
import type { PassivePeer } from "../../src/wire/peer.ts";
import { protocolVersion } from "../../src/wire/version.ts";
import { watchRejections } from "./expect-error.ts";
import { prepareJob, type PreparedJob } from "./prepared-job.ts";
import { randomTable } from "./tables.ts";
import { type Listening, listening, type TlsParties, tlsParties } from "./tls-pair.ts";

type Hello = Parameters<PassivePeer["join"]>[0];

export const table = randomTable("tls", { rows: 50, features: [1, 2, 2], missingFraction: 0.1 });

export class TlsBed {
  #made: { readonly parties: TlsParties; readonly key: PrivateKey } | null = null;
  readonly #cleanUps: (() => unknown)[] = [];

  constructor() {
    const rejections = watchRejections();
    beforeAll(async () => {
      this.#made = { parties: await tlsParties(), key: await generateKey({ bits: 256, insecure: true }) };
    });
    afterEach(async () => {
      for (const cleanUp of this.#cleanUps.splice(0).reverse()) await cleanUp();
    });
    afterAll(() => rejections.expectNone());
  }

  get #ready() {
    if (this.#made === null) throw new Error("a test has begun");
    return this.#made;
  }

  get parties(): TlsParties {
    return this.#ready.parties;
  }

  get key(): PrivateKey {
    return this.#ready.key;
  }

  atEnd(cleanUp: () => unknown): void {
    this.#cleanUps.push(cleanUp);
  }

  async served(service: PassiveService, own?: TlsIdentity): Promise<Listening> {
    const made = await listening(service, this.parties, own);
    this.atEnd(() => made.server.close());
    return made;
  }

  closing(peer: TlsPeer): TlsPeer {
    this.atEnd(() => peer.close());
    return peer;
  }

  /** One passive party and a hello that it accepts. */
  lonely(): { readonly job: PreparedJob; readonly service: PassiveService; readonly hello: Hello } {
    const job = prepareJob({ table, kernel: selectKernel(), key: this.key, training: { num_round: 1 } });
    const hello = {
      protocolVersion,
      activeName: "bank",
      instanceCount: 50,
      idsDigest: idsDigest(job.ids),
      parameters: proposedParameters(job.agreed),
    };
    return { job, service: job.passives[0].service, hello };
  }
}

export async function joined(peer: PassivePeer, hello: Hello, signal?: AbortSignal): Promise<AsyncIterator<unknown>> {
  const stream = peer.join(hello, signal === undefined ? {} : { signal })[Symbol.asyncIterator]();
  await stream.next();
  return stream;
}
