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

/** Builds what a person sees of the plan: its layers, and what follows each answer. */
export function sectionsOf(task: Task, place: PlanProgress, onReject: 'cancel' | 'skip'): readonly Section[] {
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
  const no =
    onReject === 'cancel'
      ? 'the run is cancelled, and its completed steps are undone'
      : `'${task.id}' and everything behind it is skipped`
  return [
    { title: 'If approved', body: `'${task.id}' runs; then ${behind}.`, as: 'text' },
    { title: 'If rejected', body: `${no[0]?.toUpperCase()}${no.slice(1)}.`, as: 'text' },
    { title: `Plan, layer ${at + 1} of ${layers.length}`, body: rows, as: 'table' },
  ]
}

function listIds(tasks: readonly Task[]): string {
  const shown = tasks.slice(0, mostShown).map(({ id }) => id)
  return `${shown.join(', ')}${tasks.length > mostShown ? ` and ${tasks.length - mostShown} more` : ''}`
}
