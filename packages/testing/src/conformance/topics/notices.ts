import type { NewNotice, NoticeQuery } from '@pawl/core/storage'
import { everyone } from '@pawl/core/storage'
import { describe, expect } from 'vitest'
import { allRuns, bytes, text, unitFor } from '../builders.ts'
import type { StageTest } from '../stage.ts'

const all: NoticeQuery = {
  ...{ n: null, run: null, to: null, reader: null, unread: false, before: null, limit: 100 },
}

export function describeNotices(test: StageTest): void {
  describe('notices', () => {
    test('a store without notices has none', async (stage) => {
      expect(await stage.port.notices.list(all)).toEqual([])
      expect(await stage.port.notices.markRead([1, 2], 'user:ana')).toBe(0)
    })

    test('a notice is written with its unit, beside its entry of the feed, and listed from the newest', async (stage) => {
      const { port } = stage
      const a = await stage.owned('a', await stage.worker())
      const head = a.head
      const outcome = await stage.commit(a, { notices: [notice(4), notice(5, { severity: 'critical' })] })
      const at = outcome.outcome === 'ok' ? outcome.at : 0
      const rows = await port.notices.list(all)
      expect(rows.map(({ position, severity, payload }) => [position, severity, text(payload)])).toEqual([
        [5, 'critical', 'notice 5'],
        [4, 'info', 'notice 4'],
      ])
      expect(rows[1]).toMatchObject({
        run: 'a',
        runKey: a.run,
        kind: 'notice',
        to: [],
        seq: head,
        at,
        isRead: false,
      })
      const { entries } = await port.feed.read(0, 10)
      const told = entries.filter(({ kind }) => kind === 'notice')
      expect(told.map(({ run, position }) => [run, position])).toEqual(
        rows.toReversed().map(({ n }) => ['a', n]),
      )
    })

    test('one that is written again changes nothing and is in the feed once; another text is another notice', async (stage) => {
      const { port } = stage
      const a = await stage.owned('a', await stage.worker())
      await stage.commit(a, { notices: [notice(4)] })
      await stage.commit(a, { notices: [notice(4), notice(4, { digest: -7, payload: bytes('other') })] })
      expect((await port.notices.list(all)).map(({ payload }) => text(payload))).toEqual([
        'other',
        'notice 4',
      ])
      expect((await port.feed.read(0, 10)).entries.filter(({ kind }) => kind === 'notice')).toHaveLength(2)
    })

    test('a refused unit writes none', async (stage) => {
      const worker = await stage.worker()
      const a = await stage.owned('a', worker)
      const stale = unitFor({ ...a, epoch: a.epoch - 1 }, { notices: [notice(1)] })
      expect((await stage.port.log.commit(worker, [stale]))[0]).toMatchObject({ outcome: 'fenced' })
      expect(await stage.port.notices.list(all)).toEqual([])
      expect((await stage.port.feed.read(0, 10)).entries).toEqual([])
    })

    test('a list is narrowed by number, run and audience, and pages end where the next one begins', async (stage) => {
      const { port } = stage
      const worker = await stage.worker()
      const [a, b] = [await stage.owned('a', worker), await stage.owned('b', worker)]
      await stage.commit(a, { notices: [notice(1), notice(2, { to: ['user:ana', 'group:ops'] })] })
      await stage.commit(b, { notices: [notice(1, { to: ['group:ops'] }), notice(3, { to: ['user:bo'] })] })
      const list = async (query: Partial<NoticeQuery>): Promise<readonly string[]> =>
        (await port.notices.list({ ...all, ...query })).map(({ run, position }) => `${run}${position}`)
      expect(await list({})).toEqual(['b3', 'b1', 'a2', 'a1'])
      expect(await list({ run: a.run })).toEqual(['a2', 'a1'])
      expect(await list({ to: ['user:ana', 'group:ops'] })).toEqual(['b1', 'a2'])
      expect(await list({ to: ['user:bo', everyone] })).toEqual(['b3', 'a1'])
      expect(await list({ to: [] })).toEqual([])
      const [newest, second] = await port.notices.list({ ...all, limit: 2 })
      expect(await list({ n: newest?.n ?? 0 })).toEqual(['b3'])
      expect(await list({ before: second?.n ?? 0, limit: 1 })).toEqual(['a2'])
    })

    test('each person has read marks of their own', async (stage) => {
      const { port } = stage
      const a = await stage.owned('a', await stage.worker())
      await stage.commit(a, { notices: [notice(1), notice(2)] })
      const [two, one] = (await port.notices.list(all)).map(({ n }) => n) as [number, number]
      expect(await port.notices.markRead([one, 999], 'user:ana')).toBe(1)
      expect(await port.notices.markRead([one, two], 'user:ana')).toBe(1)
      expect(await port.notices.markRead([two], 'user:bo')).toBe(1)
      const readBy = async (reader: string): Promise<readonly boolean[]> =>
        (await port.notices.list({ ...all, reader })).map(({ isRead }) => isRead)
      expect(await readBy('user:ana')).toEqual([true, true])
      expect(await readBy('user:bo')).toEqual([true, false])
      const unread = await port.notices.list({ ...all, reader: 'user:bo', unread: true })
      expect(unread.map(({ n }) => n)).toEqual([one])
    })

    test('runs with a failed undo are listed, also once they have ended, and those of earlier generations are not', async (stage) => {
      const { port } = stage
      const worker = await stage.worker()
      const [a, b, c] = [
        await stage.owned('a', worker),
        await stage.owned('b', worker),
        await stage.owned('c', worker),
      ]
      await stage.commit(a, { notices: [failedUndo(1), failedUndo(2)] })
      await stage.commit(b, { notices: [notice(1)] })
      await stage.commit(c, { notices: [failedUndo(1)] })
      const list = async (): Promise<readonly string[]> =>
        (await port.runs.list(allRuns({ failedUndo: true }))).map(({ id }) => id)
      expect(await list()).toEqual(['c', 'a'])
      await stage.commit(a, { next: { do: 'end', state: 'failed' }, strict: true })
      expect(await list()).toEqual(['c', 'a'])
      await stage.commit(c, { begins: (await stage.find('c')).head })
      expect(await list()).toEqual(['a'])
    })

    test('notices are deleted with their run, and are read and installed with it, without an entry of the feed', async (stage) => {
      const { port } = stage
      const a = await stage.owned('a', await stage.worker())
      await stage.commit(a, { notices: [notice(1, { to: ['user:ana'] }), failedUndo(2)] })
      await stage.commit(a, { next: { do: 'end', state: 'failed' }, strict: true })
      const kept = (await port.copies.extract('a'))?.notices ?? []
      expect(kept.map(({ position, kind, to }) => [position, kind, to])).toEqual([
        [1, 'notice', ['user:ana']],
        [2, 'failed-undo', []],
      ])
      await port.notices.markRead(
        (await port.notices.list(all)).map(({ n }) => n),
        'user:ana',
      )
      expect(await port.removals.remove([a.run])).toEqual(['removed'])
      expect(await port.notices.list(all)).toEqual([])
      expect(await port.notices.list({ ...all, to: ['user:ana', everyone] })).toEqual([])
    })
  })
}

function notice(position: number, overrides: Partial<NewNotice> = {}): NewNotice {
  const payload = bytes(`notice ${position}`)
  return { position, digest: 2 ** 31 - 1, kind: 'notice', severity: 'info', to: [], payload, ...overrides }
}

function failedUndo(position: number): NewNotice {
  return notice(position, { kind: 'failed-undo', severity: 'critical' })
}
