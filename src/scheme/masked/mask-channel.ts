/** One passive party's end of masked scoring, as the active side calls it: a session is opened, then asked in steps. */
import type { MessageInitShape } from "@bufbuild/protobuf";
import { TandemError } from "../../base/error.ts";
import type {
  ActiveMaskOpenSchema,
  ActiveMaskStepSchema,
  MaskRowsSchema,
  PassiveMaskOpened,
  PassiveMaskStep,
} from "../../wire/generated/tandem/v1/masked_pb.ts";
import { protocolVersion, requirePassiveVersion } from "../../wire/version.ts";
import { conditionsMax } from "./masked-answerer.ts";
import type { PartyChannel } from "./masking.ts";
import type { PartyProducts } from "./products.ts";

/** A passive party of the model. */
export interface MaskedPeer {
  readonly name: string;
  maskOpen(request: MessageInitShape<typeof ActiveMaskOpenSchema>): Promise<PassiveMaskOpened>;
  maskStep(request: MessageInitShape<typeof ActiveMaskStepSchema>): Promise<PassiveMaskStep>;
}

/** Which model a session is about: by its id, or within a job the job's own or the one that it starts from. */
export type MaskedSubject = { readonly model: string } | { readonly startModel: boolean };

/** The party no longer has the session: it has restarted, or the session made room for others. */
export class SessionExpired extends Error {}

/** The steps of one batch; batch 0 sets the session up. */
export class MaskChannel implements PartyChannel {
  readonly #peer: MaskedPeer;
  readonly #session: Uint8Array;
  readonly #batch: number;

  constructor(peer: MaskedPeer, session: Uint8Array, batch: number) {
    this.#peer = peer;
    this.#session = session;
    this.#batch = batch;
  }

  async send(scheme: Uint8Array): Promise<Uint8Array> {
    return (await this.#step({ scheme })).scheme;
  }

  begin(rows: MessageInitShape<typeof MaskRowsSchema>): Promise<PassiveMaskStep> {
    return this.#step({ rows });
  }

  /** Checks that the party has the session and can score. */
  async ping(): Promise<void> {
    await this.#step({});
  }

  async #step(
    request: Pick<MessageInitShape<typeof ActiveMaskStepSchema>, "rows" | "scheme">,
  ): Promise<PassiveMaskStep> {
    const answer = await this.#peer.maskStep({ ...request, session: this.#session, batch: this.#batch });
    if (answer.expired) throw new SessionExpired();
    return answer;
  }
}

/** @throws TandemError USAGE if the party has too many splits, PROTOCOL_STATE if it answers for others than expected */
export async function openSession(
  peer: MaskedPeer,
  subject: MaskedSubject,
  { conditions, runs, splitCount }: PartyProducts,
  { masking, scheme, fitsOneMessage }: { readonly masking: string; scheme: Uint8Array; fitsOneMessage: boolean },
): Promise<PassiveMaskOpened> {
  if (conditions.length > conditionsMax || !fitsOneMessage)
    throw new TandemError(
      "USAGE",
      `masked scoring takes up to ${conditionsMax} splits of a party; ${peer.name} has ${conditions.length}`,
    );
  const opened = await peer.maskOpen({
    protocolVersion,
    ...subject,
    masking,
    literals: conditions.flat(),
    lengths: conditions.map(({ length }) => length),
    runs: [...runs],
    scheme,
  });
  requirePassiveVersion(opened.protocolVersion, peer.name);
  if (opened.splitCount !== splitCount)
    throw new TandemError(
      "PROTOCOL_STATE",
      `party ${peer.name} answers for ${opened.splitCount} splits; our share of the model has ${splitCount} of it`,
    );
  if (opened.idsMax < 1) throw new TandemError("PROTOCOL_STATE", `party ${peer.name} allows no id per request`);
  return opened;
}
