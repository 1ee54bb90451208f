/** What a simulation takes where nothing else is asked for, on the command line and in the library. */
export const simulateDefaults = { testFraction: 0.25 } as const;
