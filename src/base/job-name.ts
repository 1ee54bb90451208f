/** Job names become folders at every party: letters, digits, dots, dashes and underscores, and no dot in front. */
export const jobSyntax = /^[A-Za-z0-9][A-Za-z0-9._-]{0,63}$/;
