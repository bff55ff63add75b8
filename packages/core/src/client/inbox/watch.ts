import type { Audience } from '../../base/people.ts'
import { refuse } from '../../checks/options.ts'
import { checkAudience } from '../../checks/people.ts'
import { optional, readOptions, type Spec, whole } from '../../checks/spec.ts'
import { namesOf } from '../../ports/store/asks.ts'
import type { Connection } from '../connection.ts'
import { followFeed } from '../feed.ts'
import type { InboxEvent, WatchOptions } from '../types.ts'
import { findAsk } from './find.ts'

const watchOptions = {
  after: optional(whole(0), undefined),
  to: optional(checkAudience, undefined),
  signal: optional(checkSignal, undefined),
} satisfies Spec<WatchOptions>

function checkSignal(option: string, given: unknown): AbortSignal {
  return given instanceof AbortSignal ? given : refuse(option, given, 'It must be an AbortSignal.')
}

/** Follows the inbox. */
export function watchInbox(connection: Connection, given: unknown): AsyncIterable<InboxEvent> {
  const { after, to, signal } = readOptions('of inbox.watch', given, watchOptions)
  return watch(connection, after, to, signal)
}

async function* watch(
  connection: Connection,
  after: number | undefined,
  to: Audience | undefined,
  signal: AbortSignal | undefined,
): AsyncGenerator<InboxEvent, void, undefined> {
  for await (const event of followFeed(connection, { after, signal }))
    switch (event.event) {
      case 'reset':
        yield { event: 'reset', n: event.n, at: event.at, ask: undefined }
        break
      case 'ask.opened':
      case 'ask.closed': {
        const { n, at, ask } = event
        if (to === undefined || (await isAddressedTo(connection, ask, to)))
          yield { event: event.event, n, at, ask }
        break
      }
      case 'run.ended':
      case 'run.stuck':
      case 'run.quarantined':
      case 'notice':
        break
    }
}

async function isAddressedTo(connection: Connection, ask: string, name: string): Promise<boolean> {
  const row = await findAsk(connection, await connection.store(), ask)
  if (row === null) return false
  const { to, escalateTo } = row
  return namesOf({ to: to ?? [], escalateTo: escalateTo ?? [] }).some((one) => one.name === name)
}
