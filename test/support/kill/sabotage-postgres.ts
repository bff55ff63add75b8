import pg from 'pg'
import { withoutFence as removeFence } from '../mutant-pool.ts'
import { type Sabotage, Writes } from './sabotage.ts'

interface Config {
  readonly text: string
  /** A query that the driver did not make itself, of a statement that was prepared before: its text is not sent. */
  readonly submit?: unknown
  callback?: (...result: readonly unknown[]) => void
}
type Query = (config: Config) => Promise<unknown>

/** A write is a statement that changes rows, and so a transaction of its own. */
export function sabotagePostgres(sabotage: Sabotage): void {
  const prototype = pg.Client.prototype as unknown as { query: Query }
  const { query } = prototype
  const writes = new Writes(sabotage)
  prototype.query = function (this: unknown, config) {
    const text = rewrite(config.text, sabotage)
    const isWrite = /\b(insert into|update|delete from) "/.test(text)
    const { submit, callback } = config
    if (submit !== undefined) {
      if (!isWrite) return query.call(this, config)
      const pass = writes.begin()
      config.callback = (...result) => {
        if (result[0] === null) pass('after')
        callback?.(...result)
      }
      const sent = query.call(this, config)
      pass('sent')
      return sent
    }
    if (!isWrite) return query.call(this, { ...config, text })
    const pass = writes.begin()
    const reply = query.call(this, { ...config, text })
    pass('sent')
    return reply.then((result) => {
      pass('after')
      return result
    })
  }
}

function rewrite(text: string, { isDeaf, isAlone, withoutFence }: Sabotage): string {
  const deaf = isDeaf ? text.replace(/(set beat_at = .*) and not dead/s, '$1') : text
  const alone = isAlone ? deaf.replace('not dead and machine = $1', `machine = 'not ' || $1`) : deaf
  return withoutFence ? removeFence(alone) : alone
}
