import { shareCell } from '../process/wide.ts'

/**
 * Shared memory that says what the main thread is executing, readable by the watchdog thread while it is blocked.
 * Written with a few stores, and only while a watchdog is running.
 */
export interface WatchCell {
  watched: boolean
  readonly memory: SharedArrayBuffer
  readonly numbers: Int32Array
  /** The slots without a body. */
  readonly free: number[]
  /** The text in slot 0, so that it is not written again. */
  turn: string | null
}

/** Indices into `numbers`. */
export const at = {
  /** The slot of the code that is executing, or `noSlot`. */
  holder: 0,
  /** Counts changes of the holder, and batches. */
  changes: 1,
  /** Counts the rounds of the event loop. */
  beats: 2,
  /** The threshold, in ms. */
  bound: 3,
  /** The number of the active watchdog thread; any other one ends itself. */
  watcher: 4,
  /** The bytes used in each slot; 0 for an empty one. */
  lengths: 8,
} as const

/** Slot 0 holds the run of the current turn; the others hold step bodies that have started and not ended. */
export const slots = 32
export const slotBytes = 256
export const textAt = 256
export const noSlot = -1
/** The slot for bodies, during their synchronous part, when all other slots are used. */
const overflow = slots - 1

export const watchCell: WatchCell = shareCell('watch-cell', () => {
  const memory = new SharedArrayBuffer(textAt + slots * slotBytes)
  const numbers = new Int32Array(memory, 0, textAt / Int32Array.BYTES_PER_ELEMENT)
  numbers[at.holder] = noSlot
  const free = Array.from({ length: overflow - 1 }, (_, index) => overflow - 1 - index)
  return { watched: false, memory, numbers, free, turn: null }
})

const text = Buffer.from(watchCell.memory, textAt)

/**
 * Records that turns of a run begin, or that none does. Called when a batch begins or ends, and when the run changes,
 * but not for every turn.
 */
export function noteTurn(run: string | null): void {
  if (!watchCell.watched) return
  if (run !== null && run !== watchCell.turn) {
    write(0, run)
    watchCell.turn = run
  }
  hold(run === null ? noSlot : 0)
}

/** Records that a step body starts. Returns its slot, for the other two functions. */
export function noteBody(describe: string): number {
  if (!watchCell.watched) return noSlot
  const slot = watchCell.free.pop() ?? overflow
  write(slot, describe)
  hold(slot)
  return slot
}

/** Records that the synchronous part of a body is over. */
export function noteBodyReturned(slot: number): void {
  if (slot === noSlot) return
  if (slot === overflow) erase(slot)
  hold(noSlot)
}

/** Records that a body has ended. */
export function noteBodyEnd(slot: number): void {
  if (slot === noSlot || slot === overflow) return
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

/** Writes short ASCII text without a call out of V8, which takes three times as long: this runs for each turn and body. */
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
