// How values get into statements and out of rows.

/** What a statement may be given. */
export type Value = string | number | boolean | Buffer | null

/** The same bytes as what the driver sends without looking twice. */
export function asBuffer(bytes: Uint8Array): Buffer {
  return Buffer.isBuffer(bytes) ? bytes : Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength)
}

type Parse = (text: string) => unknown

const parsers = new Map<number, Parse>([
  [16, (text) => text === 't'],
  [17, parseBytes],
  // Beyond 2^53 it is rounded. Nothing the store writes is, and core refuses it in what it reads of a run.
  [20, Number],
  [21, Number],
  [23, Number],
  [1009, parseTexts],
])

/**
 * How the columns of our rows are read. Given with each statement, so that neither the application's global
 * parsers touch our rows nor ours its.
 */
export const types: { getTypeParser(oid: number): Parse } = {
  getTypeParser: (oid) => parsers.get(oid) ?? String,
}

function parseBytes(text: string): Uint8Array {
  const bytes = text.startsWith('\\x') ? Buffer.from(text.slice(2), 'hex') : parseEscaped(text)
  const { buffer, byteOffset, length } = bytes
  return new Uint8Array(buffer, byteOffset, length)
}

/** As a server writes bytes with bytea_output = escape: ASCII, and `\ooo` for the others. */
function parseEscaped(text: string): Buffer {
  const byteOf = (_: string, code: string) =>
    code === '\\' ? code : String.fromCharCode(Number.parseInt(code, 8))
  return Buffer.from(text.replaceAll(/\\(\\|[0-7]{3})/g, byteOf), 'latin1')
}

/** Reads `{a,"b c"}`. Our lists have one dimension and no nulls. */
function parseTexts(text: string): readonly string[] {
  return [...text.matchAll(/"((?:[^"\\]|\\.)*)"|([^{},]+)/gs)].map(([, quoted, plain]) =>
    quoted === undefined ? (plain ?? '') : quoted.replaceAll(/\\(.)/gs, '$1'),
  )
}
