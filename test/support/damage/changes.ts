import type { DamagedPlace, EventColumn, StoredRow, StoredValue } from './place.ts'

/** What a changed column of an event must lead to. */
export type Expected = 'quarantined' | 'unchanged' | 'either'

export interface Change {
  readonly seq: number
  readonly column: EventColumn
  /** Among those of its column. */
  readonly nth: number
  readonly value: StoredValue
  readonly expected: Expected
}

/** All that can become of one column of one event. */
export function changesOf(row: StoredRow, column: EventColumn, place: DamagedPlace): readonly Change[] {
  const seq = Number(row.seq)
  return valuesOf(row, column, place).map((value, nth) => ({
    seq,
    column,
    nth,
    value,
    expected: expectedOf(column, value),
  }))
}

/** Of an event its epoch and how long it took are not hashed. Its time is, once another commit follows. */
function expectedOf(column: EventColumn, value: StoredValue): Expected {
  if (typeof value === 'bigint') return 'quarantined'
  if (column === 'epoch' || column === 'took_ms') return 'unchanged'
  return column === 'at' ? 'either' : 'quarantined'
}

function valuesOf(
  row: StoredRow,
  column: EventColumn,
  { hasWideIntegers }: DamagedPlace,
): readonly StoredValue[] {
  const value = row[column]
  // Beyond all that a number of JavaScript can tell apart, and by more bits than a hash takes in.
  const wide = hasWideIntegers ? [2n ** 60n + 1n] : []
  switch (column) {
    case 'run':
    case 'seq':
      return [Number(value) + 1_000_000]
    case 'type':
      return [0, 3, 6, 7, 99].filter((code) => code !== Number(value))
    case 'kind':
      return [value === null ? 0 : null, 2, 99].filter((code) => code !== value)
    case 'at':
      return [Number(value) + 1_000, 0, ...wide]
    case 'took_ms':
      return [Number(value ?? 0) + 7, ...wide]
    case 'epoch':
      return [Number(value) + 1, ...wide]
    case 'position':
    case 'turn':
    case 'nth':
      return [Number(value) + 1, -5, ...(hasWideIntegers ? [BigInt(value as number) + 2n ** 32n] : [])]
    case 'failed':
      return [typeof value === 'boolean' ? !value : 1 - Number(value)]
    case 'name':
      return [`${String(value)}x`, 'größe', ...(value === '' ? [] : [''])]
    case 'payload':
      return bytesInPlaceOf(value)
    case 'link':
      return value === null || (value as Uint8Array).length === 0
        ? [new Uint8Array(32)]
        : [flip(value as Uint8Array), new Uint8Array(32)]
  }
}

function bytesInPlaceOf(value: StoredValue): readonly StoredValue[] {
  if (value === null) return [new Uint8Array(0), Uint8Array.of(1)]
  const bytes = value as Uint8Array
  return [flip(bytes), bytes.subarray(0, bytes.length - 1), null, Uint8Array.of(0xc1, 1)]
}

/** With one bit changed. */
function flip(bytes: Uint8Array): Uint8Array {
  const flipped = Uint8Array.from(bytes)
  const last = flipped.length - 1
  flipped[last] = (flipped[last] ?? 0) ^ 1
  return flipped
}
