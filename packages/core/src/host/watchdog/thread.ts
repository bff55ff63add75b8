/**
 * The program of the watcher thread, as text: a file of its own would have to be found again by bundlers and
 * by loaders that read TypeScript. Plain JavaScript; its data are a `WatcherData`.
 *
 * It wakes a few times per bound. If since the last time the event loop has not come round and nobody else
 * has begun work, the time counts against whoever is at work. The time is added up by wakings, so that a
 * process that was stopped as a whole accuses nobody.
 */
export const watcherProgram: string = `
const { parentPort, workerData } = require('node:worker_threads')
const { writeSync } = require('node:fs')
const { memory, at, nobody, slots, slotBytes, textAt, watcher } = workerData
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
  if (holder !== nobody) return { holder: 'body', names: [nameOf(holder)] }
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
      'Run "' + names[0] + '" has held its turn for ' + time + ', and nothing else in this process goes on. ' +
      'Is there a loop without end in its procedure? If it does not end, kill this process: no run is lost.',
    body: () =>
      'The body of ' + names[0] + ' has blocked the event loop for ' + time + '. ' +
      'Heavy work belongs in a worker thread or a process of its own.',
    loop: () =>
      'The event loop has been blocked for ' + time + ', while there were under way: ' + names.join(', ') + '. ' +
      'Heavy work belongs in a worker thread or a process of its own.',
  }[holder]()
  try {
    writeSync(2, 'pawl: ' + sentence + '\\n')
  } catch {
    // A full or closed pipe; the main thread is told when it goes on.
  }
}
`

/** What the watcher thread is given. */
export interface WatcherData {
  readonly memory: SharedArrayBuffer
  readonly at: { readonly [number: string]: number }
  readonly nobody: number
  readonly slots: number
  readonly slotBytes: number
  readonly textAt: number
  /** Which watcher it is; it ends when another is wanted. */
  readonly watcher: number
}
