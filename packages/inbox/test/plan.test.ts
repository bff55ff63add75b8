import { expect, test } from 'vitest'
import { overlay, type Plan, type TaskState } from '../src/runs/plan/plan.ts'

const task = (id: string, state: TaskState) =>
  ({ id, state, use: 'go', needs: [], check: undefined, isAdded: false }) as const
const plan: Plan = {
  ...{ name: 'pawl.plan', status: 'running', tasks: 2, ended: 1 },
  layers: [[task('first', 'done')], [task('second', 'now')]],
}
const statesOf = (run: Parameters<typeof overlay>[2]) =>
  overlay(plan, [], run)
    .plan.layers.flat()
    .map(({ state }) => state)

test('no task of an ended run is under way, and what its rollback has undone is undone', () => {
  expect(statesOf({ waitingFor: [] })).toEqual(['done', 'now'])
  const ended = { waitingFor: [], endedAt: '2026-01-01T00:00:00.000Z' }
  expect(statesOf(ended)).toEqual(['done', 'later'])
  const rollback = { reason: '', undone: ['first'], failed: [] }
  expect(statesOf({ ...ended, rollback })).toEqual(['undone', 'later'])
})
