import { createEngine, type Engine, procedure } from '@pawl/core'
import { connectTo, defineStore, type StorePort } from '@pawl/core/storage'
import { memory, type TestEngine, testEngine } from '@pawl/testing'
import { describe, expect, test } from 'vitest'
import { z } from 'zod'
import { refusalOf, silent } from './support.ts'

const order = procedure(
  { name: 'order', input: z.object({ round: z.number() }), signals: { next: z.void() } },
  async (ctx, { round }): Promise<string> => {
    const id = await ctx.step('id', () => `round ${round}`)
    if (round === 0) {
      await ctx.checkpoint('asked', { id })
      await ctx.receive('next')
      return ctx.continueAs({ round: 1 })
    }
    const { approved } = await ctx.human.approve(`Ship ${id}?`, { to: 'role:ops' })
    return `${id}: ${approved}`
  },
)
const quick = procedure({ name: 'quick' }, (ctx) => ctx.step('one', () => 1))
const failing = procedure({ name: 'failing', bugs: 'fail' }, async () => {
  throw new TypeError('no luck')
})

const begin = (): Promise<TestEngine & AsyncDisposable> =>
  testEngine({ procedures: [order, quick, failing], humans: silent })

/** A run of two generations that waits for an answer. */
async function waiting(engine: Engine): Promise<Uint8Array> {
  const run = await engine.run(order, { round: 0 }, { id: 'o', tags: ['t'], by: 'user:ana' })
  await run.signal('next', undefined, { id: 'once' })
  await engine.inbox.next({ run: 'o' })
  return engine.export('o')
}

/** The first bytes of a file, and then an error. */
async function* breakingOff(file: Uint8Array, bytes: number): AsyncGenerator<Uint8Array> {
  for (let at = 0; at < bytes; at += 100_000) yield file.subarray(at, Math.min(at + 100_000, bytes))
  throw new Error('gone')
}

describe('export and import', () => {
  test('an imported run continues as the original would, and does not read a signal twice', async () => {
    await using engine = await begin()
    const file = await waiting(engine)
    await using other = await begin()
    const run = await other.import(file)
    expect(run.id).toBe('o')
    await run.signal('next', undefined, { id: 'once' })
    const ask = await other.inbox.next({ run: 'o' })
    await other.inbox.answer(ask.id, { approved: true }, { as: 'user:bob' })
    expect(await run.result()).toBe('round 1: true')
    expect(other.calls).toEqual({})
    expect(await run.status()).toMatchObject({ generation: 2, tags: ['t'], startedBy: 'user:ana' })
  })

  test('damage at every byte is refused, and nothing is stored', async () => {
    await using engine = await begin()
    const file = await waiting(engine)
    const store = memory()
    await using other = await testEngine({ procedures: [], store })
    for (let at = 0; at < file.length; at++) {
      const damaged = Uint8Array.from(file)
      damaged[at] = (damaged[at] ?? 0) ^ (1 << (at % 8))
      expect(await refusalOf(other.import(damaged)), `byte ${at}`).toMatchObject({ code: 'export-invalid' })
    }
    for (const cut of [0, 3, 8, 44, 45, file.length - 1])
      expect(await refusalOf(other.import(file.subarray(0, cut)))).toMatchObject({ code: 'export-invalid' })
    expect(await refusalOf(other.import(Uint8Array.of(...file, 0)))).toMatchObject({ code: 'export-invalid' })
    expect((await other.list()).items).toEqual([])
    await other.import(file)
  })

  test('an import that breaks off between any two writes leaves no run, and can be repeated', async () => {
    const long = procedure({ name: 'long' }, async (ctx) => {
      for (let part = 0; part < 5; part++) await ctx.step(`part ${part}`, () => 'x'.repeat(1_900_000))
      await ctx.sleep('365d')
    })
    await using engine = await testEngine({ procedures: [long] })
    await engine.run(long, undefined, { id: 'l' })
    await engine.advance('1d')
    const file = await engine.export('l')
    await using other = await testEngine({ procedures: [long] })
    // The log is stored in parts of 8 MiB.
    for (const bytes of [1_000, 9_000_000, file.length - 1]) {
      expect(await refusalOf(other.import(breakingOff(file, bytes)))).toMatchObject({ message: 'gone' })
      expect(await refusalOf(other.get('l').status())).toMatchObject({ code: 'run-not-found' })
    }
    await other.advance('2h')
    expect((await other.list()).items).toEqual([])
    await other.import(file)
    await other.advance('1d')
    expect((await other.get('l').status()).status).toBe('waiting')
    expect(other.calls).toEqual({})
  })

  test('checkpoints come as they are: a deleted one does not come back, and the latest stays the latest', async () => {
    await using engine = await begin()
    await waiting(engine)
    await engine.checkpoints.create('o', { by: 'hand' }, { name: 'by hand' })
    const later = await engine.checkpoints.create('o', { by: 'hand again' })
    const [, , asked] = await engine.checkpoints.list('o')
    await engine.checkpoints.create('o', 'last')
    await using other = await begin()
    await other.import(await engine.export('o'))
    const shown = async (from: Engine) => (await from.checkpoints.list('o')).map(({ id: _, ...rest }) => rest)
    expect(await shown(other)).toEqual(await shown(engine))
    expect(await other.checkpoints.latest('o')).toMatchObject({ state: 'last' })
    await engine.checkpoints.delete(asked?.id ?? '')
    await engine.checkpoints.delete(later.id)
    const file = await engine.export('o')
    await using third = await begin()
    await third.import(file)
    expect((await shown(third)).map(({ state }) => state)).toEqual(['last', { by: 'hand' }])
    expect(await third.export('o')).toEqual(file)
    // A fork finds the place of a checkpoint that a caller made.
    const [last] = await third.checkpoints.list('o')
    const fork = await third.fork('o', { checkpoint: last?.id ?? '' }, { id: 'fork' })
    expect(fork.id).toBe('fork')
  })

  test('a refusal says where the file is damaged', async () => {
    await using engine = await begin()
    const file = await waiting(engine)
    file[50] = (file[50] ?? 0) ^ 1
    const { message } = await refusalOf(engine.import(file))
    expect(message).toContain('the part that begins at byte 8 does not match its digest')
  })

  test('a log whose operations took a time below 0 is imported as it is', async () => {
    // As an earlier release wrote it when the clock of its store stepped back.
    const store = defineStore('stepping back', () => {
      const port = connectTo(memory()) as StorePort
      const commit: StorePort['log']['commit'] = (worker, units) => {
        const back = units.map((unit) => ({
          ...unit,
          events: unit.events.map((event) => (event.tookMs === null ? event : { ...event, tookMs: -5 })),
        }))
        return port.log.commit(worker, back)
      }
      return { ...port, log: { ...port.log, commit } }
    })
    const original = await createEngine({ store, procedures: [quick] })
    await (await original.run(quick, undefined, { id: 'q' })).result()
    const file = await original.export('q')
    await original.stop()
    await using other = await begin()
    expect(await (await other.import(file)).result()).toBe(1)
    expect(await other.export('q')).toEqual(file)
  })

  test('a run that exists is not replaced, and one that was deleted comes back', async () => {
    await using engine = await begin()
    const run = await engine.run(quick, undefined, { id: 'q' })
    expect(await run.result()).toBe(1)
    const file = await engine.export('q')
    expect(await refusalOf(engine.import(file))).toMatchObject({ code: 'id-taken', details: { id: 'q' } })
    await engine.delete('q')
    await engine.import(file)
    expect(await run.result()).toBe(1)
    expect(await engine.export('q')).toEqual(file)
  })

  test('a run gets another id only if it can never act again', async () => {
    await using engine = await begin()
    await (await engine.run(quick, undefined, { id: 'q' })).result()
    const copy = await engine.import(await engine.export('q'), { id: 'copy' })
    expect([copy.id, await copy.result()]).toEqual(['copy', 1])
    await waiting(engine)
    await (await engine.run(failing, undefined, { id: 'f' })).result().catch(() => {})
    for (const id of ['o', 'f'])
      expect(await refusalOf(engine.import(await engine.export(id), { id: 'other' }))).toMatchObject({
        code: 'option-invalid',
      })
  })

  test('what is not a run, or not a file, is refused', async () => {
    await using engine = await begin()
    expect(await refusalOf(engine.export('none'))).toMatchObject({ code: 'run-not-found' })
    expect(await refusalOf(engine.import('text' as never))).toMatchObject({ code: 'option-invalid' })
    expect(await refusalOf(engine.import(new TextEncoder().encode('{"id":"o"}')))).toMatchObject({
      code: 'export-invalid',
    })
    expect(await refusalOf(engine.check({ exports: [Uint8Array.of(1)] }))).toMatchObject({
      code: 'export-invalid',
    })
  })

  test('an exported run is checked without being stored', async () => {
    await using engine = await begin()
    const file = await waiting(engine)
    const changed = procedure({ name: 'order' }, (ctx) => ctx.step('other', () => 'x'))
    await using other = await testEngine({ procedures: [changed] })
    expect(await other.check({ exports: [file] })).toMatchObject([{ run: 'o', verdict: 'diverges' }])
    expect((await other.list()).items).toEqual([])
    expect(await engine.check({ exports: [file] })).toMatchObject([{ run: 'o', verdict: 'same' }])
  })
})

describe('retention of generations', () => {
  test('earlier generations of a live run are dropped by age, and the rest can be exported', async () => {
    const daily = procedure({ name: 'daily', input: z.object({ day: z.number() }) }, async (ctx, { day }) => {
      await ctx.sleep('1d')
      return ctx.continueAs({ day: day + 1 })
    })
    await using engine = await testEngine({
      procedures: [daily],
      retention: { daily: { generations: '3d' } },
    })
    const run = await engine.run(daily, { day: 0 }, { id: 'd' })
    await engine.advance('2.5d')
    const early = (await engine.export('d')).length
    await engine.advance('10d')
    expect((await run.status()).generation).toBe(13)
    const file = await engine.export('d')
    // Of twelve earlier generations, those of the last three days are left.
    expect(file.length).toBeLessThan(early * 2.5)
    await using other = await testEngine({ procedures: [daily] })
    await other.import(file)
    expect(await other.export('d')).toEqual(file)
    expect((await other.get('d').status()).generation).toBe(13)
  })
})
