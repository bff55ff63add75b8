import pg from 'pg'
import { withoutFence as removeFence } from '../mutant-pool.ts'
import { type Sabotage, Writes } from './sabotage.ts'

type Query = (config: { readonly text: string }) => Promise<unknown>

/** A write is a statement that changes rows, and so a transaction of its own. */
export function sabotagePostgres(sabotage: Sabotage): void {
  const prototype = pg.Client.prototype as unknown as { query: Query }
  const { query } = prototype
  const writes = new Writes(sabotage)
  prototype.query = function (this: unknown, config) {
    const text = rewrite(config.text, sabotage)
    if (!/\b(insert into|update|delete from) "/.test(text)) return query.call(this, { ...config, text })
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
