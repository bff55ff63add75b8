import type { WholeStore } from '@pawl/core/storage'
import type { MemoryConnection } from '../connection.ts'
import { readMail, readMailOf, readReply } from '../reads/mail.ts'
import { requestCancel } from '../writes/cancel.ts'
import { takeRun } from '../writes/claim.ts'
import { holdMail } from '../writes/hold.ts'
import { sendMessage } from '../writes/send.ts'

export function createMail(connection: MemoryConnection): WholeStore['mail'] {
  const { tables } = connection
  return {
    send: (messages, claimant) =>
      connection.write((now) =>
        messages
          .map((message) => sendMessage(tables, message, now))
          .map((one) => ('run' in one ? { ...one, claimed: takeRun(tables, one.run, claimant, now) } : one)),
      ),
    cancel: (request, claimant) =>
      connection.write((now) => {
        const one = requestCancel(tables, request, now)
        return 'run' in one ? { ...one, claimed: takeRun(tables, one.run, claimant, now) } : one
      }),
    hold: (worker, run, epoch, forMs) =>
      connection.read((now) => holdMail(tables, worker, run, epoch, now + forMs)),
    list: (run, after) => connection.read(() => readMail(tables, run, after)),
    reply: (run, key) => connection.read(() => readReply(tables, run, key)),
    counters: (worker) => connection.read(() => readMailOf(tables, worker)),
  }
}
