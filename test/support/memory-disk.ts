/** A disk in memory: files are bytes, as on a real one, and tests look at them as text. */
import { sep } from "node:path";
import type { Contents, Storage } from "../../src/base/files/storage.ts";

export class MemoryDisk {
  readonly #files = new Map<string, Buffer>();

  get paths(): string[] {
    return [...this.#files.keys()];
  }

  /** All files, one after the other. */
  get allText(): string {
    return [...this.#files.values()].join("");
  }

  has(path: string): boolean {
    return this.#files.has(path);
  }

  text(path: string): string | undefined {
    return this.#files.get(path)?.toString("utf8");
  }

  bytes(path: string): Uint8Array | null {
    return this.#files.get(path) ?? null;
  }

  put(path: string, contents: Contents): void {
    const isOnePiece = typeof contents === "string" || contents instanceof Uint8Array;
    const pieces = isOnePiece ? [contents] : [...contents];
    this.#files.set(path, Buffer.concat(pieces.map((piece) => Buffer.from(piece as Uint8Array))));
  }

  add(path: string, contents: string | Uint8Array): void {
    this.put(path, [this.#files.get(path) ?? "", contents]);
  }

  /** Changes every file, as text. */
  edit(change: (text: string) => string): void {
    for (const [path, bytes] of this.#files) this.put(path, change(bytes.toString("utf8")));
  }

  remove(path: string): void {
    this.#files.delete(path);
  }

  removeFolder(path: string): void {
    for (const file of this.#files.keys()) if (file.startsWith(`${path}${sep}`)) this.#files.delete(file);
  }

  list(folder: string): { readonly name: string; readonly isFolder: boolean }[] {
    const inside = this.paths.filter((path) => path.startsWith(`${folder}${sep}`));
    const entries = new Map(
      inside.map((path) => {
        const [name, ...more] = path.slice(folder.length + 1).split(sep);
        return [name, more.length > 0];
      }),
    );
    return [...entries].map(([name, isFolder]) => ({ name, isFolder }));
  }

  clear(): void {
    this.#files.clear();
  }

  storage(): Storage {
    return {
      read: async (path) => this.bytes(path),
      write: async (path, contents) => this.put(path, contents),
      append: async (path, contents) => this.add(path, contents),
      remove: async (path) => this.remove(path),
      removeFolder: async (path) => this.removeFolder(path),
      makeFolder: async () => {},
      list: async (folder) => this.list(folder),
      size: async (path) => this.bytes(path)?.length ?? 0,
      tidy: async () => {},
    };
  }
}
