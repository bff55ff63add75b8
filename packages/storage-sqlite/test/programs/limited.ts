// Commits large events while its files may not grow beyond a limit, until some commit was lost: `limited <file>`.
// Writes what was acknowledged and what was lost.
import { connectTo } from '@pawl/core/storage'
import { sqliteStore } from '../../../../test/support/sqlite.ts'
import { event, ownedRun, step } from '../support/runs.ts'

const store = connectTo(sqliteStore(process.argv[2] ?? ''))
if (!store) throw new Error('no store')
await store.open()
let standing = await ownedRun(store, 'a')
const [acknowledged, lost]: [string[], string[]] = [[], []]
for (let commit = 0; lost.length === 0 || commit % 20 !== 0; commit++) {
  const name = `event ${commit}`
  const unit = { ...step(standing), events: [event(standing.head, new Uint8Array(3000), name)] }
  const [outcome] = await store.log.commit(standing.worker, [unit])
  if (outcome?.outcome === 'ok') acknowledged.push(name)
  else if (outcome?.outcome === 'lost') lost.push(name)
  else throw new Error(`commit: ${outcome?.outcome}`)
  const head = outcome.outcome === 'ok' ? standing.head + 1 : standing.head
  standing = { ...standing, head, epoch: outcome.epoch }
}
console.log(JSON.stringify({ acknowledged, lost }))
await store.close()
