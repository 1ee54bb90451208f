/**
 * The active side of private set intersection (the protocol is drawn in passive-psi.ts). It runs against all passive
 * parties at the same time, then intersects the results. One secret serves all of them, so that own ids are masked
 * once. A passive party sees its own stream only.
 *
 * Memory: 4 bytes per own id, and per passive party 44 to 52 bytes per own id and 1 per id of that party. Besides, a
 * number of chunks that does not grow with the ids.
 *
 * @reveals passive: the number of ids that the active party holds; which of its own ids are common to all parties
 */
import { assert } from "../base/assert.ts";
import { TandemError } from "../base/error.ts";
import { type PsiOptions, type PsiPeer, type CallOptions, idCountMax, settled } from "./psi-peer.ts";
import { checkPeerSize, suspiciousOverlap, suspiciousSize } from "./peer-size.ts";
import { byAscendingId } from "./common-order.ts";
import { pointBytes } from "./curve25519.ts";
import { isSliceOver, nextSlice } from "../base/scheduling/event-loop-slice.ts";
import { hashDomain } from "./hash-to-curve.ts";
import { FanOutStream } from "./fan-out-stream.ts";
import { MaskingPool } from "./masking-pool.ts";
import type { DistinctIds } from "./normalise.ts";
import { checkedPoints, maskedIds, maskedPeerPoints } from "./point-chunks.ts";
import { PointTable } from "./point-table.ts";
import { PositionSet } from "./position-set.ts";
import { randomPermutation } from "./random-permutation.ts";

export interface PairwiseCounts {
  readonly peer: string;
  readonly idCount: number;
  /** Ids that the active party and this one hold; never sent. */
  readonly sharedCount: number;
}

export interface ActivePsiResult {
  /** The active party's rows of the instances common to all parties, in the common order. */
  readonly rows: Uint32Array;
  readonly pairwise: readonly PairwiseCounts[];
}

/** The ids that one passive party holds too. */
interface PeerMatch {
  readonly peer: PsiPeer;
  readonly idCount: number;
  /** Per own id, in sending order: its position in the peer's secret order, or `absent`. */
  readonly positions: Uint32Array;
  readonly sharedCount: number;
}

export interface ActivePsiOptions extends PsiOptions {
  /** How many ids each passive party may bring. */
  readonly passiveIdCountMax?: number;
  /** Called with the reason if a passive party seems to guess ids. The run continues. */
  readonly onAlarm?: (peer: string, reason: string) => void;
}

const absent = 0xffff_ffff;
const stepsPerLook = 4096;
/** Own masked ids that the slowest party has not taken yet: 32 MB. */
const chunksAheadMax = 512;

/**
 * @throws TandemError PROTOCOL_STATE if a passive party sends what the protocol does not allow, POLICY if it brings too
 *   many ids
 */
export async function intersectActive(
  ids: DistinctIds,
  peers: readonly PsiPeer[],
  options: ActivePsiOptions = {},
): Promise<ActivePsiResult> {
  assert(peers.length > 0, "at least one passive party");
  if (ids.ids.length > idCountMax)
    throw new TandemError("USAGE", `${ids.ids.length} ids are more than the ${idCountMax} that can be aligned`);
  const { threads, onProgress, random } = settled(options);
  const [{ boundTo }] = peers;
  assert(
    peers.every((peer) => peer.boundTo === boundTo),
    "all passive parties know the active one by the same certificate",
  );
  const abort = new AbortController();
  const call: CallOptions = { signal: abort.signal };
  const pool = new MaskingPool(threads);
  try {
    const activeIdCount = ids.ids.length;
    const peerIdCounts = await Promise.all(peers.map((peer) => begin(peer, ids, options, call)));
    const order = await randomPermutation(activeIdCount, random);
    const total = peerIdCounts.reduce((sum, count) => sum + activeIdCount + count, activeIdCount);
    let done = 0;
    const counted = async function* (chunks: AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array, void, undefined> {
      for await (const chunk of chunks) {
        done += chunk.length / pointBytes;
        onProgress(done, total);
        yield chunk;
      }
    };

    const ownMasked = new FanOutStream<Uint8Array>(peers.length, chunksAheadMax);
    const masking = ownMasked.fill(counted(maskedIds(ids.ids, order, pool, boundTo)));
    const matches = await Promise.all(
      peers.map(async (peer, p) => {
        const idCount = peerIdCounts[p];
        const table = new PointTable(activeIdCount, random);
        const remasked = checkedPoints(peer.remask(ownMasked.read(), call), activeIdCount, peer.name);
        await takeRemasked(table, counted(remasked), peer.name);
        const theirs = maskedPeerPoints(peer.maskedIds(call), idCount, peer.name, pool);
        const match = await matchPoints(table, counted(theirs), peer.name);
        alarm(peer.name, suspiciousOverlap(idCount, activeIdCount, match.sharedCount), options);
        return { peer, idCount, ...match };
      }),
    );
    await masking;

    const common = await commonIndices(matches, activeIdCount);
    await Promise.all(matches.map((match) => sendPositions(match, common, call)));
    const inOrder = await byAscendingId(
      ids.ids,
      common.map((sent) => order[sent]),
    );
    return {
      rows: inOrder.map((index) => ids.rows[index]),
      pairwise: matches.map(({ peer, idCount, sharedCount }) => ({ peer: peer.name, idCount, sharedCount })),
    };
  } catch (failure) {
    abort.abort(failure); // the other parties' streams end with this one's
    throw failure;
  } finally {
    pool.close();
  }
}

/** No masked id is sent before all passive parties have answered this. */
async function begin(peer: PsiPeer, ids: DistinctIds, options: ActivePsiOptions, call: CallOptions): Promise<number> {
  const offer = { hashDomain, normalisations: ids.normalisations, activeIdCount: ids.ids.length };
  const { passiveIdCount } = await peer.begin(offer, call);
  if (!Number.isInteger(passiveIdCount) || passiveIdCount < 0 || passiveIdCount > idCountMax) {
    throw new TandemError(
      "PROTOCOL_STATE",
      `${peer.name} brings ${passiveIdCount} ids; at most ${idCountMax} can be aligned`,
    );
  }
  checkPeerSize(peer.name, passiveIdCount, options.passiveIdCountMax ?? idCountMax);
  alarm(peer.name, suspiciousSize(passiveIdCount, ids.ids.length), options);
  return passiveIdCount;
}

function alarm(peer: string, reason: string | null, { onAlarm }: ActivePsiOptions): void {
  if (reason !== null) onAlarm?.(peer, reason);
}

/** Own ids under both secrets, in sending order. */
async function takeRemasked(table: PointTable, chunks: AsyncIterable<Uint8Array>, peerName: string): Promise<void> {
  for await (const chunk of chunks) {
    for (let offset = 0; offset < chunk.length; offset += pointBytes) {
      if (!table.add(chunk, offset))
        throw new TandemError("PROTOCOL_STATE", `${peerName} sent one point for two different ids`);
    }
  }
}

/** The peer's ids under both secrets, looked up among the own ones. */
async function matchPoints(
  table: PointTable,
  chunks: AsyncIterable<Uint8Array>,
  peerName: string,
): Promise<Pick<PeerMatch, "positions" | "sharedCount">> {
  const positions = new Uint32Array(table.size).fill(absent);
  let position = 0;
  let sharedCount = 0;
  for await (const chunk of chunks) {
    for (let offset = 0; offset < chunk.length; offset += pointBytes, position++) {
      const sent = table.indexOf(chunk, offset);
      if (sent === -1) continue;
      if (positions[sent] !== absent) throw new TandemError("PROTOCOL_STATE", `${peerName} sent the same id twice`);
      positions[sent] = position;
      sharedCount++;
    }
  }
  return { positions, sharedCount };
}

/** @returns the own ids, as places in the sending order, that every peer holds */
async function commonIndices(matches: readonly PeerMatch[], activeIdCount: number): Promise<Uint32Array> {
  const common = new Uint32Array(activeIdCount);
  let commonCount = 0;
  for (let sent = 0; sent < activeIdCount; sent++) {
    if (sent % stepsPerLook === 0 && isSliceOver()) await nextSlice();
    if (matches.every((match) => match.positions[sent] !== absent)) common[commonCount++] = sent;
  }
  return common.subarray(0, commonCount);
}

async function sendPositions(
  { peer, idCount, positions }: PeerMatch,
  common: Uint32Array,
  call: CallOptions,
): Promise<void> {
  const set = new PositionSet(idCount);
  for (let i = 0; i < common.length; i++) {
    if (i % stepsPerLook === 0 && isSliceOver()) await nextSlice();
    set.add(positions[common[i]]);
  }
  await peer.accept(set.size, set.ascending(), call);
}
