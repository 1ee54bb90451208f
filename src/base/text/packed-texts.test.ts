import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { PackedTexts, selectTexts, TextSelection } from "./packed-texts.ts";
import { TextIndex } from "./text-index.ts";
import { textAt } from "./text-list.ts";

const anyText = fc.oneof(
  fc.string({ unit: "binary", maxLength: 40 }),
  fc.string({ unit: fc.constantFrom("a", "b", "\u00ff", "\u0100", "\ue000", "\ud83d", "\ude00"), maxLength: 5 }),
  fc.constant("long ".repeat(2000)),
);

describe("packed texts", () => {
  test("are returned unchanged, and compare like strings", () => {
    fc.assert(
      fc.property(fc.array(anyText, { minLength: 1, maxLength: 200 }), (texts) => {
        const packed = PackedTexts.from(texts);
        packed.trim();
        expect([...packed]).toEqual(texts);
        expect(packed.at(-1)).toBe(texts.at(-1));
        expect(packed.at(texts.length)).toBeUndefined();
        const [a, b] = [0, texts.length >> 1];
        expect(Math.sign(packed.compare(a, b))).toBe(texts[a] < texts[b] ? -1 : Number(texts[a] > texts[b]));
      }),
      { seed: 7, numRuns: 40 },
    );
  });

  test("a selection names others' texts, and one of a selection too", () => {
    const packed = PackedTexts.from(["a", "b", "c", "d"]);
    const selected = selectTexts(packed, Uint32Array.of(3, 1, 0));
    expect([...selected]).toEqual(["d", "b", "a"]);
    const again = selectTexts(selected, Uint32Array.of(2, 0));
    expect(again).toBeInstanceOf(TextSelection);
    expect([...again, again.at(-1), again.at(2)]).toEqual(["a", "d", "d", undefined]);
    expect(selectTexts(["x", "y"], Uint32Array.of(1))).toEqual(["y"]);
    expect(() => textAt(again, 2)).toThrow(/text 2 of 2/);
  });

  test("ten bytes a text take no more than fifteen", () => {
    const packed = PackedTexts.from(Array.from({ length: 1000 }, (_, i) => `C${String(i).padStart(9, "0")}`));
    expect(packed.sizeBytes).toBe(14_000);
  });
});

test("an index finds the same as a map", () => {
  fc.assert(
    fc.property(fc.array(anyText, { maxLength: 300 }), anyText, (texts, other) => {
      const index = new TextIndex();
      const known = new Map<string, number>();
      for (const text of texts) {
        expect(index.add(text)).toEqual({ index: known.get(text) ?? known.size, isNew: !known.has(text) });
        if (!known.has(text)) known.set(text, known.size);
      }
      const again = new TextIndex(PackedTexts.from(known.keys()));
      for (const text of [...texts, other]) {
        expect(index.indexOf(text)).toBe(known.get(text) ?? -1);
        expect(again.indexOf(text)).toBe(known.get(text) ?? -1);
      }
      expect([...index.texts]).toEqual([...known.keys()]);
    }),
    { seed: 7, numRuns: 30 },
  );
  expect(() => new TextIndex(PackedTexts.from(["a", "a"]))).toThrow(/no two texts/);
});
