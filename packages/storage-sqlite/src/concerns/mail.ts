import type { Cancelled, WholeStore } from '@pawl/core/storage'
import type { StoreParts } from './parts.ts'

export function createMail({ connection, transactions }: StoreParts): WholeStore['mail'] {
  return {
    send: (messages, claimant) =>
      transactions.delivering(messages, claimant, ({ send }, message, at) => send(message, at)),
    async cancel(request, claimant) {
      const [outcome] = await transactions.delivering([request], claimant, ({ cancel }, given, at) =>
        cancel(given, at),
      )
      return outcome as Cancelled
    },
    hold: (worker, run, epoch, forMs) =>
      connection.write((statements, at) => statements.holdMail(worker, run, epoch, at + forMs)),
    list: (run, after) => connection.read(({ mail }) => mail.readMail(run, after)),
    reply: (run, key) => connection.read(({ mail }) => mail.readReply(run, key)),
    counters: (worker) => connection.read(({ mail }) => mail.readMailOf(worker)),
  }
}
