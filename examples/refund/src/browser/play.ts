import { setTimeout as pause } from 'node:timers/promises'
import type { Ask } from '@pawl/core'
import { count, tell } from '../../../shared/src/tell.ts'
import type { Consent } from '../demo/evidence.ts'
import type { Person } from './people.ts'
import type { Story } from './story.ts'

const patienceMs = 30_000

interface PlayOptions {
  readonly story: Story
  /** Where the site is, without the key. */
  readonly origin: string
  readonly ana: Person
  readonly bob: Person
}

interface Seen {
  readonly askBefore: Ask
  readonly consent: Consent
}

/** Plays the visitor over HTTP, with the same requests that the page sends: kills two workers, and answers three asks. */
export async function play({ story, origin, ana, bob }: PlayOptions): Promise<Seen> {
  const call = callerOf(origin)
  tell.act(1, 'The first worker')
  await checkPage(origin)
  await call(ana, 'GET', '/demo/state')
  await until('the first step is recorded', async () => (await story.recorded())[0])
  await call(ana, 'POST', '/demo/kill')
  tell.died('right after the result of the first step was stored')

  tell.act(2, 'The second worker')
  await call(ana, 'POST', '/demo/start')
  const asks = await until('three asks are in the inbox', async () => {
    const { items } = await call(ana, 'GET', '/v1/asks')
    return items.length === 3 ? (items as readonly Brief[]) : undefined
  })
  await tellProgress(story)
  for (const { kind, message } of asks) tell.line('asks', `${kind.padEnd(8)} ${message}`)
  const refund = find(asks, 'approve')
  const askBefore = await until('the ask is there', () => story.client.inbox.get(refund.id))
  await call(ana, 'POST', '/demo/kill')
  tell.died('while it waits for the answer')

  tell.act(3, 'Answers, while no worker runs')
  const params = {
    ...(askBefore.params as { readonly orderId: string; readonly amount: number }),
    amount: 400,
  }
  await answerByTwo(call, [ana, bob], refund, { approved: true, params })
  const { initial } = await call(ana, 'GET', pathOf(find(asks, 'input')))
  await answer(call, ana, find(asks, 'input'), { value: { ...initial, card: 'visa' } })
  await answer(call, bob, find(asks, 'review'), { choice: 'approve' })

  tell.act(4, 'The third worker')
  await call(ana, 'POST', '/demo/start')
  await until('all runs have ended', async () => {
    const { items } = await call(ana, 'GET', '/v1/runs')
    return items.every(({ endedAt }: { readonly endedAt?: string }) => endedAt !== undefined) || undefined
  })
  await tellProgress(story)
  const { task } = await call(ana, 'GET', '/demo/state')
  if (task.number !== 0) throw new Error(`the page still asks for: ${task.text}`)
  return { askBefore, consent: { order: params.orderId, amount: params.amount } }
}

async function tellProgress(story: Story): Promise<void> {
  const { progress, paid } = await story.look()
  tell.line('replayed', `${count(progress?.replayed ?? 0, 'operation')}: the results came from the log`)
  tell.line('ran', `${count(progress?.ran ?? 0, 'step')}`)
  tell.line('paid', `${count(paid.orders, 'order')}, ${paid.twice} of them twice`)
}

/** Both send an answer at once. Exactly one is accepted, and the other is told who was faster. */
async function answerByTwo(call: Call, people: readonly Person[], ask: Brief, body: object): Promise<void> {
  const outcomes = await Promise.all(
    people.map((person) =>
      call(person, 'POST', `${pathOf(ask)}/answer`, body).then(
        () => null,
        (error: unknown) => {
          if (error instanceof Refused && error.code === 'ask-closed') return error
          throw error
        },
      ),
    ),
  )
  const refusals = outcomes.filter((outcome) => outcome !== null)
  if (refusals.length !== 1) throw new Error(`${people.length - refusals.length} answers were accepted`)
  const winner = people[outcomes.indexOf(null)]
  tell.line('answered', `${winner?.name} approved 400 EUR`)
  tell.line('refused', ...refusals.map(({ message }) => message))
}

async function answer(call: Call, person: Person, ask: Brief, body: object): Promise<void> {
  await call(person, 'POST', `${pathOf(ask)}/answer`, body)
  tell.line('answered', `${person.name}: ${ask.message}`)
}

interface Brief {
  readonly id: string
  readonly kind: string
  readonly message: string
}

function find(asks: readonly Brief[], kind: string): Brief {
  const ask = asks.find((one) => one.kind === kind)
  if (ask === undefined) throw new Error(`no ask of kind ${kind} is in the inbox`)
  return ask
}

function pathOf({ id }: Brief): string {
  return `/v1/asks/${encodeURIComponent(id)}`
}

class Refused extends Error {
  readonly code: string
  constructor(code: string, message: string) {
    super(message)
    this.code = code
  }
}

// biome-ignore lint/suspicious/noExplicitAny: JSON of the API, whose types only its own clients need
type Call = (person: Person, method: 'GET' | 'POST', path: string, body?: object) => Promise<any>

function callerOf(origin: string): Call {
  return async ({ key }, method, path, body = {}) => {
    const reply = await fetch(new URL(path, origin), {
      method,
      headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
      ...(method === 'POST' ? { body: JSON.stringify(body) } : {}),
    })
    if (reply.status === 204) return undefined
    const text = await reply.text()
    if (reply.ok) return JSON.parse(text)
    const { code, detail } = JSON.parse(text) as { readonly code: string; readonly detail: string }
    throw new Refused(code, detail)
  }
}

/** The page is the inbox with the strip, below a CSP that allows scripts of this origin alone. */
async function checkPage(origin: string): Promise<void> {
  const page = await fetch(origin)
  const text = await page.text()
  const policy = page.headers.get('content-security-policy') ?? ''
  if (!page.ok) throw new Error(`the inbox is not served: ${text}`)
  if (!text.includes('/demo/strip.js') || !policy.includes("script-src 'self'"))
    throw new Error('the page lacks its strip or its CSP')
}

async function until<T>(what: string, look: () => Promise<T | null | undefined>): Promise<T> {
  const endsAt = Date.now() + patienceMs
  for (;;) {
    const seen = await look()
    if (seen !== undefined && seen !== null) return seen
    if (Date.now() > endsAt) throw new Error(`it took more than ${patienceMs / 1000} s until ${what}`)
    await pause(50)
  }
}
