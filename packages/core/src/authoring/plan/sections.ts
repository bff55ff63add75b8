import type { Section } from '../human/ask.ts'
import type { Task } from './plan.ts'
import { layersOf } from './read-tasks.ts'

/** The most layers and ids that a question shows. */
const mostShown = 20

/** How far a plan is. */
export interface PlanProgress {
  readonly tasks: readonly Task[]
  readonly results: { readonly [task: string]: unknown }
  readonly skipped: readonly string[]
}

/** The outcomes of a question about a task, in words. */
export interface Outcomes {
  /** Word for a yes: the title of its section. */
  readonly yes: 'approved' | 'ok'
  readonly no: 'rejected' | 'failed'
  /** A sentence on what follows from a no. */
  readonly ifNo: string
}

/** Builds the sections of a question about a task: what follows from each answer, and the layers of the plan. */
export function sectionsOf(task: Task, place: PlanProgress, outcomes: Outcomes): readonly Section[] {
  const { tasks, results, skipped } = place
  const layers = layersOf(tasks)
  const at = layers.findIndex((layer) => layer.some(({ id }) => id === task.id))
  const from = Math.max(0, Math.min(at - mostShown / 2, layers.length - mostShown))
  const rows = layers.slice(from, from + mostShown).map((layer, n) => ({
    layer: from + n + 1,
    tasks: listIds(layer),
    state:
      from + n === at
        ? 'now'
        : layer.every(({ id }) => id in results || skipped.includes(id))
          ? 'done'
          : 'later',
  }))
  const next = layers[at + 1]
  const behind = next === undefined ? 'the plan is done' : `layer ${at + 2} follows: ${listIds(next)}`
  const ifYes = task.verify === undefined ? `'${task.id}' runs; then ${behind}.` : capitalize(`${behind}.`)
  return [
    { title: `If ${outcomes.yes}`, body: ifYes, as: 'text' },
    { title: `If ${outcomes.no}`, body: outcomes.ifNo, as: 'text' },
    { title: `Plan, layer ${at + 1} of ${layers.length}`, body: rows, as: 'table' },
  ]
}

function listIds(tasks: readonly Task[]): string {
  const shown = tasks.slice(0, mostShown).map(({ id }) => id)
  return `${shown.join(', ')}${tasks.length > mostShown ? ` and ${tasks.length - mostShown} more` : ''}`
}

function capitalize(sentence: string): string {
  return `${sentence.slice(0, 1).toUpperCase()}${sentence.slice(1)}`
}
