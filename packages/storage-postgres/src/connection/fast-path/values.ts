// Encodes parameters and parses columns.

/** A parameter of a statement. */
export type Value = string | number | boolean | Buffer | null

/** The same bytes, as a Buffer that the driver sends without a copy. */
export function asBuffer(bytes: Uint8Array): Buffer {
  return Buffer.isBuffer(bytes) ? bytes : Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength)
}

type Parse = (text: string) => unknown

const parsers = new Map<number, Parse>([
  [16, (text) => text === 't'],
  [17, parseBytes],
  // Numbers beyond 2^53 are rounded. The store writes none, and core rejects them when it reads a run.
  [20, Number],
  [21, Number],
  [23, Number],
  [1009, parseTexts],
])

/**
 * Parsers of the store's columns. Passed with each statement, so that the application's global parsers and the
 * store's do not affect each other.
 */
export const types: { getTypeParser(oid: number): Parse } = {
  getTypeParser: (oid) => parsers.get(oid) ?? String,
}

function parseBytes(text: string): Uint8Array {
  const bytes = text.startsWith('\\x') ? Buffer.from(text.slice(2), 'hex') : parseEscaped(text)
  const { buffer, byteOffset, length } = bytes
  return new Uint8Array(buffer, byteOffset, length)
}

/** Parses bytes in the format of bytea_output = escape: ASCII, and `\ooo` for other bytes. */
function parseEscaped(text: string): Buffer {
  const byteOf = (_: string, code: string) =>
    code === '\\' ? code : String.fromCharCode(Number.parseInt(code, 8))
  return Buffer.from(text.replaceAll(/\\(\\|[0-7]{3})/g, byteOf), 'latin1')
}

/** Parses `{a,"b c"}`. The store's lists have one dimension and no nulls. */
function parseTexts(text: string): readonly string[] {
  return [...text.matchAll(/"((?:[^"\\]|\\.)*)"|([^{},]+)/gs)].map(([, quoted, plain]) =>
    quoted === undefined ? (plain ?? '') : quoted.replaceAll(/\\(.)/gs, '$1'),
  )
}
