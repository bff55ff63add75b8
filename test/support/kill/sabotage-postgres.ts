import pg from 'pg'
import { withoutFence } from '../mutant-pool.ts'
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

function rewrite(text: string, sabotage: Sabotage): string {
  const deaf = sabotage.isDeaf ? text.replace(/(set beat_at = .*) and not dead/, '$1') : text
  return sabotage.withoutFence ? withoutFence(deaf) : deaf
}
