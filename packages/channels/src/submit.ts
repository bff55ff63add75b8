import { type Ask, type Client, PawlError, type PluginHost, type ResumeResolution } from '@pawl/core'
import { checkActor, checkName, checkObject, checkShown, checkText, readAudiences } from '@pawl/core/internal'
import type { Channel, Comment, Sender, Submit } from './channel.ts'
import { deliveryId } from './names.ts'
import type { NotifyProcedure } from './notify.ts'

interface SubmitOptions {
  readonly client: Client
  readonly host: PluginHost
  readonly channel: Channel
  readonly procedure: NotifyProcedure
}

/** Creates the function by which a channel passes replies on. It applies the rules of every other door. */
export function createSubmit({ client, host, channel, procedure }: SubmitOptions): Submit {
  return async (id: unknown, given: unknown, from: unknown) => {
    const reply = checkObject('reply of a channel', given)
    const sender = readSender(from)
    const ask = await client.inbox.get(checkName('ask of a reply', id))
    if (ask === null) throw new PawlError('ask-not-found', { ask: String(id) })
    if (isComment(reply)) {
      const kept = { by: sender.as, comment: checkShown('comment of a reply', reply.comment) }
      const delivery = deliveryId(ask.id, channel.name)
      if (sender.ref !== undefined && !(await hasDelivered(client, delivery, sender.ref)))
        forbid(
          ask,
          `Channel ${channel.name} has delivered nothing of it under this reference.`,
          'Reply to what was delivered.',
        )
      return client.get(procedure, delivery).signal('comment', kept, { by: sender.as })
    }
    checkIdentity(channel, ask)
    const { as, names, digest } = sender
    await host.answer(ask, reply as ResumeResolution, { as, names, digest, via: channel.name })
  }
}

/** Whether one of the attempts of a delivery has returned this reference. */
async function hasDelivered(client: Client, delivery: string, ref: string): Promise<boolean> {
  const { execution_log } = await client.log(delivery)
  return execution_log.some(
    ({ type, status, result }) => type === 'step' && status === 'done' && result === ref,
  )
}

/** A text without a decision decides nothing, whatever it says. */
function isComment(reply: object): reply is Comment {
  const parts = Object.keys(reply)
  return parts.length === 1 && parts[0] === 'comment'
}

function readSender(given: unknown): Required<Sender> {
  const sender = checkObject('sender of a reply', given)
  const as = checkActor('as of a reply', sender['as'])
  const { names, digest, ref } = sender
  const isNone = names === undefined || (Array.isArray(names) && names.length === 0)
  return {
    ...{ as, names: isNone ? [] : readAudiences('names of a reply', names) },
    digest: digest === undefined ? undefined : checkText('digest of a reply', digest),
    ref: ref === undefined ? undefined : checkText('ref of a reply', ref),
  }
}

/** What a channel says of its sender counts only if the channel has verified it. */
function checkIdentity({ name, can }: Channel, ask: Ask): void {
  if (can.identity !== 'verified')
    forbid(
      ask,
      `Channel ${name} does not prove who replies, so its replies are comments only.`,
      'Answer with the link, or in the inbox.',
    )
}

function forbid({ id }: Ask, what: string, remedy: string): never {
  throw new PawlError('answer-forbidden', { ask: id }, { what, remedy })
}
