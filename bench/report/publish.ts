import { spawnSync } from 'node:child_process'
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { isBusy, type Machine } from './machine.ts'
import { show } from './numbers.ts'
import { writePage } from './page.ts'
import { plotAll } from './plots.ts'
import type { Session } from './session.ts'
import { findSoak } from './soak.ts'

const docs = fileURLToPath(new URL('../../../../docs/', import.meta.url))

/** Why no page is made of what was measured on that machine, as it would mislead; null where it is. */
export function refuse(machine: Machine): string | null {
  return isBusy(machine)
    ? `Nothing is published: ${show(machine.load)} processes wanted the ${machine.cores} cores in the minute before the bench began, so that its times would be too long. Wait until the machine is quiet, or pass --force: the page then says that it was busy.`
    : null
}

/** Writes docs/performance.md and its plots. */
export function publish(session: Session): void {
  const plots = plotAll(session)
  mkdirSync(`${docs}performance`, { recursive: true })
  for (const [file, content] of plots) writeFileSync(`${docs}performance/${file}`, content)
  writeFileSync(`${docs}performance.md`, writePage(session, [...plots.keys()], findSoak()))
  // Tables as wide as their widest cell, like those of all pages.
  spawnSync(`${docs}../node_modules/.bin/biome`, ['format', '--write', `${docs}performance.md`], {
    stdio: 'ignore',
  })
  console.log('\nwritten to docs/performance.md')
}

// By itself: node bench/dist/bench/report/publish.js bench/results/<date>.json [--force]
const [, program, file, force] = process.argv
if (program === fileURLToPath(import.meta.url) && file !== undefined) {
  const session = JSON.parse(readFileSync(file, 'utf8')) as Session
  const refusal = force === '--force' ? null : refuse(session.machine)
  if (refusal === null) publish(session)
  else {
    console.error(refusal)
    process.exitCode = 1
  }
}
