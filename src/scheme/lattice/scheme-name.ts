export const latticeSchemeName = "lattice";
