/**
 * Probes a passive party over a connection of its own, which a caller has opened step by step: what its party says of
 * itself, and how long bytes take.
 */
import { createClient } from "@connectrpc/connect";
import { createGrpcTransport } from "@connectrpc/connect-node";
import type { TLSSocket } from "node:tls";
import { Diagnosis, type PassiveProbe } from "../wire/generated/tandem/v1/diagnosis_pb.ts";
import { protocolVersion } from "../wire/version.ts";
import { PinnedSessionManager } from "./pinned-session.ts";
import { messageLimits } from "./tls-settings.ts";

export interface ProbeRequest {
  readonly sentBytes?: number;
  readonly answerBytes?: number;
  /** Of the job that follows; left out: none does. */
  readonly training?: { readonly enableCategorical: boolean };
}

export class Prober {
  readonly #sessions: PinnedSessionManager;
  readonly #client;

  /** @param socket authenticated; it is not pinged, so that a device between the parties sees it idle */
  constructor(socket: TLSSocket) {
    const silent = { pingIntervalMs: 1e9, pingTimeoutMs: 20_000 };
    const baseUrl = "https://party";
    this.#sessions = new PinnedSessionManager(baseUrl, { ...silent, isReplaced: false }, () => Promise.resolve(socket));
    this.#client = createClient(
      Diagnosis,
      createGrpcTransport({ baseUrl, sessionManager: this.#sessions, ...messageLimits }),
    );
  }

  /** @throws the error of the wire, or RefusedByPeer if the party refuses this party's certificate */
  async probe({ sentBytes = 0, answerBytes = 0, training }: ProbeRequest, timeoutMs: number): Promise<PassiveProbe> {
    const request = {
      protocolVersion,
      data: new Uint8Array(sentBytes),
      answerBytes,
      ...(training === undefined ? {} : { training }),
    };
    try {
      return await this.#client.probe(request, { timeoutMs });
    } catch (error) {
      throw this.#sessions.refusal ?? error;
    }
  }

  close(): void {
    this.#sessions.abort();
  }
}
