/** Logarithms at the limits of the table, of giant steps and of the bound. */
import { expect, test, vi } from "vitest";
import { add, basePoint, neutral, negative, type Point } from "../edwards25519.ts";
import { PortableLogarithms } from "./portable-logarithms.ts";

const reach = 3000;
const table = new PortableLogarithms(reach);
/** As the table chooses it for this reach. */
const babies = 2 ** 8;

const unit = Array.from({ length: 6 }).reduce<Point>((point) => add(point, point), basePoint);

function multipleOf(value: number): Point {
  let sum = neutral;
  for (let i = 0; i < Math.abs(value); i++) sum = add(sum, unit);
  return value < 0 ? negative(sum) : sum;
}

const edges = [0, 1, babies - 1, babies, babies + 1, 2 * babies, 2 * babies + 1, 2 * babies + 2, reach - 1, reach];

test.each(edges.flatMap((value) => [value, -value]))("%i is found within the reach", (value) => {
  expect(table.find(multipleOf(value), reach)).toBe(value === 0 ? 0 : value);
});

test("numbers beyond the bound are not found", () => {
  expect(table.find(multipleOf(reach + 1), reach)).toBeNaN();
  expect(table.find(multipleOf(-reach - 1), reach)).toBeNaN();
  expect(table.find(multipleOf(101), 100)).toBeNaN();
  expect(table.find(multipleOf(-100), 100)).toBe(-100);
  expect(table.find(basePoint, reach)).toBeNaN();
});

test("the number of steps depends on the bound, not on the sum", () => {
  const inversions = (value: number): number => {
    const spy = vi.spyOn(Map.prototype, "get");
    table.find(multipleOf(value), reach);
    const count = spy.mock.calls.length;
    spy.mockRestore();
    return count;
  };
  const counts = [0, 1, -reach, reach, reach + 1].map(inversions);
  expect(new Set(counts).size).toBe(1);
  expect(table.steps(100)).toBe(0);
  expect(table.steps(reach)).toBeGreaterThan(table.steps(reach / 2));
});
