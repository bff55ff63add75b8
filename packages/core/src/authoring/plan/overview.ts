import { encode } from '../../events/payload.ts'
import { checkOf } from './edits.ts'
import { type Actions, isAction, type PlanResult, type Task } from './plan.ts'
import { layersOf } from './read-tasks.ts'

/** The value that a run exposes of its n-th plan, from 1. Declared values cannot have such a name by accident. */
export function overviewName(n: number): string {
  return n === 1 ? 'pawl.plan' : `pawl.plan.${n}`
}

/** 'cancelled' and 'failed': the call of the plan has thrown, and there is no result. */
type PlanStatus = 'running' | PlanResult['status'] | 'cancelled' | 'failed'

/** A plan without its params and results, which the page of a run draws. */
export interface PlanOverview {
  readonly status: PlanStatus
  /** In the order in which they run. Empty if the plan is too large to be shown. */
  readonly layers: readonly (readonly ShownTask[])[]
  /** The number of tasks. */
  readonly tasks: number
  /** The number of tasks that have ended. */
  readonly ended: number
}

type TaskState = 'later' | 'now' | 'done' | 'skipped' | 'failed' | 'undone'

/** A task of the overview. */
interface ShownTask {
  readonly id: string
  /** The name of its action; none if it judges. */
  readonly use?: string
  readonly needs: readonly string[]
  /** Who must agree before it acts. */
  readonly check?: 'human' | 'agent'
  readonly state: TaskState
  /** Whether the planner has added it. */
  readonly isAdded?: true
}

/** What is known of a plan. */
export interface PlanFacts {
  readonly status: PlanOverview['status']
  /** The tasks of all versions of the plan. */
  readonly tasks: readonly Task[]
  readonly use: Actions
  /** The layer in which each task has run, by id. */
  readonly ranIn: ReadonlyMap<string, number>
  /** The number of layers that have ended. */
  readonly layers: number
  stateOf(id: string): TaskState
  isAdded(id: string): boolean
}

const maxBytes = 200 * 1024

/** Encodes the overview of a plan; of a large one without needs, and of a very large one without tasks. */
export function encodeOverview(facts: PlanFacts): Uint8Array | null {
  const tasks = facts.tasks.map((task) => show(task, facts))
  const ended = tasks.filter(({ state }) => state !== 'later' && state !== 'now').length
  const made = { status: facts.status, tasks: tasks.length, ended }
  const placed = placeTasks(facts)
  const last = Math.max(-1, ...placed.values())
  const layersWith = (shown: readonly ShownTask[]): readonly (readonly ShownTask[])[] => {
    const layers = Array.from({ length: last + 1 }, (): ShownTask[] => [])
    for (const task of shown) layers[placed.get(task.id) as number]?.push(task)
    return layers.filter((layer) => layer.length > 0)
  }
  for (const shown of [tasks, tasks.map((task) => ({ ...task, needs: [] })), []]) {
    const payload = encode({ ...made, layers: layersWith(shown) } satisfies PlanOverview, 'plan')
    if (payload === null || payload.length <= maxBytes || shown.length === 0) return payload
  }
  return null
}

function show(task: Task, { use, stateOf, isAdded }: PlanFacts): ShownTask {
  const check = checkOf(task, { use })
  return {
    id: task.id,
    ...(isAction(task) ? { use: task.use } : {}),
    needs: task.needs ?? [],
    ...(check === undefined ? {} : { check: check.type }),
    state: stateOf(task.id),
    ...(isAdded(task.id) ? { isAdded: true } : {}),
  }
}

/** Returns the layer of each task: the one in which it has run, else the first that can still run it. */
function placeTasks({ tasks, ranIn, layers, stateOf }: PlanFacts): ReadonlyMap<string, number> {
  const placed = new Map<string, number>()
  for (const { id, needs = [] } of layersOf(tasks).flat()) {
    const earliest = stateOf(id) === 'skipped' ? 0 : layers
    const after = needs.reduce((most, need) => Math.max(most, (placed.get(need) ?? -1) + 1), earliest)
    placed.set(id, ranIn.get(id) ?? after)
  }
  // A task of an earlier version may need one that is there no more.
  for (const { id } of tasks) if (!placed.has(id)) placed.set(id, ranIn.get(id) ?? layers)
  return placed
}
