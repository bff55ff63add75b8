import { type Ask, type Client, type FeedEvent, PawlError } from '@pawl/core'
import { readFeed } from '@pawl/core/internal'
import type { Rights } from '../auth/rights.ts'
import type { FeedEventJson, FeedName } from '../json/shapes.ts'
import type { Frame, Frames } from './event-stream.ts'

/** The parameters of a reader of the feed. */
export interface FeedRequest {
  /** The number of the last event it saw. Undefined: from now on. */
  readonly after: number | undefined
  /** Names of events. Empty: all. */
  readonly only: readonly FeedName[]
  /** Whether all open asks come first. */
  readonly open: boolean
}

const pageSize = 500

/** The feed of a store, as far as an identity may see it. */
export function feedFrames(client: Client, rights: Rights, { after, only, open }: FeedRequest): Frames {
  return async function* frames(signal): AsyncGenerator<Frame> {
    // The number is read before the asks are listed, so that no event in between is missed.
    const from = after ?? (await newestNumber(client))
    if (open) yield* openAsks(client, rights, from)
    // A reader that is cut off before the first event continues here.
    if (after === undefined) yield { id: from }
    for await (const event of readFeed(client, { after: from, signal })) {
      const isWanted = event.event === 'reset' || only.length === 0 || only.includes(event.event)
      if (isWanted && (await isSeen(client, rights, event)))
        yield { id: event.n, event: event.event, data: showFeedEvent(event) }
    }
  }
}

/** Asks the feed for the events after an impossible number: it replies with its newest one. */
async function newestNumber(client: Client): Promise<number> {
  for await (const { n } of readFeed(client, { after: Number.MAX_SAFE_INTEGER, signal: undefined })) return n
  return 0
}

/** Without ids: a reader that is cut off in between is sent all of them again. */
async function* openAsks(client: Client, rights: Rights, n: number): AsyncGenerator<Frame> {
  const filter = { limit: pageSize, ...(rights.names === null ? {} : { visibleTo: rights.names }) }
  for (let cursor: string | undefined; ; ) {
    const page = await client.inbox.list({ ...filter, cursor })
    for (const ask of page.items)
      if (rights.seesAsk(ask)) yield { event: 'ask.opened', data: reEmitted(ask, n) }
    if (page.cursor === undefined) return
    cursor = page.cursor
  }
}

function reEmitted({ id, askedAt }: Ask, n: number): FeedEventJson {
  return { event: 'ask.opened', n, at: askedAt.toISOString(), ask: id, reEmitted: true }
}

async function isSeen(client: Client, rights: Rights, event: FeedEvent): Promise<boolean> {
  switch (event.event) {
    case 'reset':
      return true
    case 'ask.opened':
    case 'ask.closed': {
      if (rights.seesAll) return true
      const ask = await client.inbox.get(event.ask)
      return ask !== null && rights.seesAsk(ask)
    }
    case 'notice': {
      if (rights.seesAll) return true
      const [notice] = (await client.inbox.notices({ id: event.notice })).items
      return notice !== undefined && rights.seesNotice(notice)
    }
    case 'run.ended':
    case 'run.stuck':
    case 'run.quarantined':
      if (!rights.seesRunId(event.run)) return false
      if (rights.seesAll) return true
      return rights.seesRuns && isRunSeen(client, rights, event.run)
  }
}

async function isRunSeen(client: Client, rights: Rights, id: string): Promise<boolean> {
  try {
    return rights.seesRun(await client.get(id).status())
  } catch (error) {
    if (PawlError.is(error, 'run-not-found')) return false
    throw error
  }
}

function showFeedEvent(event: FeedEvent): FeedEventJson {
  const shown = { n: event.n, at: event.at.toISOString() }
  switch (event.event) {
    case 'reset':
      return { event: event.event, ...shown }
    case 'ask.opened':
    case 'ask.closed':
      return { event: event.event, ...shown, ask: event.ask }
    case 'notice':
      return { event: event.event, ...shown, run: event.run, notice: event.notice }
    case 'run.ended':
    case 'run.stuck':
    case 'run.quarantined':
      return { event: event.event, ...shown, run: event.run }
  }
}
