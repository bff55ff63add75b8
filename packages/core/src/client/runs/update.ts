import type { ProcedureDefinition } from '../../authoring/procedure.ts'
import { encodeChecked } from '../../authoring/signal/arguments.ts'
import { checkUpdate } from '../../authoring/update/update.ts'
import { toHex } from '../../base/hex.ts'
import { topics } from '../../base/notifier.ts'
import { checkName } from '../../checks/options.ts'
import { checkActor } from '../../checks/people.ts'
import { milliseconds, optional, readOptions, type Spec } from '../../checks/spec.ts'
import { failureOf, reviveFailure } from '../../errors/failure.ts'
import { PawlError } from '../../errors/pawl-error.ts'
import { decode } from '../../events/payload.ts'
import type { ReplyPayload } from '../../events/payloads.ts'
import { validate } from '../../host/run-schema.ts'
import { understand } from '../../ports/rows.ts'
import type { RunKey } from '../../ports/store/runs.ts'
import type { Connection } from '../connection.ts'
import { damagedError } from '../damaged.ts'
import { findRun } from '../find-run.ts'
import type { Mailer } from '../mailer.ts'
import { observeAct } from '../observed.ts'
import type { UpdateOptions } from '../types.ts'
import { explainUnread } from '../unread.ts'

/** The run that gets an update. */
interface Target {
  readonly run: string
  readonly definition: ProcedureDefinition | undefined
}

const updateOptions = {
  id: optional(checkName),
  by: optional(checkActor, null),
  timeout: optional(milliseconds, null),
} satisfies Spec<UpdateOptions>

/** An update, and how long its sender waits. */
interface Settings {
  readonly name: string
  readonly input: unknown
  readonly id?: string
  readonly by: string | null
  readonly timeout: number | null
}

/** Sends an update and waits for its reply. The store keeps the reply, so the same id gets the same one. */
export async function sendUpdate(
  connection: Connection,
  mailer: Mailer,
  { run, definition }: Target,
  given: unknown,
  input: unknown,
  options: unknown,
): Promise<unknown> {
  const name =
    definition === undefined ? checkName('name of update', given) : checkUpdate(definition, 'update', given)
  const settings = readOptions('of update', options, updateOptions)
  const act = { verb: 'update', run, by: settings.by ?? undefined } as const
  return observeAct(connection, act, () =>
    send(connection, mailer, { run, definition }, { name, input, ...settings }),
  )
}

async function send(
  connection: Connection,
  mailer: Mailer,
  { run, definition }: Target,
  { name, input, id, by, timeout }: Settings,
): Promise<unknown> {
  const key = `update:${id ?? toHex(connection.entropy.bytes(16))}`
  const payload = await encodeChecked(definition?.updates?.get(name)?.input, input, validate)
  const sent = await mailer.send({ run, kind: 'update', name, key, by, payload })
  if (sent.outcome === 'missing') throw new PawlError('run-not-found', { run })
  if (sent.outcome === 'ended') throw new PawlError('run-ended', { run, status: sent.state })
  if (sent.outcome === 'damaged') throw damagedError(run, sent)
  // Only an early answer may meet an open ask.
  if (sent.outcome === 'asked') throw new TypeError(`The update "${name}" of run ${run} met an ask.`)
  const look = (): Promise<ReplyPayload | undefined> => lookForReply(connection, run, sent.run, key)
  return read(run, name, await connection.wait(topics.talkOf(run), look, timeout, 'by-writes'))
}

/** Returns undefined while there is no reply. @throws the error of a run that gives none */
async function lookForReply(
  connection: Connection,
  run: string,
  runKey: RunKey,
  key: string,
): Promise<ReplyPayload | undefined> {
  const store = await connection.store()
  // The row first: a run that ends replies with its end.
  const { state, mark, owned, wakeAt } = await findRun(connection, run)
  const payload = await store.mail.reply(runKey, key)
  if (payload === null) {
    if (state !== 'live') throw new PawlError('run-ended', { run, status: state })
    if (mark === 'quarantined' && !owned && wakeAt === null)
      throw new PawlError('run-quarantined', { run, reason: 'it takes no update' })
    return undefined
  }
  try {
    return understand(() => decode(payload) as ReplyPayload)
  } catch (error) {
    throw explainUnread(run, `The reply to an update of run ${run}`, error)
  }
}

function read(run: string, update: string, reply: ReplyPayload): unknown {
  if ('value' in reply) return reply.value
  if ('invalid' in reply) throw new PawlError('payload-invalid', reply.invalid)
  if ('unfinished' in reply && reply.unfinished === true)
    throw new PawlError('update-unfinished', {
      ...{ run, update },
      status: 'ended' in reply ? reply.ended : 'continued',
    })
  if ('ended' in reply) throw new PawlError('run-ended', { run, status: reply.ended })
  const { failure } = reply
  const cause = failureOf(failure)
  throw new PawlError('update-refused', { run, update, cause }, { cause: reviveFailure(failure) })
}
