import { implement } from '../../base/implement.ts'
import type { Connection } from '../connection.ts'
import type { Mailer } from '../mailer.ts'
import { observeCall } from '../observed.ts'
import type { Inbox } from '../types.ts'
import { answerAsk } from './answer.ts'
import { countAsks } from './count.ts'
import { getAsk, listAsks } from './list.ts'
import { nextAsk } from './next.ts'
import { listNotices, readNotices } from './notices.ts'
import { watchInbox } from './watch.ts'

/** Creates the inbox: the asks of all runs, to list, wait for, and answer. */
export function createInbox(connection: Connection, mailer: Mailer): Inbox {
  return implement<Inbox>({
    list: (filter?: unknown) => listAsks(connection, filter),
    count: (filter?: unknown) => countAsks(connection, filter),
    get: (ask: unknown) => getAsk(connection, ask),
    next: (filter?: unknown) => nextAsk(connection, filter),
    notices: (filter?: unknown) => listNotices(connection, filter),
    readNotices: (ids: unknown, by: unknown) => readNotices(connection, ids, by),
    watch: (options?: unknown) => watchInbox(connection, options),
    answer: (address: unknown, answer: unknown, as: unknown) =>
      observeCall(
        connection,
        { verb: 'answer', run: runOf(address), procedure: undefined, by: personOf(as) },
        () => answerAsk(connection, mailer, address, answer, as),
        () => ({}),
      ),
  })
}

/** Returns who answers, for reports: the options are not checked yet. */
function personOf(given: unknown): string | undefined {
  const { as } = Object(given) as { readonly as?: unknown }
  return typeof as === 'string' ? as : undefined
}

/** Returns the run of an ask by its key, for reports. An id does not contain it. */
function runOf(address: unknown): string | undefined {
  const { run } = Object(address) as { readonly run?: unknown }
  return typeof run === 'string' ? run : undefined
}
