import { refuse } from '../../checks/options.ts'
import { showFailure } from '../../errors/catalogue.ts'
import { failureOf, recordFailure } from '../../errors/failure.ts'
import { PawlError } from '../../errors/pawl-error.ts'
import type { RollbackRecord } from '../../events/payloads.ts'
import type { Scopes } from '../../kernel/operation.ts'
import { createScope, type Scope } from '../../kernel/scope.ts'
import type { ContinueRequests } from '../generations/continue-as.ts'
import type { Resolution } from '../human/ask.ts'
import { escalation } from '../human/context.ts'
import type { ProcedureOperation } from '../operations.ts'

const maxUndos = 10_000

const undoChoices = [
  { value: 'again', label: 'Run it again' },
  { value: 'done by hand', label: 'Done by hand', effect: 'The run records it as undone' },
  { value: 'leave it', label: 'Leave it', effect: 'The run records it as failed' },
]

/** What a rollback does if an undo fails. */
export interface RollbackSpec {
  /**
   * If an undo fails after all its attempts: 'continue' with the next one, or 'ask' the `owner` of the procedure, with the choices
   * 'again', 'done by hand' and 'leave it'. The rollback waits for the answer. Default: 'continue'. 'ask' requires an `owner`.
   */
  readonly onFailure?: 'continue' | 'ask'
}

/** What a run has undone so far. */
export interface RollbackProgress extends RollbackRecord {
  /** The names of the undos that are registered or at work, in order of registration. */
  readonly left: string[]
  /** The procedures of completed children behind which no undo was registered. Missing if there are none. */
  bare?: Set<string>
}

export function createRollbackProgress(): RollbackProgress {
  return { reason: undefined, undone: [], failed: [], left: [] }
}

interface Undo {
  readonly name: string
  readonly operation: ProcedureOperation
  /** The plan it belongs to, if any. */
  readonly group?: object | undefined
}

/** What a rollback of a group came to. */
export interface GroupRollback {
  readonly undone: string[]
  readonly failed: string[]
}

export interface RollbackOptions {
  /** Its owner is asked about an undo that failed, if it says so; otherwise the next undo runs. */
  readonly definition: {
    readonly owner?: string | undefined
    readonly asksOnFailedUndo?: boolean | undefined
  }
  /** Whether an error parks the run, so that nothing is undone: the code continues once it is fixed. */
  isParked(error: unknown): boolean
  /** Receives what is undone. */
  readonly rollback: RollbackProgress
  readonly requests: Pick<ContinueRequests, 'has'>
}

/**
 * The undos that a run has registered. They run in reverse order, one at a time, in a scope that no cancel reaches. The order is
 * the order of the log: a step registers its undo when its result is delivered, so a replay registers the same ones.
 */
export class Rollback {
  readonly #scopes: Scopes<ProcedureOperation>
  readonly #options: RollbackOptions
  readonly #undos: Undo[] = []
  /** Null until there is a rollback. */
  #running: Promise<void> | null = null
  /** Rollbacks that are not over: the last undo of one is no longer in the list, and still at work. */
  #open = 0
  /** Whether the run has failed, and the rollback at its end has begun. */
  #isEnding = false
  /** The procedure of the child that has completed last, until an undo is registered. */
  #bareChild: string | null = null

  constructor(scopes: Scopes<ProcedureOperation>, options: RollbackOptions) {
    this.#scopes = scopes
    this.#options = options
  }

  register(name: string, operation: ProcedureOperation, group?: object): void {
    if (this.#undos.length === maxUndos)
      refuse('undo', name, `A run can register at most ${maxUndos} undos.`, `number ${maxUndos + 1}`)
    this.add(name, operation, group)
  }

  /** Registers without a limit: a step whose result is late can no longer be rejected. */
  add(name: string, operation: ProcedureOperation, group?: object): void {
    this.#bareChild = null
    this.#undos.push({ name, operation, group })
    this.#options.rollback.left.push(name)
  }

  /** Notes that a child has completed, whose undos no longer run. The next undo that is registered counts as one for it. */
  noteCompleted(procedure: string): void {
    this.#noteBare()
    this.#bareChild = procedure
  }

  #noteBare(): void {
    if (this.#bareChild === null) return
    const { rollback } = this.#options
    rollback.bare ??= new Set()
    rollback.bare.add(this.#bareChild)
  }

  /** Runs the undos registered so far. Later calls wait for earlier ones. */
  run(reason: string): Promise<void> {
    this.#open++
    this.#running = (this.#running ?? Promise.resolve()).then(() => this.#undoAll(reason))
    return this.#running
  }

  /**
   * Runs the undos of all steps that were issued so far: it waits for those at work, whose undos are not registered yet. `waits`: whether
   * it does, which is asked only if there are some.
   */
  runAll(reason: string, waits: () => boolean): Promise<void> {
    const working = this.#scopes.undoable
    if (working.length === 0 || !waits()) return this.run(reason)
    return Promise.allSettled(working).then(() => this.run(reason))
  }

  /** Runs the undos of a group that have a chosen name, and leaves the others registered. */
  async runGroup(reason: string, group: object, isChosen: (name: string) => boolean): Promise<GroupRollback> {
    const came: GroupRollback = { undone: [], failed: [] }
    this.#open++
    this.#running = (this.#running ?? Promise.resolve()).then(() =>
      this.#undoAll(reason, (undo) => undo.group === group && isChosen(undo.name), came),
    )
    await this.#running
    return came
  }

  async #undoAll(
    reason: string,
    isChosen: (undo: Undo) => boolean = () => true,
    came?: GroupRollback,
  ): Promise<void> {
    const scopes = this.#scopes
    const record = this.#options.rollback
    this.#noteBare()
    // A closed step may have a result in the log, whose undo is to be registered first.
    if (scopes.isUnsettled) await new Promise<void>((resolve) => scopes.whenQuiet(false, resolve))
    const scope = createScope(null)
    for (let undo = this.#take(isChosen); undo !== undefined; undo = this.#take(isChosen)) {
      record.reason ??= reason
      const isUndone = await this.#undo(scope, undo)
      came?.[isUndone ? 'undone' : 'failed'].push(undo.name)
      record.left.splice(record.left.lastIndexOf(undo.name), 1)
    }
    this.#open--
  }

  /** Takes the newest undo that is chosen. */
  #take(isChosen: (undo: Undo) => boolean): Undo | undefined {
    const index = this.#undos.findLastIndex(isChosen)
    return index < 0 ? undefined : this.#undos.splice(index, 1)[0]
  }

  /** Runs one undo; if it fails and the procedure says so, its owner decides what becomes of it. Returns whether it is undone. */
  async #undo(scope: Scope, { name, operation }: Undo): Promise<boolean> {
    const { rollback: record, definition } = this.#options
    const owner = definition.asksOnFailedUndo === true ? definition.owner : undefined
    for (;;) {
      try {
        await this.#scopes.issueIn(scope, operation)
        record.undone.push(name)
        return true
      } catch (error) {
        const choice = owner === undefined ? 'leave it' : await this.#askOwner(scope, owner, name, error)
        if (choice === 'again') continue
        const isDone = choice === 'done by hand'
        if (isDone) record.undone.push(name)
        else record.failed.push({ name, failure: recordFailure(error) })
        return isDone
      }
    }
  }

  /** The rollback waits for the answer. */
  async #askOwner(scope: Scope, owner: string, name: string, error: unknown): Promise<string> {
    const message = `The undo of "${name}" has failed. What becomes of it?`
    const operation = escalation(message, { to: owner, choices: undoChoices, error })
    const { choice } = (await this.#scopes.issueIn(scope, operation)) as Resolution<string>
    return choice
  }

  /** Runs a procedure, and rolls back if it fails or its end is forced. */
  guard(body: Promise<unknown>): Promise<unknown> {
    const scopes = this.#scopes
    return new Promise((resolve, reject) => {
      const fail = (error: unknown): void => {
        // An end that is forced while the rollback waits for a shield lets it continue.
        if (this.#isEnding) return
        if (this.#isOver || this.#isParked(error)) return reject(error as Error)
        this.#isEnding = true
        scopes.close([scopes.root], () => closedBy(error))
        this.#undoUntilEmpty(showFailure(failureOf(recordFailure(error)))).then(
          () => reject(error as Error),
          reject,
        )
      }
      scopes.onForced(fail)
      body.then((output) => {
        // The cancel had reached the procedure: the run does not continue, whatever its code returns.
        const cancel = scopes.root.closed?.error
        if (cancel && this.#options.requests.has(output)) fail(cancel())
        else resolve(output)
      }, fail)
    })
  }

  /** Whether nothing is to be undone, and nothing is left that may still register an undo. */
  get #isOver(): boolean {
    const { isUnsettled, isRejecting } = this.#scopes
    return this.#isEmpty && !isUnsettled && !isRejecting
  }

  /** Whether nothing is registered, and no undo is at work. */
  get #isEmpty(): boolean {
    return this.#undos.length === 0 && this.#open === 0
  }

  /** Runs all undos once no shield is open. Ends once nothing that may still register one is left. */
  async #undoUntilEmpty(reason: string): Promise<void> {
    const scopes = this.#scopes
    const settled = (): Promise<void> => new Promise((resolve) => scopes.whenQuiet(true, resolve))
    for (await settled(); !this.#isEmpty; await settled()) await this.run(reason)
  }

  /** Once the run is cancelled it ends, whatever its code does. */
  #isParked(error: unknown): boolean {
    return this.#scopes.root.closed === null && this.#options.isParked(error)
  }
}

function closedBy(error: unknown): PawlError {
  const reason = `the run failed: ${showFailure(failureOf(recordFailure(error)))}`
  return new PawlError('cancelled', { reason }, { what: 'The run failed, and is rolled back.' })
}
