/** A running sha256. */
export interface Hash {
  update(bytes: Uint8Array): void
  /** The digest so far; the hash can go on. */
  digest(): Uint8Array
  /** Another hash that goes on from here. */
  copy(): Hash
}
export type NewHash = () => Hash
