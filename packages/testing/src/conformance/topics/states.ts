import { describe, expect } from 'vitest'
import { bytes, settled, signal, text, unitFor } from '../builders.ts'
import type { Stage, StageTest } from '../stage.ts'

export function describeStates(test: StageTest): void {
  describe('exposed values', () => {
    test('a run without exposed values has none', async (stage) => {
      const { run } = await stage.owned('a', await stage.worker())
      expect(await stage.port.states.list(run, null)).toEqual([])
      expect(await stage.port.states.list(run, 'status')).toEqual([])
    })

    test('values are written with their unit, replaced by name, and listed in the order of their names', async (stage) => {
      const a = await stage.owned('a', await stage.worker())
      await stage.commit(a, {
        states: [
          { name: 'total', payload: bytes('1') },
          { name: 'Status', payload: bytes('paid') },
          { name: 'nothing', payload: null },
        ],
      })
      expect(await read(stage, a.run)).toEqual([
        ['Status', 'paid'],
        ['nothing', null],
        ['total', '1'],
      ])
      const outcome = await stage.commit(a, { events: [], states: [{ name: 'total', payload: bytes('2') }] })
      const at = outcome.outcome === 'ok' ? outcome.at : 0
      expect(await stage.port.states.list(a.run, 'total')).toMatchObject([{ name: 'total', at }])
      expect(await read(stage, a.run)).toEqual([
        ['Status', 'paid'],
        ['nothing', null],
        ['total', '2'],
      ])
    })

    test('each run has its own values, also of one commit, and keeps them after its end', async (stage) => {
      const worker = await stage.worker()
      const [a, b] = [await stage.owned('a', worker), await stage.owned('b', worker)]
      await stage.port.log.commit(worker, [
        unitFor(a, {
          states: [{ name: 'x', payload: bytes('of a') }],
          next: { do: 'end', state: 'completed' },
        }),
        unitFor(b, { states: [{ name: 'x', payload: bytes('of b') }], next: { do: 'park', wakeAt: null } }),
      ])
      expect(await read(stage, a.run)).toEqual([['x', 'of a']])
      expect(await read(stage, b.run)).toEqual([['x', 'of b']])
      expect(await stage.find('b')).toMatchObject({ owned: false, head: 2 })
    })

    test('a unit that is not written exposes nothing', async (stage) => {
      const a = await stage.owned('a', await stage.worker())
      const states = [{ name: 'x', payload: bytes('1') }]
      expect(await stage.commit({ ...a, epoch: a.epoch + 1 }, { states })).toEqual({ outcome: 'fenced' })
      await stage.port.mail.send([signal('a')], null)
      expect(await stage.commit(a, { strict: true, states })).toMatchObject({ outcome: 'mail' })
      expect(await stage.port.states.list(a.run, null)).toEqual([])
    })
  })

  describe('updates', () => {
    test('a reply is found by the key of its update, which is no longer unread', async (stage) => {
      const a = await stage.owned('a', await stage.worker())
      await stage.port.mail.send([update('a', 'update:1'), update('a', 'update:2')], null)
      expect(await stage.port.mail.reply(a.run, 'update:1')).toBeNull()
      a.seen = 2
      await stage.commit(a, { replies: [{ n: 1, payload: bytes('done') }] })
      expect(text((await stage.port.mail.reply(a.run, 'update:1')) ?? undefined)).toBe('done')
      expect(await stage.port.mail.reply(a.run, 'update:2')).toBeNull()
      expect(await stage.port.mail.reply(a.run, 'update:3')).toBeNull()
      expect(await stage.port.mail.list(a.run, 0)).toMatchObject([{ n: 2, kind: 'update', name: 'rename' }])
    })

    test('an update that was taken is replied to later', async (stage) => {
      const a = await stage.owned('a', await stage.worker())
      await stage.port.mail.send([update('a', 'update:1')], null)
      a.seen = 1
      await stage.commit(a, { consumes: [1] })
      expect(await stage.port.mail.list(a.run, 0)).toEqual([])
      expect(await stage.port.mail.reply(a.run, 'update:1')).toBeNull()
      await stage.commit(a, { events: [settled(1)], replies: [{ n: 1, payload: bytes('late') }] })
      expect(text((await stage.port.mail.reply(a.run, 'update:1')) ?? undefined)).toBe('late')
    })

    test('an update that was taken and is given back is unread again, has no reply, and keeps its key', async (stage) => {
      const a = await stage.owned('a', await stage.worker())
      await stage.port.mail.send([update('a', 'update:1'), update('a', 'update:2')], null)
      a.seen = 2
      await stage.commit(a, { consumes: [1], replies: [{ n: 2, payload: bytes('done') }] })
      await stage.commit(a, { events: [settled(1)], givesBack: [{ n: 1, payload: bytes('again') }] })
      const [unread, ...others] = await stage.port.mail.list(a.run, 0)
      expect(unread).toMatchObject({ n: 1, kind: 'update', name: 'rename' })
      expect([text(unread?.payload ?? undefined), others]).toEqual(['again', []])
      expect(await stage.port.mail.reply(a.run, 'update:1')).toBeNull()
      expect(text((await stage.port.mail.reply(a.run, 'update:2')) ?? undefined)).toBe('done')
      expect(await stage.port.mail.send([update('a', 'update:1')], null)).toMatchObject([
        { outcome: 'duplicate' },
      ])
    })

    test('an update is stored once for its key, also after its reply and after the end of its run', async (stage) => {
      const a = await stage.owned('a', await stage.worker())
      const [first] = await stage.port.mail.send([update('a', 'update:1')], null)
      expect(first).toMatchObject({ outcome: 'stored', message: { n: 1, kind: 'update' } })
      a.seen = 1
      await stage.commit(a, {
        replies: [{ n: 1, payload: bytes('done') }],
        next: { do: 'end', state: 'completed' },
      })
      expect(await stage.port.mail.send([update('a', 'update:1')], null)).toMatchObject([
        { outcome: 'duplicate' },
      ])
      expect(await stage.port.mail.send([update('a', 'update:2')], null)).toMatchObject([
        { outcome: 'ended' },
      ])
      expect(text((await stage.port.mail.reply(a.run, 'update:1')) ?? undefined)).toBe('done')
    })

    test('several units of one commit reply and expose, each for its run', async (stage) => {
      const worker = await stage.worker()
      const [a, b] = [await stage.owned('a', worker), await stage.owned('b', worker)]
      await stage.port.mail.send([update('a', 'update:1'), update('b', 'update:1')], null)
      await stage.port.log.commit(worker, [
        unitFor({ ...a, seen: 1 }, { replies: [{ n: 1, payload: bytes('by a') }] }),
        unitFor({ ...b, seen: 1 }, { replies: [{ n: 1, payload: bytes('by b') }], consumes: [] }),
      ])
      expect(text((await stage.port.mail.reply(a.run, 'update:1')) ?? undefined)).toBe('by a')
      expect(text((await stage.port.mail.reply(b.run, 'update:1')) ?? undefined)).toBe('by b')
    })
  })
}

function update(run: string, key: string): ReturnType<typeof signal> {
  return signal(run, { kind: 'update', name: 'rename', key })
}

async function read(stage: Stage, run: number): Promise<readonly (readonly [string, string | null])[]> {
  const states = await stage.port.states.list(run, null)
  return states.map(({ name, payload }) => [name, payload === null ? null : text(payload)])
}
