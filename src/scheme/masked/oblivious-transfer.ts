/**
 * Masked scoring by oblivious transfer. Numbers are shared between parties as residues that add up to them. To multiply
 * with passive party p's bits, every party that has a share of a product sends it to p by correlated OT
 * (crypto/transfer/iknp-ot.ts): the sender then has a share of the product, and p another one. At first the active
 * party has all of it. Passive parties are processed in the order of the model.
 *
 *   active                                  passive p, one after the other     (per batch)
 *     rows                    -->
 *                             <--             a matrix for each sender: the active party, passive ones before p
 *     corrections of senders,
 *     matrices of later ones  -->             its shares; sends them to each later party that has a condition too
 *                             <--             corrections for later ones; the sums of its remaining shares
 *
 * Passive parties have no connection to each other: the active party relays their messages. It sees public keys,
 * points, matrices and corrections of transfers between them, as an eavesdropper would: without their keys these are
 * pseudorandom. The sums that passive parties return are masked with pairwise streams that cancel out, so the active
 * party learns the total and no party's part of it.
 *
 * A malicious active party can impersonate two passive parties to each other, or send marks instead of weights and
 * read conditions off the sums: up to 95 bits per row and output, or a few with score noise (score-noise.ts). From the
 * transfers themselves it learns no condition. A malicious passive party can falsify scores. To learn leaf weights, or
 * a later party's conditions, it has to guess secrets of a session, and a wrong guess ends the session (iknp-ot.ts).
 */
import type { Masking } from "./masking.ts";
import { TransferActive } from "./transfer-active.ts";
import { TransferPassive } from "./transfer-passive.ts";

export const obliviousTransfer: Masking = {
  name: "oblivious-transfer",
  active: (products) => new TransferActive(products),
  passive: (opening, conditions) => new TransferPassive(opening, conditions),
};
