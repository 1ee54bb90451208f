/**
 * The nodes that a passive party has answered where members are hidden: `nodes.jsonl` in the job's folder, a line of
 * digests per node. Lines name their beginning of the job: those of another beginning are ignored. The file is removed
 * when the job has succeeded.
 */
import { join } from "node:path";
import * as z from "zod";
import type { Storage } from "../base/files/storage.ts";
import type { AnsweredNode } from "../protocol/hidden/passive-answered-nodes.ts";
import { passiveKind } from "./passive-checkpoint.ts";
import { appendSealed, readSealedLines } from "./sealed-file.ts";

const index = z.number().int().nonnegative();
const digest = z.string().regex(/^[0-9a-f]{64}$/);
const kind = passiveKind(
  "node",
  z.strictObject({
    beginning: z.string(),
    tree: index,
    node: index,
    request: digest,
    answer: digest,
    signature: z.base64(),
    entries: z.base64().optional(),
    root: digest.optional(),
  }),
);

const pathIn = (folder: string): string => join(folder, "nodes.jsonl");

export async function readAnsweredNodes(
  folder: string,
  beginning: string,
  storage: Storage,
): Promise<readonly AnsweredNode[]> {
  const lines = (await readSealedLines(pathIn(folder), kind, storage)) ?? [];
  const own = lines.filter((line) => line.beginning === beginning);
  return own.map(({ tree, node, request, answer, signature, entries, root }) => ({
    tree,
    node,
    request,
    answer,
    signature,
    entries,
    root,
  }));
}

export function addAnsweredNodes(
  folder: string,
  beginning: string,
  nodes: readonly AnsweredNode[],
  storage: Storage,
): Promise<void> {
  const lines = nodes.map((node) => ({ beginning, ...node }));
  return appendSealed(pathIn(folder), kind, lines, storage);
}

export function removeAnsweredNodes(folder: string, storage: Storage): Promise<void> {
  return storage.remove(pathIn(folder));
}
