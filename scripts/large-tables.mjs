/**
 * Two companies' tables as folders of Parquet files, generated from a seed by DuckDB: ids of nine characters, numbers
 * as float32, some of them missing. Most people stand in both, in different orders; the label follows from both.
 */
import { existsSync, mkdirSync, renameSync, rmSync } from "node:fs";
import { join } from "node:path";
import { DuckDBInstance } from "@duckdb/node-api";

const rowsPerFile = 500_000;
/** Odd, so that no two people of 2^32 get the same id. */
const idFactor = 2_654_435_761n;
/** Primes: rows of a table are walked through by steps of one, unless it divides their number. */
const steps = [7_368_787, 1_299_709];

/** @returns the folders; what is there from another time is used again */
export async function makeTables({ folder, rows, columns, shared, seed, sameRows }) {
  const made = {};
  const instance = await DuckDBInstance.create(":memory:", { memory_limit: "1GB", threads: "2" });
  const connection = await instance.connect();
  const firsts = { bank: 0, retailer: rows - Math.round(shared * rows) };
  for (const [party, first] of Object.entries(firsts)) {
    const order = party === "bank" ? "" : `-${sameRows ? "same" : shared}`;
    const to = join(folder, `${party}-${rows}-${columns}-${seed}${order}`);
    made[party] = to;
    if (existsSync(to)) continue;
    const unfinished = `${to}.part`;
    rmSync(unfinished, { recursive: true, force: true });
    mkdirSync(unfinished, { recursive: true });
    const step = steps.find((prime) => rows % prime !== 0);
    for (let from = 0; from < rows; from += rowsPerFile) {
      const file = join(unfinished, `part-${String(from / rowsPerFile).padStart(4, "0")}.parquet`);
      const place = `(range * ${party === "bank" || sameRows ? 1 : step}) % ${rows} + ${first}`;
      const people = `SELECT ${place} AS person FROM range(${from}, ${Math.min(rows, from + rowsPerFile)})`;
      await connection.run(
        `COPY (SELECT ${columnsOf(party, columns, seed)} FROM (${people})) TO '${file}' ` +
          "(FORMAT parquet, ROW_GROUP_SIZE 250000)",
      );
    }
    renameSync(unfinished, to);
  }
  connection.closeSync();
  instance.closeSync();
  return made;
}

function columnsOf(party, columns, seed) {
  const id = `'c' || lpad(lower(to_hex((person::UBIGINT * ${idFactor}) % 4294967296)), 8, '0') AS id`;
  const features = Array.from({ length: columns }, (_, column) => {
    const value = `${drawn(`${party}${column}`, seed)}::FLOAT`;
    const cell = column % 4 === 3 ? `CASE WHEN person % 50 = ${column} THEN NULL ELSE ${value} END` : value;
    return `${cell} AS ${party === "bank" ? "a" : "b"}${column}`;
  });
  return [id, ...features, ...(party === "bank" ? [`${labelOf(seed)} AS label`] : [])].join(", ");
}

/** Between 0 and 1, for each person. */
function drawn(name, seed) {
  return `((hash(person, '${name}', ${seed}) >> 11) / 9007199254740992.0)`;
}

function labelOf(seed) {
  const [a, b, c, noise] = ["bank0", "retailer0", "retailer1", "noise"].map((name) => drawn(name, seed));
  return `CASE WHEN ${a} + ${b} * ${c} + 0.6 * ${noise} > 1.05 THEN 1 ELSE 0 END`;
}
