export const curveSchemeName = "curve";
