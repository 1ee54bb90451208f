/**
 * Raised with every change of proto/ or of the meaning of a message. Parties with different versions refuse each other.
 */
export const protocolVersion = 11;

/** No message is larger; what is larger travels as a stream of chunks. */
export const messageBytesMax = 4 << 20;

/** Split candidates of one party: about 2,000 features with 1,024 bins and missing values, or 65,000 with 32 bins. */
export const candidateCountMax = 1 << 22;

/** Target size of one chunk of ciphertexts: small enough to overlap encryption, sending and loading. */
export const chunkBytes = 512 << 10;
