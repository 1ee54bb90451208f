/** A PsiPeer over any Connect transport: points and positions as numbered messages. */
import type { Transport } from "@connectrpc/connect";
import type { PsiPeer } from "../psi/psi-peer.ts";
import { Alignment } from "../wire/generated/tandem/v1/alignment_pb.ts";
import { protocolVersion } from "../wire/version.ts";
import { numbered, pointsOf } from "./numbered-points.ts";
import { clientOver } from "./client.ts";
import type { PeerOptions } from "./peer-client.ts";

/** @param boundTo the fingerprint of the active party's own certificate */
export function psiPeerOver(
  name: string,
  transport: Transport,
  job: string,
  validationFile = false,
  boundTo = "",
  options: PeerOptions = {},
): PsiPeer {
  const client = clientOver(Alignment, name, transport, { opening: "begin", isNaming: true, ...options });
  return {
    name,
    boundTo,
    begin: ({ hashDomain, normalisations, activeIdCount }, options) =>
      client.begin(
        { protocolVersion, job, hashDomain, normalisations: [...normalisations], activeIdCount, validationFile },
        options,
      ),
    remask: (points, options) => pointsOf(client.remask(numbered(points), options), `party ${name}`),
    maskedIds: (options) => pointsOf(client.maskedIds({}, options), `party ${name}`),
    accept: async (commonCount, positions, options) => {
      await client.accept(positionMessages(commonCount, positions), options);
    },
  };
}

/** Every message has the count; if there are no positions, one empty message is sent. */
async function* positionMessages(
  commonCount: number,
  chunks: AsyncIterable<Uint32Array>,
): AsyncGenerator<{ commonCount: number; positions: number[] }> {
  let sent = false;
  for await (const chunk of chunks) {
    sent = true;
    yield { commonCount, positions: Array.from(chunk) };
  }
  if (!sent) yield { commonCount, positions: [] };
}
