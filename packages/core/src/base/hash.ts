/** The sha256 of some bytes: 32 of them. */
export type Sha256 = (bytes: Uint8Array) => Uint8Array
