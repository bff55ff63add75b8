import { checkName, checkObject, refuse } from '../../checks/options.ts'
import { checkActor } from '../../checks/people.ts'
import { optional, readOptions, required, type Spec } from '../../checks/spec.ts'
import { PawlError } from '../../errors/pawl-error.ts'
import { decode, encode } from '../../events/payload.ts'
import type { As } from '../answering.ts'
import type { Connection } from '../connection.ts'
import type { Mailer } from '../mailer.ts'
import type { AskByKey } from '../types.ts'
import { answerEarly } from './answer-early.ts'
import { answerOpen, type Giver } from './answer-open.ts'
import { findAsk } from './find.ts'

const answerOptions = {
  as: required(checkActor),
  via: optional(checkVia),
  madeBy: optional(checkActor),
  actedBy: optional(checkActor),
  digest: optional(checkDigest),
} satisfies Spec<As>
const addressOptions = { run: required(checkName), key: required(checkName) } satisfies Spec<AskByKey>

export async function answerAsk(
  connection: Connection,
  mailer: Mailer,
  address: unknown,
  given: unknown,
  as: unknown,
): Promise<void> {
  const giver = readGiver(as)
  const to = readAddress(address)
  // Copied synchronously, so that later changes by the caller have no effect.
  const answer = decode(encode(given, 'answer'))
  const store = await connection.begin()
  if ('ask' in to) {
    const row = await findAsk(connection, store, to.ask)
    if (row === null) throw new PawlError('ask-not-found', to)
    return answerOpen(connection, mailer, row, answer, giver)
  }
  const row = await store.asks.findByKey(to.run, to.key)
  return row === null
    ? answerEarly(connection, mailer, to, answer, giver)
    : answerOpen(connection, mailer, row, answer, giver)
}

/** Reads who gives an answer. @throws PawlError 'option-invalid' */
export function readGiver(as: unknown): Giver {
  const { as: by, ...others } = readOptions('of inbox.answer', as, answerOptions)
  return { by, ...others }
}

function checkVia(option: string, given: unknown): string {
  if (typeof given === 'string' && /^[a-z0-9-]{1,40}$/.test(given)) return given
  return refuse(option, given, 'It must have 1 to 40 characters of a-z, 0-9 and -.')
}

function checkDigest(option: string, given: unknown): string {
  if (typeof given === 'string' && /^[0-9a-f]{32}$/.test(given)) return given
  return refuse(option, given, 'It must be the `digest` of an ask: 32 hexadecimal digits.')
}

/** The id of an ask, or a run and a key for an ask without an id yet. */
type Address = { readonly ask: string } | { readonly run: string; readonly key: string }

function readAddress(given: unknown): Address {
  if (typeof given === 'string') return { ask: given }
  const allowed = 'It must be the id of an ask, as returned by `inbox.list`, or { run, key }.'
  if (given === undefined) refuse('ask of inbox.answer', given, allowed)
  const address = checkObject('ask of inbox.answer', given)
  return readOptions('of inbox.answer', address, addressOptions, 'the address of inbox.answer')
}
