/**
 * Masked scoring by oblivious transfer. Numbers are shared between parties as residues that add up to them. To multiply
 * with passive party p's bits, everybody who has a share of a product sends it to p by correlated transfer
 * (crypto/transfer/extension.ts): the sender then has a share of the product, and p another one. At first the active
 * party has it all. Parties take their turns in the order of the model.
 *
 *   active                                  passive p, in turn                 (per batch)
 *     who is asked about      -->
 *                             <--             a matrix for each sender: the active party, passive ones before p
 *     corrections of senders,
 *     matrices of later ones  -->             its shares; sends them on to each later party that has a condition too
 *                             <--             corrections for later ones; what is left of its shares, summed up
 *
 * Passive parties have no connection to each other: the active party passes their messages on. It sees public keys,
 * points, matrices and corrections of transfers of which it has neither end. These are what a listener on the line
 * would see. Without either end's keys they are pseudorandom, and it follows the protocol in passing them on.
 * Sums that passive parties return are masked with streams that two of them share and that cancel out: so the active
 * party learns what all sums come to, and no party's part of it.
 *
 * Secure against semi-honest parties only. A malicious active party can impersonate two passive parties to each other,
 * read the condition bits from the extension matrix (base-transfer.ts), or send marks instead of weights, of any width,
 * and read conditions off the sums. A malicious passive party can falsify scores, read the condition bits of a later
 * passive party, and with the active party's 128 choices search for its leaf weights.
 */
import type { Masking } from "./masking.ts";
import { TransferActive } from "./transfer-active.ts";
import { TransferPassive } from "./transfer-passive.ts";

export const obliviousTransfer: Masking = {
  name: "oblivious-transfer",
  active: (products) => new TransferActive(products),
  passive: (opening, conditions) => new TransferPassive(opening, conditions),
};
