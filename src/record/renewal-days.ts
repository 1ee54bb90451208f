/** When the end of a certificate is warned of. Runs in browsers too. */
export const renewalDays = { soon: 60, urgent: 14 } as const;

export const dayMs = 86_400_000;
