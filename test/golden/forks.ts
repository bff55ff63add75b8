import { type Client, procedure } from '@pawl/core'
import { z } from 'zod'
import { answerAll, ignoreEnd } from './answers.ts'
import type { GoldenCase, NoteBody } from './procedures.ts'

// Never change these, as those of procedures.ts: live runs that are forked with another answer, at a position and at a checkpoint,
// before and after they have continued as a new generation.

const forkEnd = ' fork'

/** The position of the question in `forked live` whose answer a fork edits. */
const sendAt = 1

/** The checkpoint of `forked later` that is forked, and the question before it whose answer is edited. */
const lastRound = 3

export function makeForkCases(noteBody: NoteBody): readonly GoldenCase[] {
  const noting = (run: string, body: string) => () => {
    noteBody(run, body)
    return body
  }

  const forkedLive = procedure({ name: 'forked live', signals: { close: z.null() } }, async (ctx) => {
    const { runId: run } = ctx
    await ctx.step('draft', noting(run, 'draft'))
    const { approved } = await ctx.human.approve('Send it?', { key: 'send' })
    const name = approved ? 'send' : 'keep'
    await ctx.step(name, noting(run, name))
    await ctx.checkpoint('decided', { by: ctx.uuid() })
    await ctx.human.approve('Archive it?')
    await ctx.receive('close')
    await ctx.step('archive', noting(run, 'archive'))
    return 'archived'
  })

  const forkedLater = procedure(
    {
      name: 'forked later',
      input: z.object({ round: z.number(), heard: z.array(z.boolean()) }),
      signals: { close: z.null() },
    },
    async (ctx, { round, heard }): Promise<string> => {
      const { runId: run } = ctx
      await ctx.step(`begin ${round}`, noting(run, `begin ${round}`))
      const { approved } = await ctx.human.approve(`End with ${round}?`, { key: 'end' })
      await ctx.checkpoint(`round ${round}`, { heard })
      await ctx.step(`end ${round}`, noting(run, `end ${round}`))
      if (round < lastRound || !approved)
        return ctx.continueAs({ round: round + 1, heard: [...heard, approved] })
      await ctx.receive('close')
      await ctx.step('close', noting(run, 'close'))
      return 'closed'
    },
  )

  return [
    {
      procedure: forkedLive,
      input: undefined,
      output: 'archived',
      onward: (client, run) => forkAndClose(client, run, (id) => forkLive(client, run, id, withNo(sendAt))),
      afterwards: expectBranch,
    },
    {
      procedure: forkedLater,
      input: { round: 1, heard: [] },
      output: 'closed',
      onward: (client, run) =>
        forkAndClose(client, run, async (id) => {
          const checkpoints = await client.checkpoints.list(run)
          const last = checkpoints.find(({ name }) => name === `round ${lastRound}`)
          if (last === undefined) throw new Error(`${run} has no checkpoint of its last round`)
          await client.fork(run, { checkpoint: last.id }, { id, ...withNo(last.position - 1) })
        }),
      afterwards: expectRounds,
    },
  ]
}

type Edit = { readonly edit: { readonly [position: number]: object } }

async function forkLive(client: Client, run: string, id: string, edit: Edit): Promise<void> {
  await client.fork(run, { position: sendAt + 1 }, { id, ...edit })
}

function withNo(position: number): Edit {
  return { edit: { [position]: { approved: false } } }
}

/** The edit of the forks that were recorded. A fork that is there is found, although its edit would be refused today. */
function asRecorded(position: number): Edit {
  return { edit: { [position]: { approved: false, by: 'user:bo' } } }
}

/** Forks the run once it waits to be closed, and closes both. A fork that a recording has left behind stays the one. */
async function forkAndClose(client: Client, run: string, fork: (id: string) => Promise<void>): Promise<void> {
  if (run.endsWith(forkEnd)) return close(client, run)
  const id = `${run}${forkEnd}`
  if (!(await isThere(client, id))) {
    while (!(await waitsToBeClosed(client, run))) await new Promise((resolve) => setTimeout(resolve, 2))
    await fork(id)
    answerAll(client, id).catch(ignoreEnd)
  }
  await close(client, run)
  await close(client, id)
  await client.get(id).result()
}

async function isThere(client: Client, id: string): Promise<boolean> {
  return client
    .get(id)
    .status()
    .then(
      () => true,
      () => false,
    )
}

async function waitsToBeClosed(client: Client, run: string): Promise<boolean> {
  return (await client.get(run).status()).waitingFor.some(({ kind }) => kind === 'signal')
}

async function close(client: Client, run: string): Promise<void> {
  const signal = client.get(run).signal as (name: string, payload: null, options: object) => Promise<unknown>
  await signal('close', null, { id: 'close' }).catch(ignoreEnd)
}

/** It took the branch of its answer. A fork says what it was made of: the same call finds it. */
async function expectBranch(client: Client, run: string): Promise<readonly string[]> {
  if (run.endsWith(forkEnd)) await forkLive(client, run.slice(0, -forkEnd.length), run, asRecorded(sendAt))
  const { execution_log } = await client.log(run)
  const wanted = run.endsWith(forkEnd) ? 'keep' : 'send'
  return execution_log.some(({ name }) => name === wanted) ? [] : [`${run}: it did not ${wanted}`]
}

/** The fork needs one more round than its original; its first generation is the third one of that. */
async function expectRounds(client: Client, run: string): Promise<readonly string[]> {
  const { generation } = await client.get(run).status()
  const wanted = run.endsWith(forkEnd) ? 2 : lastRound
  return generation === wanted ? [] : [`${run}: generation ${generation}, not ${wanted}`]
}
