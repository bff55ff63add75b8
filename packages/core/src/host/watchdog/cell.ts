import { shareCell } from '../process/wide.ts'

/**
 * What the watcher thread can read while this thread is busy: who is at work. Written with a few stores, and
 * only while somebody watches.
 */
export interface WatchCell {
  watched: boolean
  readonly memory: SharedArrayBuffer
  readonly numbers: Int32Array
  /** The slots no body has. */
  readonly free: number[]
  /** What slot 0 says, so that it is not written again. */
  turn: string | null
}

/** Indices into `numbers`. */
export const at = {
  /** The slot of who is at work, or `nobody`. */
  holder: 0,
  /** Counts changes of the holder, and batches. */
  changes: 1,
  /** Counts how often the event loop came round. */
  beats: 2,
  /** How long is too long, in ms. */
  bound: 3,
  /** Which watcher is wanted; any other ends itself. */
  watcher: 4,
  /** The bytes used of each slot; 0 for an empty one. */
  lengths: 8,
} as const

/** Slot 0 is the run whose turn it is; each other one a step body that has begun and not ended. */
export const slots = 32
export const slotBytes = 256
export const textAt = 256
export const nobody = -1
/** Where bodies are noted, while their synchronous part lasts, when all other slots are taken. */
const overflow = slots - 1

export const watchCell: WatchCell = shareCell('watch-cell', () => {
  const memory = new SharedArrayBuffer(textAt + slots * slotBytes)
  const numbers = new Int32Array(memory, 0, textAt / Int32Array.BYTES_PER_ELEMENT)
  numbers[at.holder] = nobody
  const free = Array.from({ length: overflow - 1 }, (_, index) => overflow - 1 - index)
  return { watched: false, memory, numbers, free, turn: null }
})

const text = Buffer.from(watchCell.memory, textAt)

/**
 * Notes that turns of this run begin, or that nobody's do. To be called when a batch begins or ends, and when
 * the run changes; not for every turn.
 */
export function noteTurn(run: string | null): void {
  if (!watchCell.watched) return
  if (run !== null && run !== watchCell.turn) {
    write(0, run)
    watchCell.turn = run
  }
  hold(run === null ? nobody : 0)
}

/** Notes that a step body begins. Returns what the other two want to know. */
export function noteBody(describe: string): number {
  if (!watchCell.watched) return nobody
  const slot = watchCell.free.pop() ?? overflow
  write(slot, describe)
  hold(slot)
  return slot
}

/** Notes that the synchronous part of a body is over. */
export function noteBodyReturned(slot: number): void {
  if (slot === nobody) return
  if (slot === overflow) erase(slot)
  hold(nobody)
}

/** Notes that a body has ended. */
export function noteBodyEnd(slot: number): void {
  if (slot === nobody || slot === overflow) return
  erase(slot)
  watchCell.free.push(slot)
}

function hold(slot: number): void {
  Atomics.store(watchCell.numbers, at.holder, slot)
  Atomics.add(watchCell.numbers, at.changes, 1)
}

function write(slot: number, what: string): void {
  const offset = slot * slotBytes
  const length = writeAscii(what, offset) ? what.length : text.write(what, offset, slotBytes)
  Atomics.store(watchCell.numbers, at.lengths + slot, length)
}

/** By hand what is short and plain, as most is: done for each turn and body, and a call out of V8 takes thrice as long. */
function writeAscii(what: string, offset: number): boolean {
  if (what.length > slotBytes) return false
  for (let i = 0; i < what.length; i++) {
    const unit = what.charCodeAt(i)
    if (unit > 0x7f) return false
    text[offset + i] = unit
  }
  return true
}

function erase(slot: number): void {
  Atomics.store(watchCell.numbers, at.lengths + slot, 0)
}
