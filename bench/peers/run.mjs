// One peer, one workload, one process.  Arguments: peer, workload, and as JSON where it works and what was left there
import { readFileSync } from 'node:fs'
import { Watch } from './watch.mjs'
import { workloads } from './workloads.mjs'

const [, , peer, workload, json] = process.argv
const job = JSON.parse(json)
const watch = new Watch()
let hasOpened = false

// Whoever started it is gone.
process.once('disconnect', () => process.exit())
process.once('unhandledRejection', fail)
process.once('uncaughtException', fail)

try {
  const { about, eager, open, maxSteps, whyMostSteps, lessWork = {} } = await import(`./${peer}.mjs`)
  const figures = await workloads[workload]({
    maxSteps,
    watch,
    job,
    tell: (message) => process.send(message),
    async open() {
      const engine = await open(job.address, watch.hooks, job.isEager === true)
      hasOpened = true
      return engine
    },
  })
  const reported = { ...about, eager, version: versionOf(about.package), node: process.version }
  // Asked for as many as fit; that it did all of them has been checked.
  const isLong = workload === 'W1' || workload === 'W6 take up' || workload === 'children'
  const isShort = isLong && maxSteps !== undefined
  const note = isShort ? `${maxSteps} steps: ${whyMostSteps}` : lessWork[workload]
  process.send({ figures, about: reported, note }, () => process.exit())
} catch (error) {
  fail(error)
}

function fail(error) {
  const reason = error instanceof Error ? error.message : String(error)
  process.send({ failed: reason || String(error), hasOpened }, () => process.exit(1))
}

function versionOf(name) {
  const file = new URL(`./node_modules/${name}/package.json`, import.meta.url)
  return JSON.parse(readFileSync(file, 'utf8')).version
}
