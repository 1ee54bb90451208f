/** An alignment, and the rows that it found as a file for people: the party's own ids and where in its files they stand. */
import { csvChunks } from "../data/write-csv.ts";
import { type ActiveTables, type AlignedRows, alignTables } from "./active-tables.ts";
import type { ActiveWorld, ConnectedPeer } from "./active-world.ts";
import type { ActiveConfig } from "./config.ts";
import type { Emit } from "./events.ts";

export async function alignAndWrite(tables: ActiveTables, peers: readonly ConnectedPeer[], config: ActiveConfig, path: string, emit: Emit, { storage }: ActiveWorld): Promise<AlignedRows> {
  const aligned = await alignTables(tables, peers.map((peer) => peer.alignment(config.job)), config, emit);
  const { train, test } = tables;
  const trainCount = train.table.ids.length;
  const isTrain = (row: number): boolean => row < trainCount;
  const ids = Array.from(aligned.rows, (row) => (isTrain(row) ? train.table.ids[row] : (test?.table.ids[row - trainCount] ?? "")));
  const fileRows = Array.from(aligned.rows, (row) => String(isTrain(row) ? train.fileRows[row] : test?.fileRows[row - trainCount]));
  const files = test === null ? [] : [Array.from(aligned.rows, (row) => (isTrain(row) ? "path" : "test_path"))];
  await storage.write(path, csvChunks(["id", ...(test === null ? [] : ["file"]), "row"], [ids, ...files, fileRows]));
  return aligned;
}
