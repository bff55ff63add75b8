import {
  type AskOrder,
  type AskQuery,
  type AskRow,
  everyone,
  namesOf,
  type WholeStore,
} from '@pawl/core/storage'
import { describe, expect } from 'vitest'
import { allAsks, newAsk } from '../builders.ts'
import type { Stage, StageTest } from '../stage.ts'

const now = 50_000

export function describeAskList(test: StageTest): void {
  describe('list of asks', () => {
    test('the list of asks is empty without asks', async (stage) => {
      expect(await stage.port.asks.list(allAsks())).toEqual([])
    })

    test('asks are listed overdue first, then by urgency, then by due time', async (stage) => {
      await ask(stage, 'a', [
        newAsk(0, { urgency: 3, dueAt: null }),
        newAsk(1, { urgency: 0, dueAt: now - 10 }),
        newAsk(2, { urgency: 3, dueAt: now + 10 }),
        newAsk(3, { urgency: 2, dueAt: now - 20 }),
        newAsk(4, { urgency: 1, dueAt: now + 5 }),
        newAsk(5, { urgency: 1, dueAt: now + 4 }),
        newAsk(6, { urgency: 1, dueAt: null }),
        newAsk(7, { urgency: 2, dueAt: now - 30 }),
      ])
      expect(positions(await stage.port.asks.list(allAsks({ now })))).toEqual([7, 3, 1, 2, 0, 5, 4, 6])
    })

    test('asks that are equal otherwise are listed oldest first', async (stage) => {
      await ask(stage, 'b', [newAsk(9)])
      await stage.passed((await stage.find('b')).createdAt + 5)
      await ask(stage, 'a', [newAsk(2), newAsk(1)])
      const rows = await stage.port.asks.list(allAsks())
      expect(rows.map(({ run, position }) => `${run}/${position}`)).toEqual(['b/9', 'a/1', 'a/2'])
    })

    test('an ask is overdue from the instant it is due', async (stage) => {
      await ask(stage, 'a', [newAsk(0, { dueAt: now }), newAsk(1, { dueAt: now + 1 }), newAsk(2)])
      expect(positions(await stage.port.asks.list(allAsks({ now, overdue: true })))).toEqual([0])
      expect(positions(await stage.port.asks.list(allAsks({ now, overdue: false })))).toEqual([1, 2])
      expect(positions(await stage.port.asks.list(allAsks({ now: now - 1, overdue: true })))).toEqual([])
    })

    test('an ask has lapsed from its timeout on, recorded or not', async (stage) => {
      await ask(stage, 'a', [
        newAsk(0, { dueAt: now, closesAt: now }),
        newAsk(1, { dueAt: now + 1, closesAt: now + 1 }),
        newAsk(2, { dueAt: now }),
        newAsk(3),
      ])
      const lapsed = async (filter: Parameters<typeof allAsks>[0]) =>
        positions(await stage.port.asks.list(allAsks({ now, ...filter })))
      expect(await lapsed({ lapsed: true })).toEqual([0])
      expect(await lapsed({ lapsed: false })).toEqual([2, 1, 3])
      expect(await lapsed({ lapsed: true, overdue: true })).toEqual([0])
      expect(await lapsed({ lapsed: true, overdue: false })).toEqual([])
      expect(await lapsed({ lapsed: false, limit: 2 })).toEqual([2, 1])
      expect(await lapsed({ lapsed: true, now: now - 1 })).toEqual([])
    })

    test('overdue is judged at the time of the query, not of the clock', async (stage) => {
      await ask(stage, 'a', [newAsk(0, { dueAt: 10 }), newAsk(1, { dueAt: null, urgency: 3 })])
      expect(positions(await stage.port.asks.list(allAsks({ now: 9 })))).toEqual([1, 0])
      expect(positions(await stage.port.asks.list(allAsks({ now: 10 })))).toEqual([0, 1])
    })

    test('a limit cuts the list, across the borders of urgency', async (stage) => {
      await ask(
        stage,
        'a',
        [0, 1, 2, 3].map((urgency) => newAsk(urgency, { urgency })),
      )
      expect(positions(await stage.port.asks.list(allAsks({ limit: 2 })))).toEqual([3, 2])
      expect(positions(await stage.port.asks.list(allAsks({ limit: 0 })))).toEqual([])
    })

    test('pages of any size make up the same list', async (stage) => {
      for (const id of ['a', 'b', 'c']) {
        await ask(
          stage,
          id,
          Array.from({ length: 24 }, (_, index) =>
            newAsk(index, { urgency: index % 4, dueAt: [null, now - 5, now + 5][index % 3] ?? null }),
          ),
        )
      }
      const whole = await stage.port.asks.list(allAsks({ now }))
      expect(whole).toHaveLength(72)
      for (const limit of [1, 7, 71, 72])
        expect(await readPages(stage.port, allAsks({ now, limit }))).toEqual(whole)
    })

    test('pages with a filter make up the same list', async (stage) => {
      await ask(
        stage,
        'a',
        Array.from({ length: 30 }, (_, index) =>
          newAsk(index, {
            to: [index % 2 === 0 ? 'user:amy' : 'user:bob'],
            dueAt: index % 5 === 0 ? now - index : null,
          }),
        ),
      )
      const filter = allAsks({ now, to: ['user:amy'] })
      const whole = await stage.port.asks.list(filter)
      expect(whole).toHaveLength(15)
      expect(await readPages(stage.port, { ...filter, limit: 4 })).toEqual(whole)
    })

    test('asks answered between two pages neither repeat nor hide others', async (stage) => {
      await ask(
        stage,
        'a',
        [0, 1, 2, 3, 4].map((position) => newAsk(position)),
      )
      const first = await stage.port.asks.list(allAsks({ limit: 2 }))
      await stage.port.asks.answer([{ run: 'a', position: 1, by: 'x', payload: new Uint8Array(1) }], null)
      const rest = await stage.port.asks.list(allAsks({ after: orderOf(first[1] as AskRow), limit: 10 }))
      expect(positions(rest)).toEqual([2, 3, 4])
    })

    test('a person sees the asks addressed to them', async (stage) => {
      await ask(stage, 'a', [
        newAsk(0, { to: ['user:amy', 'team:a'] }),
        newAsk(1, { to: ['user:bob'] }),
        newAsk(2, { to: [] }),
        newAsk(3, { to: ['user:amy%', 'user:AMY', 'xuser:amy', 'user:amy"'] }),
      ])
      expect(positions(await stage.port.asks.list(allAsks({ to: ['user:amy'] })))).toEqual([0])
      expect(positions(await stage.port.asks.list(allAsks({ to: ['team:a'] })))).toEqual([0])
      expect(positions(await stage.port.asks.list(allAsks({ to: ['user:amy"'] })))).toEqual([3])
      expect(positions(await stage.port.asks.list(allAsks({ to: [','] })))).toEqual([])
      expect(positions(await stage.port.asks.list(allAsks({ to: ['","'] })))).toEqual([])
    })

    test('the recipient of an escalation sees the ask once it is overdue', async (stage) => {
      await ask(stage, 'a', [
        newAsk(0, { to: ['user:amy'], escalateTo: ['boss'], dueAt: now }),
        newAsk(1, { to: ['user:amy'], escalateTo: ['boss'], dueAt: now + 1 }),
        newAsk(2, { to: ['boss'] }),
      ])
      expect(positions(await stage.port.asks.list(allAsks({ now, to: ['boss'] })))).toEqual([0, 2])
      expect(positions(await stage.port.asks.list(allAsks({ now, to: ['user:amy'] })))).toEqual([0, 1])
    })

    test('several names see the asks of each, once and in order, on any page', async (stage) => {
      const audiences = [['user:amy'], ['team:a', 'user:amy'], ['user:bob'], [], ['user:cyd']]
      for (const id of ['a', 'b'])
        await ask(
          stage,
          id,
          Array.from({ length: 40 }, (_, index) =>
            newAsk(index, {
              to: audiences[index % 5] ?? [],
              urgency: index % 4,
              dueAt: [null, now - 5, now + 5][index % 3] ?? null,
              escalateTo: index % 2 === 0 ? ['boss', 'user:amy'] : [],
            }),
          ),
        )
      const everything = await stage.port.asks.list(allAsks({ now, limit: 500 }))
      for (const to of [
        ['user:amy'],
        ['user:amy', 'team:a'],
        ['user:amy', 'user:bob', 'user:amy'],
        ['user:amy', everyone],
        [everyone],
        ['boss', 'user:cyd', 'user:zoe'],
        ['user:zoe'],
        [],
      ]) {
        const isTo = ({ to: names, escalateTo, dueAt }: AskRow) =>
          namesOf({ to: names ?? [], escalateTo: escalateTo ?? [] }).some(
            ({ name, late }) => to.includes(name) && (!late || (dueAt !== null && dueAt <= now)),
          )
        const wanted = everything.filter(isTo)
        const filter = allAsks({ now, to })
        expect(await stage.port.asks.list(filter)).toEqual(wanted)
        expect(await readPages(stage.port, { ...filter, limit: 7 })).toEqual(wanted)
        expect(await stage.port.asks.count(filter, 500)).toBe(wanted.length)
        const ofRun = wanted.filter(({ run }) => run === 'a')
        expect(await stage.port.asks.list({ ...filter, run: 'a' })).toEqual(ofRun)
        expect(await stage.port.asks.count({ ...filter, run: 'a' }, 500)).toBe(ofRun.length)
      }
    })

    test('a name sees no closed ask, however it was closed', async (stage) => {
      const to = ['user:amy']
      const payload = new Uint8Array(1)
      const standing = await ask(stage, 'a', [
        newAsk(0, { to }),
        newAsk(1, { to }),
        newAsk(2, { to, escalateTo: ['boss'] }),
        newAsk(3, { to, answered: { by: 'user:bob', at: now, payload } }),
        newAsk(4, { to: ['user:amy', 'team:a'] }),
      ])
      const answer = (position: number) => ({ run: 'a', position, by: 'user:amy', payload })
      expect(positions(await stage.port.asks.list(allAsks({ to })))).toEqual([0, 1, 2, 4])
      await stage.port.asks.answer([answer(0)], null)
      expect(positions(await stage.port.asks.list(allAsks({ to })))).toEqual([1, 2, 4])
      await stage.port.asks.answer([answer(1), answer(4)], null)
      expect(positions(await stage.port.asks.list(allAsks({ to })))).toEqual([2])
      expect(await stage.port.asks.count(allAsks({ to }), 9)).toBe(1)
      await stage.commit(standing, {
        opens: [newAsk(5, { to })],
        closes: [
          { position: 2, status: 'timed-out' },
          { position: 5, status: 'withdrawn' },
        ],
      })
      expect(positions(await stage.port.asks.list(allAsks({ to })))).toEqual([])
      expect(positions(await stage.port.asks.list(allAsks({ to, status: 'answered' })))).toEqual([0, 1, 3, 4])
      expect(await stage.port.asks.count(allAsks({ to, status: 'answered' }), 3)).toBe(3)
    })

    test('a filter narrows the asks of a name', async (stage) => {
      const worker = await stage.worker()
      const to = ['user:amy']
      await stage.commit(await stage.owned('a', worker), {
        opens: [
          newAsk(0, { to, kind: 'approve', dueAt: now - 1, closesAt: now - 1 }),
          newAsk(1, { to, kind: 'input', dueAt: now + 1 }),
        ],
      })
      await stage.commit(await stage.owned('b', worker, { procedure: 'order' }), {
        opens: [newAsk(2, { to })],
      })
      const seen = async (filter: Parameters<typeof allAsks>[0]) => {
        const query = allAsks({ now, to, ...filter })
        const rows = positions(await stage.port.asks.list(query))
        expect(await stage.port.asks.count(query, 9)).toBe(rows.length)
        return rows
      }
      expect(await seen({})).toEqual([0, 1, 2])
      expect(await seen({ procedure: 'order' })).toEqual([2])
      expect(await seen({ kind: 'input' })).toEqual([1])
      expect(await seen({ run: 'a', kind: 'approve' })).toEqual([0])
      expect(await seen({ lapsed: true })).toEqual([0])
      expect(await seen({ lapsed: false })).toEqual([1, 2])
      expect(await seen({ overdue: true })).toEqual([0])
      expect(await seen({ overdue: false })).toEqual([1, 2])
    })

    test('a count stops at its limit', async (stage) => {
      await ask(
        stage,
        'a',
        Array.from({ length: 12 }, (_, index) => newAsk(index, { to: ['user:amy', 'team:a'] })),
      )
      for (const to of [null, ['user:amy'], ['user:amy', 'team:a', everyone]]) {
        expect(await stage.port.asks.count(allAsks({ to }), 100)).toBe(12)
        expect(await stage.port.asks.count(allAsks({ to }), 5)).toBe(5)
        expect(await stage.port.asks.count(allAsks({ to, status: 'answered' }), 5)).toBe(0)
        expect(await stage.port.asks.count(allAsks({ to, run: 'a' }), 100)).toBe(12)
        expect(await stage.port.asks.count(allAsks({ to, run: 'b' }), 100)).toBe(0)
      }
    })

    test('asks are filtered by run, procedure and kind', async (stage) => {
      const worker = await stage.worker()
      await stage.commit(await stage.owned('a', worker), {
        opens: [newAsk(0, { kind: 'approve' }), newAsk(1, { kind: 'input' })],
      })
      await stage.commit(await stage.owned('b', worker, { procedure: 'order' }), { opens: [newAsk(2)] })
      expect(positions(await stage.port.asks.list(allAsks({ run: 'a' })))).toEqual([0, 1])
      expect(positions(await stage.port.asks.list(allAsks({ run: 'nowhere' })))).toEqual([])
      expect(positions(await stage.port.asks.list(allAsks({ procedure: 'order' })))).toEqual([2])
      expect(positions(await stage.port.asks.list(allAsks({ kind: 'input' })))).toEqual([1])
      expect(
        positions(await stage.port.asks.list(allAsks({ run: 'a', kind: 'approve', procedure: 'refund' }))),
      ).toEqual([0])
    })

    test('closed asks are listed on request', async (stage) => {
      const standing = await ask(stage, 'a', [newAsk(0), newAsk(1), newAsk(2), newAsk(3)])
      await stage.port.asks.answer(
        [{ run: 'a', position: 1, by: 'user:amy', payload: new Uint8Array(1) }],
        null,
      )
      const closes = [
        { position: 2, status: 'timed-out' } as const,
        { position: 3, status: 'withdrawn' } as const,
      ]
      await stage.commit(standing, { closes })
      expect(positions(await stage.port.asks.list(allAsks()))).toEqual([0])
      expect(positions(await stage.port.asks.list(allAsks({ status: 'answered' })))).toEqual([1])
      expect(positions(await stage.port.asks.list(allAsks({ status: 'timed-out' })))).toEqual([2])
      expect(positions(await stage.port.asks.list(allAsks({ status: 'withdrawn' })))).toEqual([3])
    })

    test('a row of the list equals the ask read alone', async (stage) => {
      await ask(stage, 'a', [newAsk(0, { key: 'k', dueAt: now, closesAt: now + 9, escalateTo: ['x'] })])
      expect(await stage.port.asks.list(allAsks())).toEqual([await stage.port.asks.find('a', 0)])
    })
  })
}

/** Opens asks in the run with that id. */
async function ask(stage: Stage, id: string, opens: ReturnType<typeof newAsk>[]) {
  const standing = await stage.owned(id, await stage.worker())
  expect(await stage.commit(standing, { opens })).toMatchObject({ outcome: 'ok' })
  return standing
}

async function readPages(port: WholeStore, filter: AskQuery): Promise<AskRow[]> {
  const rows: AskRow[] = []
  for (let page = await port.asks.list(filter); page.length > 0; ) {
    rows.push(...page)
    // Bounds the loop, in case a page returns the same asks again.
    expect(rows.length).toBeLessThan(1_000)
    page = await port.asks.list({ ...filter, after: orderOf(page.at(-1) as AskRow) })
  }
  return rows
}

function orderOf({ urgency, dueAt, openedAt, runKey, position }: AskRow): AskOrder {
  return { overdue: dueAt !== null && dueAt <= now, urgency, dueAt, openedAt, run: runKey, position }
}

function positions(rows: readonly AskRow[]): number[] {
  return rows.map(({ position }) => position)
}
