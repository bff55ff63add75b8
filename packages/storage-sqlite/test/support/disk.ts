import type { TraceRecord } from './trace.ts'

type Change = Extract<TraceRecord, { kind: 'write' | 'truncate' }>

/** What a disk writes at once; a larger write can stop at any multiple of it. */
const sectorBytes = 512

/** A file as it is on a disk that loses its power: what was synced, and what may have arrived since. */
export class DiskFile {
  #synced: Buffer
  #pending: Change[] = []

  constructor(content: Buffer) {
    this.#synced = content
  }

  change(change: Change): void {
    this.#pending.push(change)
  }

  sync(): void {
    this.#synced = applyAll(this.#synced, this.#pending)
    this.#pending = []
  }

  /** One of the states the file may be in now: of what was not synced, each write is there, is not, or is there in part, in any order. */
  loseThePower(random: () => number): Buffer {
    const mode = random()
    const arrived = this.#pending.flatMap((change) => {
      if (mode < 0.1) return []
      if (mode < 0.2) return [change]
      const fate = random()
      if (fate < 0.35) return []
      if (fate < 0.7 || change.kind === 'truncate') return [change]
      return tear(change, random)
    })
    return applyAll(this.#synced, shuffle(arrived, random))
  }
}

/** The sectors of a write that made it. */
function tear(
  { kind, file, offset, data }: Extract<Change, { kind: 'write' }>,
  random: () => number,
): Change[] {
  const sectors: Change[] = []
  for (let at = 0; at < data.length; at += sectorBytes) {
    if (random() < 0.5)
      sectors.push({ kind, file, offset: offset + at, data: data.subarray(at, at + sectorBytes) })
  }
  return sectors
}

/** The content with the changes, in their order. */
function applyAll(content: Buffer, changes: readonly Change[]): Buffer {
  const ends = changes.map((change) =>
    change.kind === 'write' ? change.offset + change.data.length : change.size,
  )
  const changed = Buffer.alloc(Math.max(content.length, ...ends))
  content.copy(changed)
  let size = content.length
  for (const [index, change] of changes.entries()) {
    if (change.kind === 'truncate') {
      changed.fill(0, change.size)
      size = change.size
    } else {
      change.data.copy(changed, change.offset)
      size = Math.max(size, ends[index] ?? 0)
    }
  }
  return changed.subarray(0, size)
}

/** Writes to one place keep their order as often as not. */
function shuffle(changes: readonly Change[], random: () => number): Change[] {
  const shuffled = [...changes]
  if (random() < 0.5) return shuffled
  for (let index = shuffled.length - 1; index > 0; index--) {
    const other = Math.floor(random() * (index + 1))
    const [a, b] = [shuffled[index], shuffled[other]]
    if (a && b) [shuffled[index], shuffled[other]] = [b, a]
  }
  return shuffled
}
