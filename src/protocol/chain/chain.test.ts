/** The chain of one pair: what both parties must have seen, and what a link covers. */
import { describe, expect, test } from "vitest";
import { expectError } from "../../../test/support/expect-error.ts";
import { commitmentTo } from "./commitment.ts";
import { entryFacts, type EntryKind } from "../../messages/table.ts";
import { decodeEntries, encodeEntries, TreeEntries } from "./entries.ts";
import { firstLink, nextLink, PairChain, signedText } from "./pair-chain.ts";

const entryKinds = Object.keys(entryFacts) as EntryKind[];
const digest = (byte: number): Uint8Array => new Uint8Array(32).fill(byte);
const beginning = firstLink({ jobId: digest(1), active: digest(2), passive: digest(3) });

test("the order of messages in time does not matter; their contents, kinds and nodes do", async () => {
  const noted = (...notes: (readonly [EntryKind, number, number])[]): TreeEntries => {
    const entries = new TreeEntries();
    for (const [kind, node, byte] of notes) entries.note(kind, node, digest(byte));
    return entries;
  };
  const one = noted(["members", 3, 1], ["gradients", 0, 2], ["answer", 3, 3]);
  const other = noted(["answer", 3, 3], ["members", 3, 1], ["gradients", 0, 2]);
  expect(one.encoded()).toEqual(other.encoded());
  one.check(other.encoded());
  const refused = async (entries: TreeEntries, what: RegExp): Promise<unknown> =>
    expectError(() => one.check(entries.encoded()), "PROTOCOL_STATE", what);
  await refused(noted(["members", 3, 9], ["gradients", 0, 2], ["answer", 3, 3]), /the members of node 3/);
  await refused(noted(["members", 4, 1], ["gradients", 0, 2], ["answer", 3, 3]), /node 3/);
  await refused(noted(["members", 3, 1], ["answer", 3, 3]), /the gradients/);
  await refused(noted(["sample", 0, 5], ["members", 3, 1], ["gradients", 0, 2], ["answer", 3, 3]), /the sample/);
  await refused(noted(["members", 3, 1], ["gradients", 0, 2]), /the answer about node 3/);
  await refused(noted(["members", 3, 1], ["gradients", 0, 2], ["answer", 3, 3], ["sums", 3, 4]), /the sums of node 3/);
});

test("sums may be sent again in other ciphertexts, all accepted; other messages may not change", async () => {
  const entries = new TreeEntries();
  for (const byte of [1, 2]) entries.note("sums", 0, digest(byte));
  for (const byte of [1, 2]) entries.check(encodeEntries([{ kind: "sums", node: 0, digest: digest(byte) }]));
  const other = encodeEntries([{ kind: "sums", node: 0, digest: digest(3) }]);
  await expectError(() => entries.check(other), "PROTOCOL_STATE", /the sums of node 0/);
  const fresh = entryKinds.filter((kind) => entryFacts[kind].isFresh);
  expect(fresh).toEqual(["sums", "comparisons", "compared"]);
  for (const kind of entryKinds.filter((each) => !fresh.includes(each))) {
    const once = new TreeEntries();
    once.note(kind, 0, digest(1));
    once.note(kind, 0, digest(1));
    await expectError(() => once.note(kind, 0, digest(2)), "PROTOCOL_STATE", /conflicting duplicate message/);
  }
});

test("tags that are in stored evidence stay what they are", () => {
  const tags = Object.fromEntries(entryKinds.map((kind) => [kind, entryFacts[kind].tag]));
  const released = { terms: 0, "set-up": 1, ready: 2, sample: 3, gradients: 4, members: 5, answer: 6, sums: 7 };
  expect(tags).toMatchObject({ ...released, order: 8, decision: 9, outcome: 10, choices: 11 });
});

test("truncated lists of digests, or with unknown kinds, are refused", async () => {
  const encoded = encodeEntries([{ kind: "sample", node: 7, digest: digest(1) }]);
  expect(decodeEntries(encoded)).toEqual([{ kind: "sample", node: 7, digest: digest(1) }]);
  await expectError(() => decodeEntries(encoded.subarray(1)), "PROTOCOL_STATE", /truncated/);
  encoded[0] = 200;
  await expectError(() => decodeEntries(encoded), "PROTOCOL_STATE", /unknown digest entry kind/);
});

describe("links", () => {
  const closing = (previous: Uint8Array, tree: number, byte: number) => {
    const chain = new PairChain(tree, previous);
    chain.note({ kind: "sample", tree, node: 0, digest: digest(byte) });
    return { chain, closed: chain.closing() };
  };

  test("a link covers the tree, its messages, and all before", () => {
    const { closed } = closing(beginning, 0, 5);
    const others = [closing(digest(9), 0, 5), closing(beginning, 1, 5), closing(beginning, 0, 6)];
    for (const other of others) expect(other.closed.link).not.toEqual(closed.link);
    expect(nextLink(beginning, 0, closed.entries)).toEqual(closed.link);
    for (const changed of [
      { jobId: digest(8), active: digest(2), passive: digest(3) },
      { jobId: digest(1), active: digest(8), passive: digest(3) },
      { jobId: digest(1), active: digest(2), passive: digest(8) },
    ])
      expect(firstLink(changed)).not.toEqual(beginning);
  });

  test("both sides agree tree by tree; a late message changes nothing, and another digest is refused", async () => {
    const [one, other] = [new PairChain(4, beginning), new PairChain(4, beginning)];
    for (const chain of [one, other]) chain.note({ kind: "set-up", tree: null, node: 0, digest: digest(1) });
    for (const tree of [4, 5]) {
      for (const chain of [one, other]) chain.note({ kind: "sample", tree, node: 0, digest: digest(tree) });
      one.note({ kind: "sample", tree: tree - 1, node: 0, digest: digest(77) });
      const closed = one.closing();
      await expectError(
        () => other.agree({ ...closed, link: digest(0) }),
        "PROTOCOL_STATE",
        new RegExp(`^tree ${tree}:`),
      );
      expect(other.agree(closed)).toEqual(closed);
      for (const chain of [one, other]) chain.advance(closed);
    }
    expect(one.closing()).toEqual(other.closing());
    await expectError(() => other.agree({ ...one.closing(), tree: 4 }), "PROTOCOL_STATE", /tree 6 is under way/);
  });

  test("a signature is for one role, job, tree and link", () => {
    const texts = [
      signedText("active", "a", 1, digest(1)),
      signedText("passive", "a", 1, digest(1)),
      signedText("active", "b", 1, digest(1)),
      signedText("active", "a", 2, digest(1)),
      signedText("active", "a", 1, digest(2)),
    ].map(String);
    expect(new Set(texts).size).toBe(texts.length);
  });
});

test("a commitment is to salt and facts, whatever their order", () => {
  const facts = { labels: "a", people: 3 };
  const made = commitmentTo(digest(1), facts);
  expect(commitmentTo(digest(1), { people: 3, labels: "a" })).toEqual(made);
  for (const other of [{ ...facts, people: 4 }, { ...facts, people: "3" }, { labels: "a" }, { ...facts, more: true }])
    expect(commitmentTo(digest(1), other)).not.toEqual(made);
  expect(commitmentTo(digest(2), facts)).not.toEqual(made);
});
