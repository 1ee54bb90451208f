/** Defaults of a simulation, on the command line and in the library. */
export const simulateDefaults = { testFraction: 0.25 } as const;
