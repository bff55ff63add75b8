import type { TurnOwner } from '../kernel/turns.ts'
import { inRootContext, performanceNow, setImmediateNative, setTimeoutNative } from './natives.ts'
import { turns } from './turn.ts'
import { noteTurn } from './watch-cell.ts'

/** What the drain drives: an execution of the kernel. */
export interface Driven extends TurnOwner {
  readonly outstanding: number
  deliverNext(): void
}

/**
 * Delivers everything an execution has queued, one delivery a turn, every queue drained between two turns,
 * and calls back when the last turn is over, outside all turns.
 *
 * Between two immediates that were queued back to back Node runs all ticks, all microtasks and all rejection
 * handlers, and nothing else; so each delivery is an immediate of its own, queued by one synchronous loop.
 * A chain of ticks or microtasks instead would run ahead of ticks the procedure itself has queued.
 */
export function drain(execution: Driven, onDrained: () => void): void {
  waiting.push({ execution, onDrained })
  if (scheduled) return
  scheduled = true
  inRootContext(() => setImmediateNative(beginRound))
}

/** Gives what may be moving outside a turn the chance to show itself, before a verdict is final. */
export function allowGrace(onOver: () => void): void {
  let macrotasks = 8
  const again = (): void => {
    if (macrotasks-- > 0) setImmediateNative(again)
    else setTimeoutNative(onOver, graceMs)
  }
  inRootContext(() => setImmediateNative(again))
}

const batchSize = 1024
/** Past this a round ends early, between two deliveries, and timers and sockets of the process have their say. */
const budgetMs = 4
const budgetCheckedEvery = 16
/** Long enough for work in the thread pool (a digest, a file) that was begun in a turn; paid only on the way to a verdict. */
const graceMs = 25

interface Entry {
  readonly execution: Driven
  readonly onDrained: () => void
}
const waiting: Entry[] = []
let drained: Entry[] = []
let active: Entry | null = null
let scheduled = false
let over = false
let began = 0
let deliveries = 0

function beginRound(): void {
  over = false
  began = performanceNow()
  if (active !== null) noteTurn(active.execution.id)
  let batch = active === null ? 0 : active.execution.outstanding
  for (let i = 0; i < waiting.length && batch < batchSize; i++) batch += (waiting[i] as Entry).execution.outstanding
  for (let i = Math.max(1, Math.min(batch, batchSize)); i > 0; i--) setImmediateNative(deliverOne)
  setImmediateNative(endRound)
}

function deliverOne(): void {
  if (over) return
  try {
    while (active === null || active.execution.outstanding === 0) {
      if (active !== null) drained.push(active)
      active = waiting.shift() ?? null
      if (active === null) {
        turns.current = null
        over = true
        return
      }
      noteTurn(active.execution.id)
    }
    turns.current = active.execution
    active.execution.deliverNext()
    if (++deliveries % budgetCheckedEvery === 0 && performanceNow() - began > budgetMs) over = true
  } catch (error) {
    // A fault of the engine must not be booked on a run.
    turns.current = null
    throw error
  }
}

function endRound(): void {
  turns.current = null
  noteTurn(null)
  if (active !== null && active.execution.outstanding === 0) {
    drained.push(active)
    active = null
  }
  const done = drained
  drained = []
  scheduled = active !== null || waiting.length > 0
  if (scheduled) setImmediateNative(beginRound)
  for (const entry of done) callBack(entry)
}

function callBack({ onDrained }: Entry): void {
  try {
    onDrained()
  } catch (error) {
    // A fault of the engine surfaces as one, and the other runs of this round still get their say.
    setImmediateNative(() => {
      throw error
    })
  }
}
