import { expect, test } from 'vitest'
import { encodeOverview, overviewName } from '../../../src/authoring/plan/overview.ts'
import type { Task } from '../../../src/authoring/plan/plan.ts'
import { decode } from '../../../src/events/payload.ts'

const limit = 256 * 1024

function overviewOf(tasks: readonly Task[]) {
  const payload = encodeOverview({
    ...{ status: 'running', tasks, use: {}, ranIn: new Map(), layers: 0 },
    ...{ stateOf: () => 'later', isAdded: () => false },
  })
  expect(payload?.length).toBeLessThan(limit)
  return decode(payload) as { readonly layers: readonly (readonly { readonly needs: string[] }[])[] }
}

const layer = (prefix: string, count: number, needs: readonly string[] = []): readonly Task[] =>
  Array.from({ length: count }, (_, i) => ({ id: `${prefix}${i}`, use: 'act', needs }))

test('the overview of a plan is left without needs if they are too large, and without tasks if those are', () => {
  const first = layer('a'.repeat(10), 150)
  const dense = [
    ...first,
    ...layer(
      'b',
      150,
      first.map(({ id }) => id),
    ),
  ]
  const sparse = [...first, ...layer('b', 150, ['aaaaaaaaaa1'])]
  expect(overviewOf(sparse).layers[1]?.[0]).toMatchObject({ needs: ['aaaaaaaaaa1'] })
  expect(overviewOf(dense)).toMatchObject({ tasks: 300, ended: 0 })
  expect(overviewOf(dense).layers.map((tasks) => tasks.length)).toEqual([150, 150])
  expect(
    overviewOf(dense)
      .layers.flat()
      .every(({ needs }) => needs.length === 0),
  ).toBe(true)
  expect(overviewOf(layer('x'.repeat(170), 1_300))).toMatchObject({ tasks: 1_300, layers: [] })
})

test('plans of one run have names of their own', () => {
  expect([1, 2, 3].map(overviewName)).toEqual(['pawl.plan', 'pawl.plan.2', 'pawl.plan.3'])
})

test('a task that needs one that is not there is shown in the present layer', () => {
  const orphan: Task = { id: 'b', use: 'act', needs: ['gone'] }
  const shown = overviewOf([{ id: 'a', use: 'act' }, orphan]).layers.flat()
  expect(shown).toMatchObject([{ id: 'a' }, { id: 'b', needs: ['gone'] }])
})
