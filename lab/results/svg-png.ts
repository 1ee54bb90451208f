/**
 * PNGs of our SVGs, rendered by resvg as WebAssembly: the same on every platform. It sees no fonts of the system, so
 * the one that figures use is read from its package.
 */
import { readFile } from "node:fs/promises";
import { createRequire } from "node:module";
import { initWasm, Resvg } from "@resvg/resvg-wasm";
import { fontFamily } from "./figure-svg.ts";

const resolver = createRequire(import.meta.url);
const wasm = "@resvg/resvg-wasm/index_bg.wasm";
const fontFile = "@fontsource/inter/files/inter-latin-400-normal.woff2";
/** Sharp on a dense screen, and small enough to be committed. */
const zoom = 2;

let renderer: Promise<Uint8Array> | null = null;

async function load(): Promise<Uint8Array> {
  await initWasm(await readFile(resolver.resolve(wasm)));
  return readFile(resolver.resolve(fontFile));
}

export async function svgToPng(svg: string): Promise<Uint8Array> {
  renderer ??= load(); // once per process: a second initialisation is an error
  const font = await renderer;
  const image = new Resvg(svg, {
    fitTo: { mode: "zoom", value: zoom },
    font: { fontBuffers: [font], defaultFontFamily: fontFamily, sansSerifFamily: fontFamily },
  });
  try {
    return image.render().asPng();
  } finally {
    image.free();
  }
}
