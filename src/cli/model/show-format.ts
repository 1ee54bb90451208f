/** The formats of `tandem model show`: kept apart so that help does not load the drawing code. */
export const showFormats = ["text", "dot", "json"] as const;
export type ShowFormat = (typeof showFormats)[number];
