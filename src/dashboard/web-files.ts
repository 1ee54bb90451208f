/**
 * The page as built by Vite (web/ -> dist/web), in memory: few files, and no path of a request reaches the file system.
 */
import { readdir, readFile } from "node:fs/promises";
import { extname, join, relative, sep } from "node:path";
import { TandemError } from "../base/error.ts";
import { packagePath } from "../base/package-root.ts";

export interface WebFile {
  readonly type: string;
  readonly bytes: Buffer;
}

const folder = packagePath("dist", "web");

const types: Readonly<Record<string, string>> = {
  ".html": "text/html; charset=utf-8",
  ".js": "text/javascript; charset=utf-8",
  ".css": "text/css; charset=utf-8",
  ".svg": "image/svg+xml",
};

/** By path: "/index.html", "/assets/...". @throws TandemError FILE_UNREADABLE if the page was not built */
export async function readWebFiles(): Promise<Map<string, WebFile>> {
  const entries = await readdir(folder, { recursive: true, withFileTypes: true }).catch((cause: unknown) => {
    throw new TandemError(
      "FILE_UNREADABLE",
      `${folder}: the dashboard's page is missing; build it with 'npm run build'`,
      { cause },
    );
  });
  const files = new Map<string, WebFile>();
  for (const entry of entries) {
    const type = types[extname(entry.name)];
    if (!entry.isFile() || type === undefined) continue;
    const path = join(entry.parentPath, entry.name);
    files.set(`/${relative(folder, path).split(sep).join("/")}`, { type, bytes: await readFile(path) });
  }
  return files;
}
