import type { Cancelled, Sent, WholeStore } from '@pawl/core/storage'
import { prepareReadMail, prepareReadReply } from '../reads/mail.ts'
import { prepareCancel } from '../writes/cancel.ts'
import { prepareHoldMail } from '../writes/hold.ts'
import { prepareSend } from '../writes/send.ts'
import type { StoreParts } from './parts.ts'

export function createMail({ database, ownership, hints, claiming }: StoreParts): WholeStore['mail'] {
  const sendAll = prepareSend(database, ownership)
  const requestCancel = prepareCancel(database, ownership)
  /** A message for a run of this process needs no other one. */
  const isForOthers = (one: Sent | Cancelled): boolean =>
    one.outcome === 'stored' && one.claimed === null && !ownership.owns(one.run)
  return {
    async send(messages, claimant) {
      if (messages.length === 0) return []
      const sent = await sendAll(messages, claimant)
      if (sent.some(isForOthers)) hints.send()
      return sent
    },
    async cancel(request, claimant) {
      const outcome = await requestCancel(request, claimant)
      if (isForOthers(outcome)) hints.send()
      return outcome
    },
    hold: prepareHoldMail(database),
    list: prepareReadMail(database),
    reply: prepareReadReply(database),
    counters: claiming.mailOf,
  }
}
