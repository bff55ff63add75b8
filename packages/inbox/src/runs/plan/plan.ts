import type { Json, LogEntry, Run, State } from '@pawl/server/internal'
import { isObject } from '../../api/json.ts'
import { plainOf } from '../../text/plain.ts'

/** A plan that a run exposes. */
export interface Plan {
  readonly name: string
  readonly status: string
  readonly layers: readonly (readonly Task[])[]
  readonly tasks: number
  readonly ended: number
}

export const taskStates = ['later', 'now', 'asked', 'done', 'skipped', 'failed', 'undone'] as const
export type TaskState = (typeof taskStates)[number]

export interface Task {
  readonly id: string
  /** The name of its action; none if it judges. */
  readonly use: string | undefined
  readonly needs: readonly string[]
  readonly check: 'human' | 'agent' | undefined
  readonly state: TaskState
  readonly isAdded: boolean
}

/** Returns the plans among what a run exposes. A value of another form, which a procedure may expose as well, is no plan. */
export function plansIn(states: readonly State[]): readonly Plan[] {
  return states.flatMap(({ name, value }) => {
    const plan = /^pawl\.plan(\.\d+)?$/.test(name) ? readPlan(name, plainOf(value ?? null)) : null
    return plan === null ? [] : [plan]
  })
}

function readPlan(name: string, value: Json): Plan | null {
  if (!isObject(value)) return null
  const { status, layers, tasks, ended } = value
  if (typeof status !== 'string' || typeof tasks !== 'number' || typeof ended !== 'number') return null
  if (!Array.isArray(layers)) return null
  return {
    ...{ name, status, tasks, ended },
    layers: (layers as readonly Json[]).map((layer) => (Array.isArray(layer) ? layer.flatMap(readTask) : [])),
  }
}

function readTask(value: Json): readonly Task[] {
  if (!isObject(value) || typeof value['id'] !== 'string') return []
  const { id, use, needs, check, state, isAdded } = value
  return [
    {
      id,
      use: typeof use === 'string' ? use : undefined,
      needs: Array.isArray(needs) ? needs.filter((need): need is string => typeof need === 'string') : [],
      check: check === 'human' || check === 'agent' ? check : undefined,
      state: taskStates.find((one) => one === state) ?? 'later',
      isAdded: isAdded === true,
    },
  ]
}

/**
 * Returns the plan with what the log says of the tasks of the layer under way, and the asks that they wait for. Of an ended run no task
 * is under way, and what its rollback has undone is undone: a run that ends without its code exposes nothing any more.
 */
export function overlay(
  plan: Plan,
  entries: readonly LogEntry[],
  { waitingFor, endedAt, rollback }: Pick<Run, 'waitingFor' | 'endedAt' | 'rollback'>,
): { readonly plan: Plan; readonly asks: ReadonlyMap<string, string> } {
  const asks = new Map<string, string>()
  for (const { name, ask } of waitingFor)
    if (ask !== undefined) asks.set(name.replace(/ · (approve|decide|verify)$/, ''), ask)
  // Newest first: the first of a name counts.
  const steps = new Map<string, LogEntry['status']>()
  for (const { name, type, status } of entries)
    if (type === 'step' && !steps.has(name)) steps.set(name, status)
  const undone = new Set(rollback?.undone)
  const stateOf = ({ id, state }: Task): TaskState => {
    if (state === 'done' && undone.has(id)) return 'undone'
    if (state !== 'now') return state
    if (asks.has(id)) return 'asked'
    const status = steps.get(id)
    if (status === 'done') return undone.has(id) ? 'undone' : status
    if (status === 'failed') return status
    return endedAt === undefined ? state : 'later'
  }
  const layers = plan.layers.map((layer) => layer.map((task) => ({ ...task, state: stateOf(task) })))
  return { plan: { ...plan, layers }, asks }
}
