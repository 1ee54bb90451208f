/** An alignment of the active party's rows, and what it found as a file for people. */
import { type ActiveTables, type AlignedRows, alignTables, rowsOf } from "./tables.ts";
import type { ActiveWorld, ConnectedPeer } from "./world.ts";
import type { ActiveConfig } from "../config/config.ts";
import type { Emit } from "../../record/events.ts";
import { alignedCsv } from "../tables/joined-tables.ts";

export async function alignAndWrite(
  tables: ActiveTables,
  peers: readonly ConnectedPeer[],
  config: ActiveConfig,
  path: string,
  emit: Emit,
  { storage }: ActiveWorld,
): Promise<AlignedRows> {
  const hasValidation = config.data.validation_path !== undefined;
  const rows = rowsOf(tables);
  const aligned = await alignTables(
    rows.ids,
    peers.map((peer) => peer.alignment(config.job.name, hasValidation)),
    config,
    emit,
  );
  await storage.write(path, alignedCsv(rows, aligned.rows));
  return aligned;
}
