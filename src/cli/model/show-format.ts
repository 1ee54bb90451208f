/** The formats of `tandem model show`: known to the command line before what draws them is loaded. */
export const showFormats = ["text", "dot", "json"] as const;
export type ShowFormat = (typeof showFormats)[number];
