import type { Client } from '@pawl/core'

/** Approves every ask of a run with the amount that the uses expect, until the run has ended. */
export function approveAll(client: Client, run: string): void {
  const next = async (): Promise<void> => {
    for (;;) {
      const ask = await client.inbox.next({ run })
      await client.inbox.answer(ask.id, { approved: true, params: { cents: 4_000 } }, { as: 'user:test' })
    }
  }
  next().catch(() => {}) // The run has ended, or the engine has stopped.
}
