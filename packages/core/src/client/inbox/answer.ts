import { checkKeys, checkName, checkObject, refuse } from '../../checks/options.ts'
import { checkActor } from '../../checks/people.ts'
import { PawlError } from '../../errors/pawl-error.ts'
import { decode, encode } from '../../events/payload.ts'
import type { Connection } from '../connection.ts'
import type { Mailer } from '../mailer.ts'
import { answerEarly } from './answer-early.ts'
import { answerOpen } from './answer-open.ts'
import { findAsk } from './list.ts'

export async function answerAsk(
  connection: Connection,
  mailer: Mailer,
  address: unknown,
  given: unknown,
  as: unknown,
): Promise<void> {
  const settings = checkObject('options of inbox.answer', as)
  checkKeys('the options of inbox.answer', settings, ['as'])
  const by = checkActor('as of inbox.answer', settings['as'])
  const to = readAddress(address)
  // Copied synchronously, so that later changes by the caller have no effect.
  const answer = decode(encode(given, 'answer'))
  const store = await connection.begin()
  if ('ask' in to) {
    const row = await findAsk(connection, store, to.ask)
    if (row === null) throw new PawlError('ask-not-found', to)
    return answerOpen(connection, mailer, row, answer, by)
  }
  const row = await store.askByKey(to.run, to.key)
  return row === null
    ? answerEarly(connection, mailer, to, answer, by)
    : answerOpen(connection, mailer, row, answer, by)
}

/** The id of an ask, or a run and a key for an ask without an id yet. */
type Address = { readonly ask: string } | { readonly run: string; readonly key: string }

function readAddress(given: unknown): Address {
  if (typeof given === 'string') return { ask: given }
  const allowed = 'It must be the id of an ask, as returned by `inbox.list`, or { run, key }.'
  if (given === undefined) refuse('ask of inbox.answer', given, allowed)
  const address = checkObject('ask of inbox.answer', given)
  checkKeys('the address of inbox.answer', address, ['run', 'key'])
  return {
    run: checkName('run of inbox.answer', address['run']),
    key: checkName('key of inbox.answer', address['key']),
  }
}
