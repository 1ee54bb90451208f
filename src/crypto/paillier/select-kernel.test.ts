import { describe, expect, it } from "vitest";

import { generateKey } from "./key-generation.ts";
import type { Kernel } from "./kernel.ts";
import { loadNativeKernel } from "./native-kernel.ts";
import { portableKernel } from "./portable-kernel.ts";
import { defaultThreads, selectKernel } from "./select-kernel.ts";
import { plaintextsFromBigints } from "./signed-plaintexts.ts";

const { kernel: native, kernels } = loadNativeKernel();

describe("selectKernel", () => {
  it("prefers the native kernel where it loads", () => {
    expect(selectKernel({})).toBe(native ?? portableKernel);
    expect(selectKernel({ TANDEM_KERNEL: "" })).toBe(native ?? portableKernel);
  });

  it("obeys TANDEM_KERNEL", () => {
    expect(selectKernel({ TANDEM_KERNEL: "portable" })).toBe(portableKernel);
    const usage = expect.objectContaining({ code: "USAGE" });
    expect(() => selectKernel({ TANDEM_KERNEL: "gpu" })).toThrow(usage);
    const forced = (): string => selectKernel({ TANDEM_KERNEL: "native" }).name;
    if (native === undefined) expect(forced).toThrow(usage);
    else expect(forced()).toMatch(/^native-(ifma|avx2|adx|scalar)$/);
    for (const name of ["ifma", "avx2", "adx", "scalar", "ifma-emulated"] as const) {
      const select = (): Kernel => selectKernel({ TANDEM_KERNEL: name });
      if (kernels.has(name)) expect(select().name).toBe(`native-${name}`);
      else expect(select).toThrow(usage);
    }
  });

  it("suggests at least one thread", () => {
    expect(defaultThreads()).toBeGreaterThanOrEqual(1);
  });
});

describe("the portable kernel", () => {
  it("yields to the event loop while it computes", async () => {
    const key = await generateKey({ bits: 512, insecure: true });
    const evaluator = portableKernel.publicEvaluator(key.publicKey, { threads: 1 });
    let turns = 0;
    const timer = setInterval(() => turns++, 1);
    const start = performance.now();
    await evaluator.encrypt(
      plaintextsFromBigints(
        key.publicKey,
        Array.from({ length: 300 }, () => 1n),
      ),
    );
    clearInterval(timer);
    expect(turns).toBeGreaterThan((performance.now() - start) / 100);
  });
});
