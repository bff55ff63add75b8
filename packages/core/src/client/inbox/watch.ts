import type { Audience } from '../../base/people.ts'
import { checkKeys, checkObject, checkWhole, refuse } from '../../checks/options.ts'
import { checkAudience } from '../../checks/people.ts'
import { namesOf } from '../../ports/store/asks.ts'
import type { Connection } from '../connection.ts'
import { followFeed } from '../feed.ts'
import type { InboxEvent } from '../types.ts'

/** Follows the inbox. */
export function watchInbox(connection: Connection, given: unknown): AsyncIterable<InboxEvent> {
  const options = checkObject('options of inbox.watch', given)
  checkKeys('the options of inbox.watch', options, ['after', 'to', 'signal'])
  const { after, to, signal } = options
  const last =
    after === undefined ? undefined : checkWhole('after of inbox.watch', after, 0, Number.MAX_SAFE_INTEGER)
  const audience = to === undefined ? undefined : checkAudience('to of inbox.watch', to)
  if (signal !== undefined && !(signal instanceof AbortSignal))
    refuse('signal of inbox.watch', signal, 'It must be an AbortSignal.')
  return watch(connection, last, audience, signal)
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
        const { n, at, ask, run, position } = event
        if (to === undefined || (await isAddressedTo(connection, run, position, to)))
          yield { event: event.event, n, at, ask }
        break
      }
      case 'run.ended':
      case 'run.stuck':
      case 'run.quarantined':
        break
    }
}

async function isAddressedTo(
  connection: Connection,
  run: string,
  position: number,
  name: string,
): Promise<boolean> {
  const row = await (await connection.store()).ask(run, position)
  if (row === null) return false
  const { to, escalateTo } = row
  return namesOf({ to: to ?? [], escalateTo: escalateTo ?? [] }).some((one) => one.name === name)
}
