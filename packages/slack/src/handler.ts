import { setTimeout as pause } from 'node:timers/promises'
import type { Sender, Submit } from '@pawl/channels'
import { PawlError } from '@pawl/core'
import type { SlackApi } from './api.ts'
import { type ButtonValue, commentField } from './blocks.ts'
import { isFromSlack, isRecent } from './signature.ts'

/** Returns the person behind a Slack user, with their groups; null for one who may not answer. */
export type FindPerson = (user: string, team: string | undefined) => Sender | null | Promise<Sender | null>

interface HandlerOptions {
  readonly signingSecret: string
  readonly person: FindPerson
  readonly api: SlackApi
}

/** Slack shows an error, and sends the click again, if it has no reply after 3 s. */
const replyWithinMs = 2_500
const maxBodyBytes = 1024 * 1024

export function createHandler({ signingSecret, person, api }: HandlerOptions): {
  readonly handle: (request: Request) => Promise<Response>
  readonly start: (submit: Submit) => () => void
} {
  let submit: Submit | null = null

  const press = async (click: Click): Promise<void> => {
    const problem = await store(click).catch(() => 'It could not be stored. Press the button again.')
    if (problem !== null && click.responseUrl !== undefined) await api.tell(click.responseUrl, problem)
  }
  /** Returns what to tell the person; null if the answer is stored. */
  const store = async ({ user, team, value, comment }: Click): Promise<string | null> => {
    if (submit === null) return 'Pawl is not running. Press the button again later.'
    const sender = await person(user, team)
    if (sender === null) return 'You are not known to Pawl, so your answer was not stored.'
    try {
      await submit(
        value.ask,
        { decision: value.decision, ...(comment === undefined ? {} : { comment }) },
        { ...sender, digest: value.digest },
      )
      return null
    } catch (error) {
      if (!PawlError.is(error)) throw error
      // Slack has sent the click again, or the person pressed twice.
      if (PawlError.is(error, 'ask-closed') && error.details.winner?.by === sender.as) return null
      return error.message
    }
  }

  return {
    start(given) {
      submit = given
      return () => {
        submit = null
      }
    },
    async handle(request) {
      if (request.method !== 'POST') return new Response(null, { status: 400 })
      if (!isRecent(request.headers, Date.now())) return new Response(null, { status: 401 })
      const body = await readBody(request)
      if (body === null) return new Response(null, { status: 400 })
      if (!isFromSlack(request.headers, body, signingSecret)) return new Response(null, { status: 401 })
      const click = readClick(body)
      // Other events are acknowledged. A message is no decision, whatever it says.
      if (click === null) return new Response(null, { status: 200 })
      const timer = new AbortController()
      const late = pause(replyWithinMs, undefined, { signal: timer.signal }).catch(() => {})
      await Promise.race([press(click), late])
      timer.abort()
      return new Response(null, { status: 200 })
    },
  }
}

/** Counts the bytes while they arrive, since anybody can send them. Null: they are too many. */
async function readBody({ body }: Request): Promise<string | null> {
  const chunks: Uint8Array[] = []
  let size = 0
  for await (const chunk of (body ?? []) as AsyncIterable<Uint8Array>) {
    size += chunk.byteLength
    if (size > maxBodyBytes) return null
    chunks.push(chunk)
  }
  return Buffer.concat(chunks).toString('utf8')
}

interface Click {
  readonly user: string
  readonly team: string | undefined
  readonly value: ButtonValue
  readonly comment: string | undefined
  readonly responseUrl: string | undefined
}

interface Interaction {
  readonly type?: unknown
  readonly user?: { readonly id?: unknown; readonly team_id?: string }
  readonly actions?: readonly { readonly type?: unknown; readonly value?: unknown }[]
  readonly response_url?: string
  readonly state?: {
    readonly values?: {
      readonly [block: string]: { readonly [action: string]: { readonly value?: string | null } }
    }
  }
}

/** Reads a press of one of the buttons; null for anything else. */
function readClick(body: string): Click | null {
  const payload = new URLSearchParams(body).get('payload')
  const given = (payload === null ? null : parse(payload)) as Interaction | null
  const [action] = given?.type === 'block_actions' ? (given.actions ?? []) : []
  const user = given?.user?.id
  if (action?.type !== 'button' || typeof action.value !== 'string' || typeof user !== 'string') return null
  const value = parse(action.value) as Partial<ButtonValue> | null
  if (typeof value?.ask !== 'string' || typeof value.decision !== 'string') return null
  const comment = given?.state?.values?.[commentField.block]?.[commentField.action]?.value?.trim()
  return {
    ...{ user, team: given?.user?.team_id, responseUrl: given?.response_url },
    value: {
      ...{ ask: value.ask, decision: value.decision },
      ...(typeof value.digest === 'string' ? { digest: value.digest } : {}),
    },
    comment: comment === '' ? undefined : comment,
  }
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return null
  }
}
