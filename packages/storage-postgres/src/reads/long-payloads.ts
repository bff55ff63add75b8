import type { RunKey } from '@pawl/core/storage'
import type { Database } from '../connection/database.ts'
import { listBigints, listIntegers } from '../connection/fast-path/lists.ts'
import { batchLookups } from './batch-lookups.ts'

/** In bytes. What is longer is read by itself, so that neither a page nor who waits for another one waits for it. */
export const maxInlineBytes = 256
/** In bytes: of long payloads in one answer. */
const maxBytesAtOnce = 4 * 1024 * 1024

/** Where a payload is, and how long it is. */
interface Place {
  readonly run: RunKey
  /** Of the event or the message. */
  readonly number: number
  readonly size: number
}
interface Found extends Place {
  readonly payload: Uint8Array
}

/** Reads the long payloads of a table: those asked for at once together, as far as they fit in one answer. */
export function prepareLongPayloads(
  database: Database,
  table: string,
  number: 'seq' | 'n',
): (place: Place) => Promise<Uint8Array | null> {
  const text = `
    select run, ${number} as number, length(payload) as size, payload from unnest($1::bigint[], $2::int[]) as wanted(run, ${number})
    join ${table} using (run, ${number})`
  const read = batchLookups<Place, Found>({
    find: (places) =>
      database.read<Found>(text, [
        listBigints(places.map(({ run }) => run)),
        listIntegers(places.map(({ number }) => number)),
      ]),
    nameOf: ({ run, number }) => `${run} ${number}`,
    keyOf: (found) => found,
    weightOf: ({ size }) => size,
    max: maxBytesAtOnce,
  })
  return async (place) => (await read(place))?.payload ?? null
}
