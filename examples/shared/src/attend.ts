import { setTimeout as pause } from 'node:timers/promises'
import { type Ask, type Client, PawlError, type RunHandle } from '@pawl/core'

/**
 * Shows each ask of a run to a person until the run has ended.
 * @param answer says whether the question is settled; false leaves it open, and the run with it
 * @returns what the run returned; undefined if a question was left open
 */
export async function attend<Output>(
  client: Client,
  run: RunHandle<Output>,
  answer: (ask: Ask) => Promise<boolean>,
): Promise<Output | undefined> {
  const ended = run.result().then(
    () => null,
    () => null,
  )
  for (;;) {
    const asked = client.inbox.next({ run: run.id }).catch((error) => {
      if (PawlError.is(error, 'run-ended')) return null
      throw error
    })
    asked.catch(() => {}) // A run that is stuck asks nothing, and has a result that rejects.
    const ask = await Promise.race([asked, ended])
    if (ask === null) return run.result()
    if (!(await answer(ask))) return undefined
  }
}

/** Waits until another person or process has answered, or the ask was closed in another way. */
export async function untilClosed(client: Client, ask: Ask): Promise<boolean> {
  while ((await client.inbox.get(ask.id))?.status === 'open') await pause(200)
  return true
}
