import { procedure } from '@pawl/core'
import type { Unit } from '@pawl/core/storage'
import { memory } from '@pawl/testing'
import { describe, expect, onTestFinished, test } from 'vitest'
import { startBareEngine } from '../support/bare-engine.ts'
import { meddleWith } from '../support/meddling-store.ts'

/** A run that continues after the step `work`, beside two steps with an undo. The test acts while a commit is on its way. */
async function start(drafts: number) {
  const forgotten: (object | undefined)[] = []
  const warn = (message: string, fields?: object): void =>
    void (message.includes('which are forgotten') && forgotten.push(fields))
  const logger = { debug() {}, info() {}, warn, error() {} }
  const gates = new Map<string, () => void>()
  const wait = (name: string) => () => new Promise<void>((resolve) => gates.set(name, resolve))
  const continuing = procedure({ name: 'continuing' }, async (ctx): Promise<void> => {
    for (const name of ['hold', 'lend']) void ctx.step(name, wait(name), { undo: () => {} }).catch(() => {})
    void ctx.step('first', wait('first')).catch(() => {})
    await ctx.step('work', wait('work'))
    return ctx.continueAs()
  })
  const { store, always } = meddleWith(memory())
  const units: string[][] = []
  const traps = new Map<string, () => Promise<void>>()
  always('log.commit', async (go, [, all]) => {
    for (const { events } of all as readonly Unit[]) {
      const names = events.map(({ type, name }) => (type === 'settled' ? name : type))
      units.push(names)
      for (const name of names) await traps.get(name)?.()
    }
    return go()
  })
  const { client, stop } = await startBareEngine({
    ...{ store, procedures: [continuing], logger, keep: { runs: 10, bytes: 1e6 } },
    slices: { begun: 250, drafts },
  })
  onTestFinished(stop)
  const run = await client.run(continuing)
  while (gates.size < 4) await settled()
  return { run, units, forgotten, open: (name: string) => gates.get(name)?.(), during: traps.set.bind(traps) }
}

/** Lets the worker take in what has happened. */
async function settled(): Promise<void> {
  for (let rounds = 0; rounds < 20; rounds++) await new Promise((resolve) => setImmediate(resolve))
}

describe('a cancel behind the return of ctx.continueAs() is for the next generation, and the log names the undo of a step', () => {
  test('whose result was recorded together with the cancel', async () => {
    const { run, units, forgotten, open, during } = await start(500)
    during('first', async () => {
      open('work')
      await settled()
      open('hold')
      await run.cancel()
      await settled()
    })
    open('first')
    await expect(run.result()).rejects.toMatchObject({ code: 'run-cancelled' })
    expect(units).toEqual([['first'], ['work', 'hold', 'cancelled'], ['started', 'cancelled'], ['ended']])
    expect(forgotten).toEqual([{ undos: ['hold'] }])
    expect((await run.status()).rollback).toBeUndefined()
  })

  test('whose result was recorded after the procedure had returned', async () => {
    const { run, units, forgotten, open, during } = await start(1)
    during('first', async () => {
      open('work')
      await run.cancel()
      await settled()
    })
    during('cancelled', async () => {
      open('hold')
      await settled()
      open('lend')
      await settled()
    })
    open('first')
    await expect(run.result()).rejects.toMatchObject({ code: 'run-cancelled' })
    expect(units).toEqual([
      ['first'],
      ['work', 'cancelled'],
      ['hold'],
      ['lend', 'started', 'cancelled'],
      ['ended'],
    ])
    expect(forgotten).toEqual([{ undos: ['hold', 'lend'] }])
    expect((await run.status()).rollback).toBeUndefined()
  })
})
