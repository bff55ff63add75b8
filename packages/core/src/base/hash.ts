/** Computes the SHA-256 digest (32 bytes). */
export type Sha256 = (bytes: Uint8Array) => Uint8Array
