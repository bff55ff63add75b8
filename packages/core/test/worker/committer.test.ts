import { expect, test } from 'vitest'
import type { Unit, UnitOutcome } from '../../src/ports/store/log.ts'
import { Committer, type Writer } from '../../src/worker/committer.ts'

type CommitterOptions = ConstructorParameters<typeof Committer>[0]

/** Commits of a store that takes so many at once, each answered when the test says so; and runs that have one unit each. */
function createCommitter(commitsInFlight: number | undefined) {
  const calls: { readonly units: number; readonly end: () => void }[] = []
  const store = {
    commitsInFlight,
    log: {
      commit: (_worker: number, units: readonly Unit[]) =>
        new Promise<readonly UnitOutcome[]>((resolve) => {
          calls.push({ units: units.length, end: () => resolve(units.map(() => ({ outcome: 'fenced' }))) })
        }),
    },
  }
  const committer = new Committer({ store, worker: () => 1 } as unknown as CommitterOptions)
  const add = (count: number): void => {
    for (let i = 0; i < count; i++) {
      let isLeft = true
      const run: Writer = {
        id: `run ${i}`,
        prepare() {
          const unit = isLeft ? ({ events: [{}], effects: [] } as unknown as Unit) : null
          isLeft = false
          return unit
        },
        onOutcome() {},
        takeBack() {},
      }
      committer.add(run)
    }
  }
  return { calls, add }
}

async function untilQuiet(): Promise<void> {
  for (let round = 0; round < 5; round++) await new Promise((resolve) => setImmediate(resolve))
}

test('commits all ready units at once if one commit can be in flight', async () => {
  const { calls, add } = createCommitter(undefined)
  add(100)
  await untilQuiet()
  expect(calls.map(({ units }) => units)).toEqual([100])
})

test('divides ready units among the commits that can be in flight', async () => {
  const { calls, add } = createCommitter(2)
  add(100)
  await untilQuiet()
  expect(calls.map(({ units }) => units)).toEqual([50, 50])
  add(30)
  calls[0]?.end()
  await untilQuiet()
  expect(calls.map(({ units }) => units)).toEqual([50, 50, 30])
})

test('does not divide a few units', async () => {
  const { calls, add } = createCommitter(2)
  add(16)
  await untilQuiet()
  expect(calls.map(({ units }) => units)).toEqual([16])
})

/** A committer whose store answers when the test says so, and the runs of each commit. */
function createOrder() {
  const groups: string[][] = []
  const ends: (() => void)[] = []
  const store = {
    log: {
      commit: (_worker: number, units: readonly (Unit & { readonly of: string })[]) =>
        new Promise<readonly UnitOutcome[]>((resolve) => {
          groups.push(units.map(({ of }) => of))
          ends.push(() => resolve(units.map(() => ({ outcome: 'fenced' }))))
        }),
    },
  }
  const committer = new Committer({ store, worker: () => 1 } as unknown as CommitterOptions)
  /** A run with one unit of these effects. */
  const add = (id: string, effects: readonly object[]): void => {
    let isLeft = true
    committer.add({
      id,
      prepare() {
        const unit = isLeft ? ({ of: id, events: [{}], effects } as unknown as Unit) : null
        isLeft = false
        return unit
      },
      onOutcome() {},
      takeBack() {
        isLeft = true
      },
    })
  }
  return { groups, add, endLast: () => ends.at(-1)?.() }
}

const large = new Uint8Array(2 * 2 ** 20)

test.each<[string, (id: string) => object]>([
  ['questions', () => ({ do: 'open-ask', ask: { payload: large } })],
  ['early answers', () => ({ do: 'open-ask', ask: { payload: [], answered: { payload: large } } })],
  ['inputs of children', (id) => ({ do: 'create-run', run: { id, started: { payload: large } } })],
  ['messages', () => ({ do: 'send', message: { run: 'x', payload: large } })],
  ['replies', () => ({ do: 'reply', n: 1, payload: large })],
  ['checkpoints', () => ({ do: 'checkpoint', checkpoint: { payload: large } })],
  ['exposed values', () => ({ do: 'expose', name: 'x', payload: large })],
])('divides units with large %s among transactions', async (_what, effectOf) => {
  const { groups, add, endLast } = createOrder()
  for (let i = 0; i < 10; i++) add(`run ${i}`, [effectOf(`child ${i}`)])
  for (let commits = 0; commits < 3; commits++) {
    await untilQuiet()
    endLast()
  }
  expect(groups.map((runs) => runs.length)).toEqual([4, 4, 2])
})

const sendTo = (run: string) => ({ do: 'send', message: { run, payload: null } })
const create = (id: string) => ({ do: 'create-run', run: { id, started: { payload: null } } })

test.each([
  [
    'is sent to before',
    [
      ['a', [sendTo('b')]],
      ['b', []],
      ['c', []],
    ],
    [['a', 'c'], ['b']],
  ],
  [
    'is sent to after',
    [
      ['b', []],
      ['a', [sendTo('b')]],
      ['c', []],
    ],
    [['b', 'c'], ['a']],
  ],
  [
    'two units send to',
    [
      ['a', [sendTo('b')]],
      ['c', [sendTo('b')]],
      ['b', []],
    ],
    [['a', 'c'], ['b']],
  ],
  [
    'another unit creates too',
    [
      ['a', [create('x')]],
      ['c', [create('x')]],
      ['b', []],
    ],
    [['a', 'b'], ['c']],
  ],
  [
    'another unit creates, and this one sends to',
    [
      ['a', [create('x')]],
      ['c', [sendTo('x')]],
    ],
    [['a'], ['c']],
  ],
] as [string, [string, object[]][], string[][]][])(
  'keeps a run that %s for the next commit',
  async (_, given, wanted) => {
    const { groups, add, endLast } = createOrder()
    for (const [id, effects] of given) add(id, effects)
    await untilQuiet()
    endLast()
    await untilQuiet()
    expect(groups).toEqual(wanted)
  },
)
