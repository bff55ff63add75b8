import type { Actor } from '../../base/people.ts'
import { listIssues } from '../../errors/catalogue.ts'
import { isRevived, recordFailure, tellFailure } from '../../errors/failure.ts'
import { PawlError } from '../../errors/pawl-error.ts'
import { agentCall } from '../agent/context.ts'
import type { GateParts } from '../gate/context.ts'
import { createHuman } from '../human/context.ts'
import { askUnderFreeKey } from '../human/free-key.ts'
import { applyEdits, findBehind, type Promises, promisesOf } from './edits.ts'
import { type PlanSettings, readPlan } from './options.ts'
import { encodeOverview, overviewName, type PlanFacts, type PlanOverview } from './overview.ts'
import type { PlanEdit, PlanResult, PlanView, Proposal, Task } from './plan.ts'
import { runTask, type TaskEnd } from './tasks.ts'

/** Runs a plan. The order of its operations is part of every log that has one. */
export function plan(parts: GateParts, tasks: unknown, given: unknown): Promise<PlanResult> {
  const settings = readPlan(tasks, given, parts.options.decider)
  parts.actions.names ??= new Set()
  for (const { id } of settings.tasks) parts.actions.names.add(id)
  return new Planning(parts, settings).run()
}

/** The change by which a plan has a status of its own for undos that failed. */
const rollbackChange = 'pawl.plan.rollback'

/** What the planner and people make of a plan: it has changed, continues as it is, or stops. */
type Replanned = 'changed' | 'same' | 'stop'

/** The state of a plan: its given tasks and what the log says of them. Nothing else is stored. */
class Planning {
  readonly #parts: GateParts
  readonly #settings: PlanSettings
  readonly #group = {}
  #tasks: readonly Task[]
  #promises: Promises
  readonly #results: { [task: string]: unknown } = {}
  readonly #approvedBy: { [task: string]: Actor } = {}
  readonly #skipped = new Set<string>()
  readonly #edits: PlanEdit[] = []
  #undone: readonly string[] = []
  #undoFailed: readonly string[] = []
  #layers = 0
  /** The number of layers at the last change: the planner is not asked again before one more has run. */
  #layersAtChange = 0
  #replans = 0
  /** Whether people have decided that the planner is no longer asked. */
  #isFixed = false
  /** All tasks that there ever were, by id, for the overview. */
  readonly #known = new Map<string, Task>()
  readonly #ranIn = new Map<string, number>()
  readonly #failed = new Set<string>()
  readonly #overview: string

  constructor(parts: GateParts, settings: PlanSettings) {
    this.#parts = parts
    this.#settings = settings
    this.#tasks = settings.tasks
    this.#promises = promisesOf(settings.tasks, settings)
    this.#overview = overviewName(++parts.actions.plans)
    for (const task of settings.tasks) this.#known.set(task.id, task)
  }

  async run(): Promise<PlanResult> {
    try {
      for (;;) {
        const layer = this.#tasks.filter((task) => !this.#isOver(task.id) && this.#isDue(task))
        if (layer.length === 0) return this.#end('done')
        if (this.#settings.replan === 'per-layer' && this.#layers > this.#layersAtChange) {
          const outcome = await this.#replan(`layer ${this.#layers} has ended`)
          if (outcome === 'stop') return this.#end('stopped', 'people stopped the plan')
          this.#layersAtChange = this.#layers
          if (outcome === 'changed') continue
        }
        for (const { id } of layer) this.#ranIn.set(id, this.#layers)
        this.#show('running', layer)
        const failures = await this.#runLayer(layer)
        this.#layers++
        if (failures.length === 0) continue
        const end = await this.#fail(failures)
        if (end !== null) return end
      }
    } catch (error) {
      // Caught here: a wrapper would put one more promise between a result and the procedure, which is part of the log's format.
      this.#show(PawlError.is(error, 'cancelled') ? 'cancelled' : 'failed')
      throw error
    }
  }

  #isOver(id: string): boolean {
    return Object.hasOwn(this.#results, id) || this.#skipped.has(id)
  }

  #isDue({ needs = [] }: Task): boolean {
    return needs.every((id) => this.#isOver(id))
  }

  /** Runs a layer to its end, and returns its failed tasks. */
  async #runLayer(layer: readonly Task[]): Promise<readonly Failure[]> {
    const results = Object.freeze({ ...this.#results })
    const place = {
      plan: this.#settings,
      tasks: this.#tasks,
      results,
      skipped: [...this.#skipped],
      group: this.#group,
    }
    for (const { id } of layer) this.#failed.delete(id)
    const ends = await Promise.all(layer.map((task) => runTask(this.#parts, place, task)))
    for (const [i, end] of ends.entries()) this.#note(layer[i] as Task, end)
    return ends.flatMap((end, i) =>
      end.status === 'failed' ? [{ task: layer[i] as Task, why: end.why }] : [],
    )
  }

  #note({ id }: Task, end: TaskEnd): void {
    if (end.status === 'skipped')
      for (const one of [id, ...findBehind(this.#tasks, id)]) this.#skipped.add(one)
    if (end.status === 'failed') this.#failed.add(id)
    if (end.status !== 'done') return
    this.#results[id] = end.value
    if (end.by !== undefined) this.#approvedBy[id] = end.by
  }

  /** Handles the failed tasks of a layer. Null: the plan continues. */
  async #fail(failures: readonly Failure[]): Promise<PlanResult | null> {
    const verified = failures.filter(({ task }) => task.verify !== undefined)
    const [first] = verified.length > 0 ? verified : failures
    const { task, why } = first as Failure
    if (verified.length === 0 && this.#settings.replan === 'on-error')
      if ((await this.#replan(`'${task.id}' failed: ${why}`)) === 'changed') return null
    const looked = new Set(verified.flatMap(({ task: { needs = [] } }) => needs))
    // A verification undoes what it has looked at; a failed action undoes nothing, unless the author says so.
    if (verified.length > 0) await this.#undo(task.id, why, (id) => looked.has(id))
    else if (this.#settings.onError === 'rollback') await this.#undo(task.id, why, () => true)
    else await this.#alert(task.id, why, { undone: [], failed: [] })
    return this.#end(this.#failedStatus(), `${task.id}: ${why}`)
  }

  #failedStatus(): PlanResult['status'] {
    // Runs of earlier versions may have acted on the status that they had.
    if (this.#undoFailed.length > 0 && this.#parts.options.chooseBranch(rollbackChange, [1, 2]) === 2)
      return 'rollback-failed'
    return this.#undone.length > 0 ? 'rolled-back' : 'stopped'
  }

  async #undo(failed: string, why: string, isUndone: (id: string) => boolean): Promise<void> {
    const outcome = await this.#parts.rollback.runGroup(
      `task "${failed}" of the plan failed`,
      this.#group,
      isUndone,
    )
    this.#undone = outcome.undone
    this.#undoFailed = outcome.failed
    await this.#alert(failed, why, outcome)
  }

  async #alert(
    id: string,
    why: string,
    { undone, failed }: { readonly undone: readonly string[]; readonly failed: readonly string[] },
  ): Promise<void> {
    const { alert } = this.#settings
    if (alert === undefined) return
    const list = (names: readonly string[]): string => names.join(', ') || 'none'
    const details = [
      { title: 'Reason', body: why, as: 'text' as const },
      { title: 'Undone', body: list(undone), as: 'text' as const },
      ...(failed.length > 0 ? [{ title: 'Undos that failed', body: list(failed), as: 'text' as const }] : []),
    ]
    await this.#human.notify('Task {task} of the plan failed', {
      data: { task: id },
      to: alert,
      severity: 'error',
      details,
    })
  }

  /** Asks the planner, and people if it must not or cannot be followed. */
  async #replan(why: string): Promise<Replanned> {
    if (this.#isFixed) return 'same'
    if (this.#replans >= this.#settings.maxReplans) {
      this.#isFixed = true
      return this.#askPeople(`The planner was asked ${this.#replans} times already.`, why, [])
    }
    this.#replans++
    const proposal = await this.#propose(why)
    if ('failed' in proposal) return this.#askPeople('The planner failed.', why, [proposal.failed])
    if (proposal.edits.length === 0) return 'same'
    const { may } = this.#settings
    const isDone = (id: string): boolean => this.#isOver(id)
    const made = applyEdits(
      { ...this.#settings, tasks: this.#tasks, may, isDone, promises: this.#promises },
      proposal,
    )
    if ('issues' in made)
      return this.#askPeople('The proposal of the planner is refused.', why, [listIssues(made), proposal])
    this.#tasks = made.tasks
    this.#promises = promisesOf(made.tasks, this.#settings, this.#promises)
    for (const task of made.tasks) {
      this.#parts.actions.names?.add(task.id)
      this.#known.set(task.id, task)
    }
    for (const id of made.skipped) this.#skipped.add(id)
    this.#edits.push(...made.edits)
    return 'changed'
  }

  async #propose(why: string): Promise<Proposal | { readonly failed: string }> {
    const { planner, may } = this.#settings
    const tasks = this.#tasks.filter(({ id }) => !this.#isOver(id))
    const view: PlanView = { why, tasks, results: this.#results, skipped: [...this.#skipped], may }
    try {
      return (await this.#parts.issue(agentCall(planner, view, undefined, this.#parts.options))) as Proposal
    } catch (error) {
      if (!(error instanceof Error) || !isRevived(error)) throw error
      return { failed: tellFailure(recordFailure(error)).message }
    }
  }

  async #askPeople(what: string, why: string, shown: readonly unknown[]): Promise<Replanned> {
    const { alert } = this.#settings
    const details = shown.map((body, n) => ({ title: n === 0 ? 'Reason' : 'Proposal', body }))
    const choices = [
      { value: 'continue', label: 'Continue', effect: 'The plan continues as it is' },
      { value: 'stop', label: 'Stop', effect: 'No further task runs; nothing is undone' },
    ] as const
    const choice = await askUnderFreeKey('replan', (key) =>
      this.#human.select('{what} Continue with the plan as it is? ({why})', choices, {
        ...{ key, details, data: { what, why } },
        ...(alert === undefined ? {} : { to: alert }),
      }),
    )
    return choice === 'continue' ? 'same' : 'stop'
  }

  get #human(): ReturnType<typeof createHuman> {
    return createHuman(this.#parts.ask, this.#parts.options)
  }

  /** Exposes how far the plan is. It follows from the log, and is no event. */
  #show(status: PlanOverview['status'], layer: readonly Task[] = []): void {
    const now = new Set(layer.map(({ id }) => id))
    const current = new Set(this.#tasks.map(({ id }) => id))
    const given = new Set(this.#settings.tasks.map(({ id }) => id))
    const undone = new Set(this.#undone)
    const stateOf: PlanFacts['stateOf'] = (id) => {
      if (now.has(id)) return 'now'
      if (undone.has(id)) return 'undone'
      if (Object.hasOwn(this.#results, id)) return 'done'
      if (this.#failed.has(id)) return 'failed'
      return this.#skipped.has(id) || !current.has(id) ? 'skipped' : 'later'
    }
    const payload = encodeOverview({
      ...{ status, tasks: [...this.#known.values()], use: this.#settings.use },
      ...{ ranIn: this.#ranIn, layers: this.#layers, stateOf, isAdded: (id) => !given.has(id) },
    })
    this.#parts.options.exposed.expose(this.#overview, payload)
  }

  #end(status: PlanResult['status'], why?: string): PlanResult {
    this.#show(status)
    return {
      ...{ status, why, results: this.#results, skipped: [...this.#skipped] },
      ...{ undone: this.#undone, failed: this.#undoFailed, edits: this.#edits, approvedBy: this.#approvedBy },
    }
  }
}

interface Failure {
  readonly task: Task
  readonly why: string
}
