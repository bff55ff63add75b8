/** Returns a digest of 32 bits, signed: FNV-1a. It tells equal bytes from others by accident only. */
export function digestOf(bytes: Uint8Array): number {
  let hash = 0x811c9dc5
  for (const byte of bytes) hash = Math.imul(hash ^ byte, 0x01000193)
  return hash | 0
}
