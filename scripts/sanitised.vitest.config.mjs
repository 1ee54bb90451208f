/** The tests of the native addon, against the build with sanitisers (scripts/fuzz-native.mjs). */
import { defineConfig } from "vitest/config";

const built = '"build", "tandem.node"';

const sanitisedAddon = {
  name: "sanitised-addon",
  enforce: "pre",
  /** Wherever the addon is loaded, the other one is. */
  transform(code, id) {
    if (id.includes("node_modules") || !code.includes(built)) return undefined;
    return { code: code.replaceAll(built, '"build", "sanitised", "tandem.node"'), map: null };
  },
};

export default defineConfig({
  plugins: [sanitisedAddon],
  test: {
    include: [
      "src/crypto/{paillier,lattice,curve}/*.test.ts",
      "src/data/{csv-chunks,csv-table,native-cells}.test.ts",
      "src/gbdt/split/{binning,counted-cuts}.test.ts",
      "src/privacy/attack/attack.test.ts",
    ],
    testTimeout: 600_000,
    hookTimeout: 600_000,
    maxWorkers: 1,
    isolate: false,
    globalSetup: "scripts/build-threads.mjs",
  },
});
