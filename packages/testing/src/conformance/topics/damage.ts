import { describe, expect } from 'vitest'
import { answerTo, newAsk, signal } from '../builders.ts'
import type { StageTest } from '../stage.ts'
import type { Damage } from '../subject.ts'

const ways: readonly Damage[] = ['mail-behind', 'mail-full', 'unknown-state']

export function describeDamage(test: StageTest): void {
  describe('a damaged run', () => {
    for (const how of ways) {
      test(`refuses its own messages, and those of no neighbour: ${how}`, async (stage) => {
        const worker = await stage.worker()
        for (const id of ['a', 'b', 'c']) await stage.owned(id, worker)
        await stage.port.mail.send([signal('b', { name: 'before' })], null)
        const batch = [
          signal('a', { name: 'one' }),
          signal('b', { key: 'k' }),
          signal('nowhere'),
          signal('a', { name: 'two' }),
          signal('b'),
          signal('c'),
        ]
        await stage.whileDamaged('b', how, async () => {
          const sent = await stage.port.mail.send(batch, null)
          expect(sent.map(({ outcome }) => outcome)).toEqual([
            ...['stored', 'damaged', 'missing', 'stored', 'damaged', 'stored'],
          ])
          expect(sent[1]).toEqual({ outcome: 'damaged', why: expect.stringMatching(/./) })
          expect(await stage.port.mail.send([signal('b')], null)).toMatchObject([{ outcome: 'damaged' }])
          expect(await stage.port.mail.send([signal('b', { key: 'k' })], null)).toMatchObject([
            { outcome: 'damaged' },
          ])
        })
        const mail = async (id: string) =>
          (await stage.port.mail.list((await stage.find(id)).run, 0)).map(({ name }) => name)
        expect([await mail('a'), await mail('b'), await mail('c')]).toEqual([
          ['one', 'two'],
          ['before'],
          ['paid'],
        ])
        // Refused items do not count as duplicates later.
        expect(await stage.port.mail.send([signal('b', { key: 'k' })], null)).toMatchObject([
          { outcome: 'stored' },
        ])
      })

      test(`does not keep its neighbours from being claimed by what they are sent: ${how}`, async (stage) => {
        const claimant = await stage.claimant()
        for (const id of ['a', 'b', 'c']) await stage.parked(id, await stage.worker())
        await stage.port.mail.send([signal('b')], null)
        await stage.whileDamaged('b', how, async () => {
          const sent = await stage.port.mail.send(
            ['a', 'b', 'c'].map((id) => signal(id)),
            claimant,
          )
          expect(sent).toMatchObject([
            { outcome: 'stored', claimed: { id: 'a' } },
            { outcome: 'damaged' },
            { outcome: 'stored', claimed: { id: 'c' } },
          ])
        })
      })

      test(`refuses answers to its asks, and to those of no neighbour: ${how}`, async (stage) => {
        const worker = await stage.worker()
        for (const id of ['a', 'b', 'c'])
          await stage.commit(await stage.owned(id, worker), { opens: [newAsk(0)] })
        await stage.port.mail.send([signal('b')], null)
        const answers = ['a', 'b', 'c'].map((run) => answerTo(run, 0))
        await stage.whileDamaged('b', how, async () => {
          const answered = await stage.port.asks.answer(answers, null)
          expect(answered.map(({ outcome }) => outcome)).toEqual(['answered', 'damaged', 'answered'])
          expect(await stage.port.asks.answer(answers.slice(1, 2), null)).toMatchObject([
            { outcome: 'damaged' },
          ])
        })
        expect(await stage.port.asks.find('b', 0)).toMatchObject({ status: 'open', answer: null })
        expect(await stage.port.asks.answer(answers.slice(1, 2), null)).toMatchObject([
          { outcome: 'answered' },
        ])
      })
    }
  })
}
