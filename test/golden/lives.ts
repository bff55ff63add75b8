import { type Client, FinalError, type Procedure, procedure } from '@pawl/core'
import { z } from 'zod'
import { answerAll, ignoreEnd } from './answers.ts'
import type { GoldenCase, NoteBody } from './procedures.ts'

// Never change these, as those of procedures.ts: runs that continue as a new generation, begin again, are retried and forked, and
// that have checkpoints.

const forkEnd = ' fork'

/** The position of the question whose answer a fork edits. */
const sendAt = 2

export function makeLifeCases(noteBody: NoteBody): readonly GoldenCase[] {
  const noting = (run: string, body: string) => () => {
    noteBody(run, body)
    return body
  }

  const continuing = procedure(
    {
      name: 'continuing',
      input: z.object({ round: z.number(), heard: z.array(z.string()) }),
      signals: { go: z.string() },
    },
    async (ctx, { round, heard }): Promise<readonly string[]> => {
      const { runId: run } = ctx
      await ctx.step(`begin ${round}`, noting(run, `begin ${round}`))
      // Withdrawn when the run continues, as nobody answers it.
      void ctx.sleep('300d').catch(() => {})
      await ctx.checkpoint(`round ${round}`, { heard })
      const go = await ctx.receive('go')
      const { approved } = await ctx.human.approve(`Continue after ${round}?`, { key: 'continue' })
      await ctx.step(`end ${round}`, noting(run, `end ${round}`))
      const all = [...heard, `${go} ${approved}`]
      return all.length === 3 ? all : ctx.continueAs({ round: round + 1, heard: all })
    },
  )

  const repeating = procedure(
    { name: 'repeating', input: z.object({ life: z.number() }) },
    async (ctx, { life }) => {
      const { runId: run } = ctx
      await ctx.step(`first of ${life}`, noting(run, `first of ${life}`))
      await ctx.human.approve('Go on?', { key: 'go' })
      await ctx.step(`last of ${life}`, noting(run, `last of ${life}`))
      return life
    },
  )

  const retriedOf = (charge: (run: string) => string) =>
    procedure({ name: 'retried' }, async (ctx) => {
      const { runId: run } = ctx
      await ctx.step('load', noting(run, 'load'))
      await ctx.checkpoint('loaded', { of: run })
      await ctx.human.approve('Charge it?')
      const [side] = await Promise.all([
        ctx.step('side', noting(run, 'side')),
        ctx.step('charge', () => charge(run)),
      ])
      await ctx.step('ship', noting(run, 'ship'))
      return [side, await ctx.checkpoint('shipped').then(() => 'shipped')]
    })
  const failedRuns = new Set<string>()
  const failOnce = (run: string): string => {
    if (failedRuns.has(run)) return 'charged'
    failedRuns.add(run)
    throw new FinalError('card declined')
  }

  const forked = procedure({ name: 'forked' }, async (ctx) => {
    const { runId: run } = ctx
    await ctx.step('draft', noting(run, 'draft'))
    await ctx.checkpoint('drafted', { by: ctx.uuid() })
    const { approved } = await ctx.human.approve('Send it?', { key: 'send' })
    const name = approved ? 'send' : 'keep'
    await ctx.step(name, noting(run, name))
    await ctx.human.approve('Archive it?')
    await ctx.step('archive', noting(run, 'archive'))
    return 'archived'
  })

  return [
    {
      procedure: continuing,
      input: { round: 1, heard: [] },
      output: ['1 true', '2 true', '3 true'],
      afterwards: (client, run) => expectGeneration(client, run, 3),
    },
    {
      procedure: repeating,
      input: { life: 1 },
      output: 2,
      onward: async (client, run) => {
        await beginAgain(client, run, repeating)
      },
      afterwards: (client, run) => expectGeneration(client, run, 2),
    },
    {
      procedure: retriedOf(() => 'charged'),
      before: retriedOf(failOnce),
      input: undefined,
      output: ['side', 'shipped'],
      onward: retryOnce,
    },
    {
      procedure: forked,
      input: undefined,
      output: 'archived',
      onward: forkWithAnswer,
      afterwards: expectBranch,
    },
  ]
}

async function beginAgain(
  client: Client,
  run: string,
  repeating: Procedure<{ life: number }, number>,
): Promise<void> {
  if ((await client.get(run).status()).generation !== 1) return
  await client.get(run).result()
  await client.runOrGet(repeating, { life: 2 }, { id: run, ifEnded: 'again' })
  answerAll(client, run).catch(ignoreEnd)
}

async function retryOnce(client: Client, run: string): Promise<void> {
  const hasFailed = await client
    .get(run)
    .result()
    .then(
      () => false,
      () => true,
    )
  if (!hasFailed) return
  await client.retry(run)
  answerAll(client, run).catch(ignoreEnd)
}

/** Forks the run, once it has ended, with the other answer. */
async function forkWithAnswer(client: Client, run: string): Promise<void> {
  if (run.endsWith(forkEnd)) return
  await client.get(run).result()
  const id = `${run}${forkEnd}`
  // A fork that a recording has left behind stays the one.
  if (
    await client
      .get(id)
      .status()
      .catch(() => null)
  )
    return
  const fork = await client.fork(
    run,
    { position: sendAt + 1 },
    { id, edit: { [sendAt]: { approved: false } } },
  )
  answerAll(client, id).catch(ignoreEnd)
  await fork.result()
}

async function expectGeneration(client: Client, run: string, wanted: number): Promise<readonly string[]> {
  const { generation } = await client.get(run).status()
  return generation === wanted ? [] : [`${run}: generation ${generation}, not ${wanted}`]
}

async function expectBranch(client: Client, run: string): Promise<readonly string[]> {
  const { execution_log } = await client.log(run)
  const wanted = run.endsWith(forkEnd) ? 'keep' : 'send'
  return execution_log.some(({ name }) => name === wanted) ? [] : [`${run}: it did not ${wanted}`]
}
