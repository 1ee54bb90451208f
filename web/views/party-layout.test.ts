import { expect, test } from "vitest";
import { placeArrow, placeParties, type Point, type Size } from "./party-layout.ts";

const inside = (point: Point, middle: Point, { width, height }: Size): boolean =>
  Math.abs(point.x - middle.x) < width / 2 && Math.abs(point.y - middle.y) < height / 2;

test.each([1, 2, 3, 5, 8])(
  "boxes of %i passive parties lie within the picture and apart, and no arrow begins or ends in one",
  (count) => {
    {
      const { size, box, centre, around } = placeParties(count);
      expect(around).toHaveLength(count);
      const all = [centre, ...around];
      for (const [i, { x, y }] of all.entries()) {
        expect([x - box.width / 2, y - box.height / 2].every((edge) => edge >= 0)).toBe(true);
        expect([x + box.width / 2 <= size.width, y + box.height / 2 <= size.height]).toEqual([true, true]);
        for (const other of all.slice(i + 1))
          expect(Math.abs(x - other.x) >= box.width || Math.abs(y - other.y) >= box.height).toBe(true);
      }
      for (const end of around) {
        for (const { from, to } of [placeArrow(centre, end, box), placeArrow(end, centre, box)]) {
          for (const point of [from, to]) expect(all.some((middle) => inside(point, middle, box))).toBe(false);
          expect(Math.hypot(to.x - from.x, to.y - from.y)).toBeGreaterThan(10);
        }
      }
    }
  },
);

test("the two directions of a link keep to their right, and are named on their outer sides", () => {
  const box = { width: 10, height: 10 };
  const [there, back] = [
    placeArrow({ x: 0, y: 0 }, { x: 100, y: 0 }, box),
    placeArrow({ x: 100, y: 0 }, { x: 0, y: 0 }, box),
  ];
  expect(there.from.y).toBeGreaterThan(back.from.y);
  expect(there.label.y).toBeGreaterThan(there.from.y);
  expect(back.label.y).toBeLessThan(back.from.y);
  expect([there.label.anchor, back.label.anchor]).toEqual(["middle", "middle"]);
});
