export const paillierSchemeName = "paillier";
