/**
 * Where the boxes of the parties are in their picture, and the arrows between them. A narrow screen has a list instead.
 */
export interface Point {
  readonly x: number;
  readonly y: number;
}

export interface Size {
  readonly width: number;
  readonly height: number;
}

export interface PlacedParties {
  readonly size: Size;
  /** Of every party's box. */
  readonly box: Size;
  /** The middle of the active party's box, and of the others'. */
  readonly centre: Point;
  readonly around: readonly Point[];
}

/** Wide enough for what a party can be doing. */
const box: Size = { width: 186, height: 78 };
const margin = 4;
/** Of the two arrows of a link from its middle. */
const apart = 9;
/** Between a box and the end of an arrow. */
const gap = 5;

/** One passive party next to the active one, two below it, more in a column to the right. */
export function placeParties(count: number): PlacedParties {
  const [width, lane] = [560, box.height + 18];
  const [left, right] = [box.width / 2 + margin, width - box.width / 2 - margin];
  if (count !== 2) return column({ width, height: Math.max(count * lane, box.height + 40) }, left, right, count);
  const size = { width, height: 310 };
  return {
    size,
    box,
    centre: { x: width / 2, y: box.height / 2 + margin },
    around: [left, right].map((x) => ({ x, y: size.height - box.height / 2 - margin })),
  };
}

function column(size: Size, left: number, right: number, count: number): PlacedParties {
  return {
    size,
    box,
    centre: { x: left, y: size.height / 2 },
    around: Array.from({ length: count }, (_, i) => ({ x: right, y: ((i + 0.5) * size.height) / count })),
  };
}

export interface PlacedArrow {
  readonly from: Point;
  /** Where the line ends and the head begins. */
  readonly to: Point;
  /** A path. */
  readonly head: string;
  /** Position of its text, on its outer side. */
  readonly label: Point & { readonly anchor: "start" | "middle" | "end" };
}

/** Each arrow is to the right of its direction, so that the two of a link never overlap. */
export function placeArrow(from: Point, to: Point, box: Size): PlacedArrow {
  const length = Math.hypot(to.x - from.x, to.y - from.y) || 1;
  const [ux, uy] = [(to.x - from.x) / length, (to.y - from.y) / length];
  const [nx, ny] = [-uy, ux];
  const shift = { x: nx * apart, y: ny * apart };
  const [out, back] = [wayOut(shift, { x: ux, y: uy }, box), wayOut(shift, { x: -ux, y: -uy }, box)];
  const [x1, y1, x2, y2] = [
    from.x + shift.x + ux * out,
    from.y + shift.y + uy * out,
    to.x + shift.x - ux * back,
    to.y + shift.y - uy * back,
  ];
  const at = (x: number, y: number): string => `${x.toFixed(1)} ${y.toFixed(1)}`;
  const side = (sign: number): string => at(x2 - ux * 10 - sign * uy * 5.5, y2 - uy * 10 + sign * ux * 5.5);
  return {
    from: { x: x1, y: y1 },
    to: { x: x2 - ux * 8, y: y2 - uy * 8 },
    head: `M${at(x2, y2)} L${side(1)} L${side(-1)} Z`,
    label: {
      x: (x1 + x2) / 2 + nx * 9,
      y: (y1 + y2) / 2 + ny * 13 + 4,
      anchor: Math.abs(nx) < 0.35 ? "middle" : nx > 0 ? "start" : "end",
    },
  };
}

/** The distance in a direction from a point near the middle of a box to just outside of it. */
function wayOut(offset: Point, direction: Point, { width, height }: Size): number {
  const along = (half: number, at: number, step: number): number =>
    step === 0 ? Infinity : (Math.sign(step) * half - at) / step;
  return Math.min(along(width / 2 + gap, offset.x, direction.x), along(height / 2 + gap, offset.y, direction.y));
}
