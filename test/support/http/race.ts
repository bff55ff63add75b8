import { createEngine, type Logger, type Procedure, procedure, type Store } from '@pawl/core'
import { createServer, type Identity } from '@pawl/server'
import { z } from 'zod'

const questions: Procedure<{ count: number }, readonly string[]> = procedure(
  { name: 'questions', input: z.object({ count: z.number() }) },
  async (ctx, { count }) => {
    const winners: string[] = []
    for (let n = 0; n < count; n++) {
      const approval = await ctx.human.approve(`Question ${n}?`)
      winners.push(approval.by ?? 'nobody')
    }
    return winners
  },
)

export interface Race {
  /** The two status codes, the lower first. */
  readonly statuses: readonly number[]
  /** Who got 200, and who is the winner to the one who got 409. */
  readonly winner: string
  readonly told: string
  readonly code: string
}

export interface Races {
  readonly races: readonly Race[]
  /** Whose answers the procedure got. */
  readonly recorded: readonly string[]
}

/**
 * Two people answer each of `count` questions at once, over HTTP, each through a server and an engine of its own on the same
 * database.
 */
export async function raceAnswers(stores: readonly [Store, Store], count: number): Promise<Races> {
  const sides = await Promise.all(
    stores.map(async (store) => {
      const engine = await createEngine({ store, procedures: [questions], logger: silent })
      const server = createServer({
        client: engine,
        auth: ({ headers }) => identityOf(headers.get('authorization')),
      })
      const { url } = await server.listen({ port: 0 })
      return { engine, server, url: url.slice(0, -1) }
    }),
  )
  const [left, right] = sides as [(typeof sides)[0], (typeof sides)[0]]
  const run = await left.engine.run(questions, { count }, { id: 'questions:1' })
  const races: Race[] = []
  for (let n = 0; n < count; n++) {
    const ask = await left.engine.inbox.next({ run: run.id })
    const path = `/v1/asks/${encodeURIComponent(ask.id)}/answer`
    // Each round has people of its own: an identity may write 120 times a minute.
    const replies = await Promise.all([
      post(`${left.url}${path}`, `ana${n}`, { approved: true }),
      post(`${right.url}${path}`, `bob${n}`, { approved: false }),
    ])
    const [first, second] = replies.toSorted((a, b) => a.status - b.status)
    races.push({
      statuses: [first?.status ?? 0, second?.status ?? 0],
      winner: first?.body.ask?.answer?.by,
      told: second?.body.details?.winner?.by,
      code: second?.body.code,
    })
  }
  const recorded = await run.result()
  for (const { server, engine } of sides) {
    await server.stop()
    await engine.stop()
  }
  return { races, recorded }
}

function identityOf(header: string | null): Identity | null {
  const token = header?.replace('Bearer ', '')
  return token ? { actor: `user:${token}`, names: [], role: 'answer' } : null
}

// biome-ignore lint/suspicious/noExplicitAny: replies of any shape
async function post(url: string, token: string, body: object): Promise<{ status: number; body: any }> {
  const reply = await fetch(url, {
    method: 'POST',
    headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json' },
    body: JSON.stringify(body),
  })
  return { status: reply.status, body: await reply.json() }
}

const silent: Logger = { debug() {}, info() {}, warn() {}, error() {} }
