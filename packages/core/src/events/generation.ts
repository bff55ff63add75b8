import type { Sha256 } from '../base/hash.ts'
import { LogDamaged, PayloadCorrupt } from './codec.ts'
import type { StoredEvent } from './event.ts'
import type { GenerationPayload, RunOrigin, StartedPayload } from './payloads.ts'
import { readStarted } from './read-started.ts'
import { LogHash } from './seal.ts'

/** What a generation counts from. */
export type Generation = Pick<GenerationPayload, 'number' | 'firstPosition'> & Partial<GenerationPayload>

/** A generation that no other precedes. */
export const firstGeneration: Generation = { number: 1, firstPosition: 0 }

/** Returns the generation whose first event this is. @throws LogDamaged, WrittenLater */
export function generationOf(
  base: number,
  started: Pick<StoredEvent, 'type' | 'payload'> | undefined,
): Generation {
  if (base === 0 || started === undefined) return firstGeneration
  try {
    const { generation } = readStarted(started)
    if (generation !== undefined) return generation
  } catch (error) {
    // Its hash would show this too, but the hash begins with what the event says.
    if (!(error instanceof PayloadCorrupt)) throw error
  }
  throw new LogDamaged(`its event ${base} does not begin a generation`)
}

/** As {@link generationOf}, for an event whose payload was read. */
export function generationIn(
  { fork, generation }: StartedPayload,
  started: Pick<StoredEvent, 'seq' | 'type' | 'payload'>,
): Generation {
  // A fork that was retried is in a later generation of its own.
  if (fork === undefined || generation !== undefined) return generationOf(started.seq, started)
  return { ...firstGeneration, firstPosition: fork.firstPosition }
}

/** What lists show of how a log came to be; null: it is the first of its run, which is no fork. */
export function originOf(
  { number, by }: Pick<Generation, 'number' | 'by'>,
  forkedFrom: RunOrigin['forkedFrom'] | undefined,
): RunOrigin | null {
  if (number === 1 && forkedFrom === undefined) return null
  return {
    ...(number === 1 ? {} : { generation: number }),
    ...(forkedFrom === undefined ? {} : { forkedFrom }),
    ...(by === undefined ? {} : { retriedBy: by }),
  }
}

/** Returns the hash of a log before the generation whose first event this is. @throws LogDamaged, WrittenLater */
export function hashBefore(sha256: Sha256, base: number, started: StoredEvent | undefined): LogHash {
  const { previous } = generationOf(base, started)
  return previous === undefined ? new LogHash(sha256) : new LogHash(sha256, previous, base, base)
}
