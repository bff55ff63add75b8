// One deploy: an engine with its code, on the day that DEPLOY_DAYS names. The arguments are the name of the deploy, and what happens.
import './clock.ts'
import { join } from 'node:path'
import { setTimeout as wait } from 'node:timers/promises'
import { createEngine } from '@pawl/core'
import { sqlite } from '@pawl/storage-sqlite'
import { renew as first } from './code/first.ts'
import { renew as second } from './code/second.ts'
import { renew as third } from './code/third.ts'

const deploys = { first, second, third }
const [deploy, what, name] = process.argv.slice(2) as [
  keyof typeof deploys,
  'join' | 'renew' | 'refuse',
  string,
]
const renew = deploys[deploy]
const engine = await createEngine({
  store: sqlite(join(process.env['DEPLOY_FOLDER'] as string, 'members.db')),
  procedures: [renew],
})
const id = `member:${name}`
if (what === 'join') {
  const run = await engine.run(renew, { name }, { id })
  for (let status = ''; status !== 'waiting'; status = (await run.status()).status) await wait(20)
  const [sleep] = (await run.status()).waitingFor
  console.log(`it sleeps until ${showDay(sleep?.until)}`)
} else if (what === 'refuse') {
  const other = await refuse()
  const [rows, otherRows] = [await describe(id), await describe(other.id)]
  for (const [index, row] of rows.entries()) console.log(`beside ${row.padEnd(44)} ${otherRows[index] ?? ''}`)
  console.log(
    `beside ${(await engine.get(renew, id).result()).padEnd(44)} ${await engine.get(renew, other.id).result()}`,
  )
} else {
  const ask = await engine.inbox.next({ run: id })
  console.log(`asks ${ask.message}`)
  await engine.inbox.answer(ask.id, { approved: true }, { as: 'user:ana' })
  console.log(`result ${await engine.get(renew, id).result()}`)
  const { execution_log: log } = await engine.log(id)
  for (const { type, name, timestamp } of log)
    console.log(`log ${showDay(new Date(timestamp))} ${type} ${name}`)
}
await engine.stop()

/** Starts a run that shares the past of the other one up to its answer, which is a no. */
async function refuse() {
  const { execution_log: log } = await engine.log(id)
  const asked = log.find(({ type }) => type === 'hitl_approval')
  const charged = log.find(({ name }) => name === 'charge')
  if (!asked || !charged) throw new Error(`${id} was not renewed`)
  const fork = await engine.fork(
    id,
    { position: charged.position },
    { edit: { [asked.position]: { approved: false } } },
  )
  await fork.result()
  return fork
}

/** One line for each entry of a log, with the answers of people. */
async function describe(run: string): Promise<readonly string[]> {
  const { execution_log: log } = await engine.log(run)
  return log.map(({ type, name, result }) => {
    const answer =
      type === 'hitl_approval' ? ((result as { approved: boolean }).approved ? ': yes' : ': no') : ''
    return `${type} ${name}`.slice(0, 38) + answer
  })
}

function showDay(day: Date | undefined): string {
  return day?.toISOString().slice(0, 10) ?? 'no day'
}
