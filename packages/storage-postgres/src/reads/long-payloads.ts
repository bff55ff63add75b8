import type { RunKey } from '@pawl/core/storage'
import type { Database } from '../connection/database.ts'
import { listBigints, listIntegers } from '../connection/fast-path/lists.ts'
import { batchLookups } from './batch-lookups.ts'

/** In bytes. Longer payloads are read separately, so that no page waits for them. */
export const maxInlineBytes = 256
/** Maximum total of long payloads per response, in bytes. */
const maxBytesAtOnce = 4 * 1024 * 1024

/** Location and length of a payload. */
interface Place {
  readonly run: RunKey
  /** Number of the event or the message. */
  readonly number: number
  readonly size: number
}
interface Found extends Place {
  readonly payload: Uint8Array
}

/** Reads the long payloads of a table. Concurrent requests are combined, up to the maximum size of a response. */
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
