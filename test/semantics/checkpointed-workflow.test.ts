import { type Client, procedure } from '@pawl/core'
import { testEngine } from '@pawl/testing'
import { describe, expect, test } from 'vitest'
import { z } from 'zod'
import { keepLines, refusalOf, silent } from './support.ts'

// Checkpoints in programs: a graph that resumes behind its last node, and a manager of checkpoints over the client.

/** A manager of checkpoints, with each of its calls on the engine. */
const managerOf = ({ checkpoints }: Pick<Client, 'checkpoints'>) => ({
  create: (workflow: string, state: unknown) => checkpoints.create(workflow, state),
  load: (workflow: string) => checkpoints.load(workflow),
  getMostRecent: (workflow: string) => checkpoints.latest(workflow),
  list: (workflow: string) => checkpoints.list(workflow),
  listAll: () => checkpoints.listAll(),
  delete: (id: string) => checkpoints.delete(id),
})

/** The graph fetch → analyze → report is a plain function: its edges are the order of the calls. */
function resumableWorkflow(printer: { isDown: boolean }) {
  return procedure(
    { name: 'resumable', input: z.object({ userId: z.string() }) },
    async (ctx, { userId }) => {
      const data = await ctx.step('fetch', () => [userId.length, 1])
      await ctx.checkpoint('fetched', { userId, data, step: 1 })
      const analysis = await ctx.step('analyze', () => data.length)
      await ctx.checkpoint('analyzed', { userId, analysis, step: 2 })
      return ctx.step(
        'report',
        () => {
          if (printer.isDown) throw new Error('printer is down')
          return { report: analysis, step: 3 }
        },
        { retry: false },
      )
    },
  )
}

const waiting = procedure({ name: 'waiting' }, async (ctx) => {
  await ctx.human.approve('Go on?', { key: 'go' })
  return 'done'
})

describe('a workflow that is resumed', () => {
  test('a retry continues behind the last step, without an entry point', async () => {
    const printer = { isDown: true }
    const workflow = resumableWorkflow(printer)
    await using engine = await testEngine({ procedures: [workflow] })
    const run = await engine.run(workflow, { userId: 'user_123' }, { id: 'workflow_1' })
    await expect(run.result()).rejects.toMatchObject({ code: 'run-failed' })
    await engine.crash()
    printer.isDown = false
    await engine.retry('workflow_1')
    expect(await run.result()).toEqual({ report: 2, step: 3 })
    expect(engine.calls).toEqual({ fetch: 1, analyze: 1, report: 2 })
  })

  test('checkpoints stay if the run fails, and are deleted once it completes', async () => {
    const printer = { isDown: true }
    const workflow = resumableWorkflow(printer)
    await using engine = await testEngine({ procedures: [workflow] })
    const run = await engine.run(workflow, { userId: 'user_123' }, { id: 'workflow_1' })
    await expect(run.result()).rejects.toThrow('printer is down')
    expect(await engine.checkpoints.list('workflow_1')).toHaveLength(2)
    printer.isDown = false
    await engine.retry('workflow_1')
    await run.result()
    expect(await engine.checkpoints.list('workflow_1')).toEqual([])
  })

  test('a fork resumes from the latest checkpoint, and from any other', async () => {
    const printer = { isDown: true }
    const workflow = resumableWorkflow(printer)
    await using engine = await testEngine({ procedures: [workflow] })
    await engine
      .run(workflow, { userId: 'user_123' }, { id: 'workflow_1' })
      .then((run) => run.result().catch(() => {}))
    printer.isDown = false
    const latest = await engine.checkpoints.latest('workflow_1')
    const [, first] = await engine.checkpoints.list('workflow_1')
    expect([latest?.name, first?.name]).toEqual(['analyzed', 'fetched'])
    for (const [checkpoint, calls] of [
      [latest?.id ?? '', { fetch: 1, analyze: 1, report: 2 }],
      [first?.id ?? '', { fetch: 1, analyze: 2, report: 3 }],
    ] as const) {
      const resumed = await engine.fork('workflow_1', { checkpoint })
      expect(await resumed.result()).toEqual({ report: 2, step: 3 })
      expect(engine.calls).toEqual(calls)
    }
  })

  test('a question waits for a year', async () => {
    await using engine = await testEngine({ procedures: [waiting], humans: silent })
    const run = await engine.run(waiting)
    await engine.inbox.next({ run: run.id })
    await engine.advance('365d')
    expect((await run.status()).status).toBe('waiting')
  })
})

describe('a manager of checkpoints', () => {
  test('creates, loads, lists and deletes checkpoints', async () => {
    await using engine = await testEngine({ procedures: [waiting], humans: silent })
    for (const id of ['workflow_1', 'workflow_2']) {
      await engine.run(waiting, undefined, { id })
      await engine.inbox.next({ run: id })
    }
    const manager = managerOf(engine)
    expect(await manager.getMostRecent('workflow_1')).toBeNull()
    const first = await manager.create('workflow_1', { step: 0 })
    await engine.advance('1m')
    const second = await manager.create('workflow_1', { step: 1 })
    const other = await manager.create('workflow_2', { step: 9 })
    expect(await manager.load('workflow_1')).toEqual(second)
    expect(await manager.load(first.id)).toEqual(first)
    expect(await manager.getMostRecent('workflow_1')).toMatchObject({ state: { step: 1 } })
    expect(
      (await manager.list('workflow_1')).map(({ id, createdAt, state }) => ({ id, createdAt, state })),
    ).toEqual([second, first].map(({ id, createdAt, state }) => ({ id, createdAt, state })))
    expect(new Set((await manager.listAll()).items.map(({ id }) => id))).toEqual(
      new Set([first.id, second.id, other.id]),
    )
    expect(await manager.delete(first.id)).toBe(1)
    expect(await manager.delete('workflow_2')).toBe(1)
    expect((await manager.listAll()).items.map(({ id }) => id)).toEqual([second.id])
  })

  test('deletes checkpoints older than a day', async () => {
    await using engine = await testEngine({ procedures: [waiting], humans: silent })
    await engine.run(waiting, undefined, { id: 'workflow_1' })
    await engine.inbox.next({ run: 'workflow_1' })
    await engine.checkpoints.create('workflow_1', 'old')
    await engine.advance('25h')
    await engine.checkpoints.create('workflow_1', 'new')
    expect(await engine.checkpoints.cleanup({ olderThan: '24h' })).toBe(1)
    expect((await engine.checkpoints.list('workflow_1')).map(({ state }) => state)).toEqual(['new'])
  })

  test('warns if an optional checkpoint cannot be saved, and rejects if a required one cannot', async () => {
    const { logger, lines } = keepLines()
    await using engine = await testEngine({ procedures: [waiting], humans: silent, logger })
    await engine.run(waiting, undefined, { id: 'workflow_1' })
    await engine.inbox.next({ run: 'workflow_1' })
    const unsavable = () => 1
    expect(await engine.checkpoints.create('workflow_1', unsavable, { required: false })).toBeNull()
    expect(lines).toMatchObject([{ level: 'warn', message: expect.stringContaining('workflow_1') }])
    expect(await refusalOf(engine.checkpoints.create('workflow_1', unsavable))).toMatchObject({
      code: 'payload-refused',
    })
  })
})
