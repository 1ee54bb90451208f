/** Calls of the addon's functions that read tables and make bins, which all succeed: two rows of two cells. */
type Call = readonly [name: string, ...values: unknown[]];

export function dataCalls(): readonly Call[] {
  const bytes = Buffer.from('id,x\np1,2.5\np2," 3"\n');
  const cells = Uint32Array.of(5, 2, 8, 3, 12, 2, 16, 2);
  const column = (index: number): [Uint8Array, Uint32Array, Uint32Array] => [
    Uint8Array.from(bytes),
    cells,
    Uint32Array.of(2, 2, index),
  ];
  const state = Uint32Array.of(0, bytes.length, 1, 0x2c, 0, 2, 100, 100, 100, 1, 0, 0);
  const units = new Uint8Array(40);
  units.set(bytes.subarray(0, 4));
  const texts = [units, Uint32Array.of(2, 4, 0, 0), new Uint32Array(16)];
  const values = Float32Array.of(1, Number.NaN, -0, 3e38, 1);
  const places = new Uint16Array(65_536).fill(1);
  return [
    ["csvRows", Uint8Array.from(bytes), state, new Uint32Array(40), new Uint32Array(10)],
    ["csvNumbers", ...column(1), Uint8Array.of(0x3f, 0x2d), Uint32Array.of(1, 2), new Float32Array(2)],
    ["placeTexts", ...texts, 2],
    ["addCells", ...column(0), 0, 7, ...texts, 2, new Uint32Array(2)],
    ["countUpper", values, new Uint32Array(65_536), Float64Array.of(0, Infinity, 0, -Infinity, 0)],
    ["countLower", values, places, new Uint16Array(0), new Uint32Array(256)],
    ["countLower", values, places, new Uint16Array(256).fill(1), new Uint32Array(256)],
    ["binValues", values, Float32Array.of(0, 1, 2), new Uint16Array(5)],
  ];
}
