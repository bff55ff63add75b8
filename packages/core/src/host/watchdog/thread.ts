/**
 * The program of the watchdog thread, as text: bundlers, and loaders of TypeScript, would have to locate a separate
 * file. Plain JavaScript; its `workerData` is a `WatcherData`.
 *
 * It wakes a few times per threshold. If the event loop has not advanced since the last time, and no other code has
 * started, the time counts against the executing code. The time is added up per wake-up, so that suspending the whole
 * process counts against no code.
 */
export const watcherProgram: string = `
const { parentPort, workerData } = require('node:worker_threads')
const { writeSync } = require('node:fs')
const { memory, at, noSlot, slots, slotBytes, textAt, watcher } = workerData
const numbers = new Int32Array(memory, 0, textAt / Int32Array.BYTES_PER_ELEMENT)
const text = Buffer.from(memory, textAt)
const read = (index) => Atomics.load(numbers, index)

let changes = -1
let beats = -1
let heldMs = 0
let report = null
let before = performance.now()

for (;;) {
  const everyMs = read(at.bound) / 4
  Atomics.wait(numbers, at.watcher, watcher, everyMs)
  if (read(at.watcher) !== watcher) break

  const now = performance.now()
  const passed = Math.min(now - before, 2 * everyMs)
  before = now
  if (read(at.changes) !== changes || read(at.beats) !== beats) {
    if (report !== null) parentPort.postMessage({ ...report, heldMs })
    changes = read(at.changes)
    beats = read(at.beats)
    heldMs = 0
    report = null
    continue
  }
  heldMs += passed
  if (report !== null || heldMs < read(at.bound)) continue
  report = findHolder()
  if (report !== null) say(report)
}

function findHolder() {
  const holder = read(at.holder)
  if (holder === 0) return { holder: 'turn', names: [nameOf(0)] }
  if (holder !== noSlot) return { holder: 'body', names: [nameOf(holder)] }
  const names = []
  for (let slot = 1; slot < slots; slot++) if (read(at.lengths + slot) > 0) names.push(nameOf(slot))
  return names.length === 0 ? null : { holder: 'loop', names }
}

function nameOf(slot) {
  const from = slot * slotBytes
  return text.toString('utf8', from, from + read(at.lengths + slot))
}

function say({ holder, names }) {
  const time = (heldMs / 1000).toFixed(1) + ' s'
  const sentence = {
    turn: () =>
      'Run "' + names[0] + '" has blocked the event loop for ' + time + ' in one turn. ' +
      'Look for an endless loop in its procedure. If it does not end, kill this process: no run is lost.',
    body: () =>
      'The body of ' + names[0] + ' has blocked the event loop for ' + time + '. ' +
      'Move heavy work to a worker thread or a separate process.',
    loop: () =>
      'The event loop has been blocked for ' + time + ', while these were in progress: ' + names.join(', ') + '. ' +
      'Move heavy work to a worker thread or a separate process.',
  }[holder]()
  try {
    writeSync(2, 'pawl: ' + sentence + '\\n')
  } catch {
    // A full or closed pipe; the main thread is notified when it resumes.
  }
}
`

/** The data of the watchdog thread. */
export interface WatcherData {
  readonly memory: SharedArrayBuffer
  readonly at: { readonly [number: string]: number }
  readonly noSlot: number
  readonly slots: number
  readonly slotBytes: number
  readonly textAt: number
  /** The number of this thread; it ends when another one is active. */
  readonly watcher: number
}
