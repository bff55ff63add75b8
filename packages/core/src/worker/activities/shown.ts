import { toHex } from '../../base/hex.ts'
import { clipText } from '../../base/text.ts'
import { decode } from '../../events/payload.ts'
import type { ShownMaterial } from '../../events/payloads.ts'
import { sha256 } from '../../host/sha256.ts'

/** The size up to which a log keeps what an agent was shown, and the length of the beginning of what is larger. */
const kept = 4 * 1024

/** Returns a schema that is small enough to be kept with each result; undefined for others. */
export function keepSmall(schema: object | undefined): object | undefined {
  return schema !== undefined && JSON.stringify(schema).length <= kept ? schema : undefined
}

/** Describes what an agent was shown; undefined for nothing. */
export function describeShown(material: Uint8Array | null): ShownMaterial | undefined {
  if (material === null) return undefined
  const value = decode(material)
  if (material.length <= kept) return { value }
  const json = JSON.stringify(value, (_, part) => (typeof part === 'bigint' ? String(part) : part))
  const head = clipText(json, kept)
  return { bytes: material.length, sha256: toHex(sha256(material)), head }
}
