import { describe, expect } from 'vitest'
import { bytes, newAsk, signal, text } from '../builders.ts'
import type { StageTest } from '../stage.ts'

export function describeEarlyAnswers(test: StageTest): void {
  describe('early answers', () => {
    const early = (key: string, message = key) => signal('a', { kind: 'early', name: key, key: message })

    test('an answer that comes before its ask is kept as a message', async (stage) => {
      const { run } = await stage.owned('a', await stage.worker())
      expect(await stage.port.mail.send([early('approval')], null)).toMatchObject([{ outcome: 'stored' }])
      expect(await stage.port.mail.list(run, 0)).toMatchObject([{ kind: 'early', name: 'approval' }])
    })

    test('an answer to an open ask returns the position of the ask', async (stage) => {
      const standing = await stage.owned('a', await stage.worker())
      await stage.commit(standing, { opens: [newAsk(7, { key: 'approval' })] })
      expect(await stage.port.mail.send([early('approval')], null)).toEqual([
        { outcome: 'asked', position: 7 },
      ])
      expect(await stage.find('a')).toMatchObject({ mail: 0 })
    })

    test('an answer to a closed ask returns the position of the ask', async (stage) => {
      const standing = await stage.owned('a', await stage.worker())
      const closes = [{ position: 7, status: 'withdrawn' }] as const
      await stage.commit(standing, { opens: [newAsk(7, { key: 'approval' })], closes })
      expect(await stage.port.mail.send([early('approval')], null)).toEqual([
        { outcome: 'asked', position: 7 },
      ])
    })

    test('a signal with the name of an ask is a signal', async (stage) => {
      const standing = await stage.owned('a', await stage.worker())
      await stage.commit(standing, { opens: [newAsk(7, { key: 'approval' })] })
      expect(await stage.port.mail.send([signal('a', { name: 'approval' })], null)).toMatchObject([
        { outcome: 'stored' },
      ])
    })

    test('an ask without a key is not found by one', async (stage) => {
      const standing = await stage.owned('a', await stage.worker())
      await stage.commit(standing, { opens: [newAsk(7), newAsk(8, { key: 'other' })] })
      expect(await stage.port.mail.send([early('approval')], null)).toMatchObject([{ outcome: 'stored' }])
    })

    test('an answer repeated after its ask was opened is a duplicate', async (stage) => {
      const standing = await stage.owned('a', await stage.worker())
      await stage.port.mail.send([early('approval', 'early:1')], null)
      const opens = [
        newAsk(7, { key: 'approval', answered: { by: 'user:bob', at: 1, payload: bytes('yes') } }),
      ]
      await stage.commit({ ...standing, seen: 1 }, { opens, consumes: [1] })
      const sent = await stage.port.mail.send(
        [early('approval', 'early:1'), early('approval', 'early:2')],
        null,
      )
      expect(sent).toMatchObject([{ outcome: 'duplicate' }, { outcome: 'asked', position: 7 }])
    })

    test('an ask opened with an early answer is answered from the start, at the time of the answer', async (stage) => {
      const standing = await stage.owned('a', await stage.worker())
      const outcome = await stage.commit(standing, {
        opens: [newAsk(7, { answered: { by: 'user:bob', at: 1, payload: bytes('yes') } })],
      })
      const at = outcome.outcome === 'ok' ? outcome.at : 0
      const ask = await stage.port.asks.find('a', 7)
      expect(ask).toMatchObject({ status: 'answered', answeredBy: 'user:bob', openedAt: at, closedAt: 1 })
      expect(text(ask?.answer)).toBe('yes')
      expect(await stage.find('a')).toMatchObject({ mail: 0 })
    })

    test('the key of an ask in another run is not found', async (stage) => {
      const worker = await stage.worker()
      await stage.owned('a', worker)
      await stage.commit(await stage.owned('b', worker), { opens: [newAsk(7, { key: 'approval' })] })
      expect(await stage.port.mail.send([early('approval')], null)).toMatchObject([{ outcome: 'stored' }])
    })
  })
}
