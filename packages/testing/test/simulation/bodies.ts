import { PawlError } from '@pawl/core'
import { Execution, turns } from '@pawl/core/internal'
import type { LogEvent } from '@pawl/core/storage'
import type { Tables } from '../../src/memory/tables.ts'
import { isWithheld } from './gates.ts'
import { lifeOf, standingEvents } from './lives.ts'
import type { SimulatedProcess } from './process.ts'
import { makeChild, type Stage, type Work } from './program.ts'

/** A body that began. */
export interface Begun {
  readonly run: string
  readonly path: string
  readonly process: string
  /** Its process owned the run in that moment, and the result of the step was in the log. */
  readonly isInVain: boolean
}

/** An undo that was registered. */
export interface Registered {
  readonly turn: number
  /** Its ordinal among all of the world. */
  readonly nth: number
}

/** What the code of the procedures does in the world, and sees of it, over all processes. */
export class Bodies implements Stage {
  /** What each execution has seen, by run and generation. */
  readonly traces = new Map<string, string[][]>()
  readonly begun: Begun[] = []
  /** Steps that have an undo, as run and path. */
  readonly undoable = new Set<string>()
  /** The registered undos, by generation and path. */
  readonly registered = new Map<string, Registered>()
  readonly child: ReturnType<typeof makeChild> = makeChild(this)
  /** Runs whose bodies kill their process. */
  readonly deadly = new Set<string>()
  /** The first child that does something for this run becomes one of them. Null: none. */
  parentOfDeadly: string | null = null
  /** One of them has come to it. */
  onDeadly: (process: SimulatedProcess) => void = () => {}
  readonly #tables: Tables
  readonly #failures = new Map<string, number>()
  /** The generation that an execution executes. */
  readonly #lives = new WeakMap<Execution, string>()
  #tokens = 0
  #process: SimulatedProcess | null = null

  constructor(tables: Tables) {
    this.#tables = tables
  }

  /** The next body begins in this process. */
  announce(process: SimulatedProcess): void {
    this.#process = process
  }

  beginTrace(run: string): string[] {
    const trace: string[] = []
    const execution = turns.current as Execution
    const life = lifeOf(run, execution.deliveredSeq)
    this.#lives.set(execution, life)
    this.traces.set(life, [...(this.traces.get(life) ?? []), trace])
    return trace
  }

  onUndoable(run: string, path: string): void {
    this.undoable.add(`${run} ${path}`)
  }

  onRegistered(run: string, path: string): void {
    const { current } = turns
    if (!(current instanceof Execution)) return
    const undo = `${this.#lives.get(current) ?? run} ${path}`
    if (this.registered.has(undo)) return
    this.registered.set(undo, { turn: current.turn, nth: this.registered.size })
  }

  async perform(run: string, path: string, { delayMs, failures }: Work): Promise<string> {
    const process = this.#begin(run, path)
    if (this.parentOfDeadly !== null && this.#tables.runs.get(run)?.parent?.run === this.parentOfDeadly) {
      this.parentOfDeadly = null
      this.deadly.add(run)
    }
    if (delayMs > 0) await process.wait(delayMs)
    if (this.deadly.has(run)) {
      this.onDeadly(process)
      return new Promise(() => {})
    }
    const failed = this.#failures.get(`${run} ${path}`) ?? 0
    this.#failures.set(`${run} ${path}`, failed + 1)
    if (failed < failures) throw new Error(`failure ${failed} of ${path}`)
    return `token ${++this.#tokens}`
  }

  async startChild(id: string, parent: string): Promise<void> {
    await this.#begin(parent, id.slice(parent.length)).client.run(this.child, { parent }, { id })
  }

  async tellParent(id: string, parent: string): Promise<void> {
    const { client } = this.#begin(id, 'tell')
    try {
      await client.get(parent).signal('c', id, { id })
    } catch (error) {
      // The parent did not wait: another branch was faster.
      if (!PawlError.is(error, 'run-ended')) throw error
    }
  }

  #begin(run: string, path: string): SimulatedProcess {
    const process = this.#process
    if (process === null) throw new Error('A body began in no process.')
    this.#process = null
    const record = this.#tables.runs.get(run)
    const isInVain =
      record?.worker === process.worker &&
      standingEvents(record).some(
        (event) => event.type === 'settled' && bodyOf(event) === path && !isWithheld(event),
      )
    this.begun.push({ run, path, process: process.name, isInVain })
    return process
  }
}

/** The body that an event is about, by the name it has here. */
function bodyOf({ kind, name }: LogEvent): string {
  return kind === 'undo' ? `undo ${name}` : name
}
