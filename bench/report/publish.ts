import { spawnSync } from 'node:child_process'
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { isBusy, type Machine } from './machine.ts'
import { show } from './numbers.ts'
import { writePage } from './page.ts'
import { plotAll } from './plots.ts'
import type { Session } from './session.ts'
import { findSoak, putSoak, type Soak, tellSoak } from './soak.ts'

const reports = fileURLToPath(new URL('../../../../docs/reports/', import.meta.url))

/** Why no page is made of what was measured on that machine, as it would mislead; null where it is. */
export function refuse(machine: Machine): string | null {
  return isBusy(machine)
    ? `Nothing is published: ${show(machine.load)} processes wanted the ${machine.cores} cores in the minute before the bench began, so that its times would be too long. Wait until the machine is quiet, or pass --force: the page then says that it was busy.`
    : null
}

/** Writes docs/reports/performance.md and its plots. The section on the soak stays: it is measured by itself. */
export function publish(session: Session): void {
  const plots = plotAll(session)
  mkdirSync(`${reports}performance`, { recursive: true })
  for (const [file, content] of plots) writeFileSync(`${reports}performance/${file}`, content)
  keepPage(writePage(session, [...plots.keys()], findSoak(readPage())))
}

/** Writes the section on the soak into docs/reports/performance.md; all else stays. */
export function publishSoak(soak: Soak): void {
  keepPage(putSoak(readPage(), tellSoak(soak)))
}

const page = `${reports}performance.md`

function readPage(): string {
  return existsSync(page) ? readFileSync(page, 'utf8') : ''
}

function keepPage(text: string): void {
  writeFileSync(page, text)
  // Tables as wide as their widest cell, like those of all pages.
  spawnSync(`${reports}../../node_modules/.bin/biome`, ['format', '--write', page], { stdio: 'ignore' })
  console.log('\nwritten to docs/reports/performance.md')
}

// By itself: node bench/dist/bench/report/publish.js bench/results/<date>.json [--force], or soak-<date>.json
const [, program, file, force] = process.argv
if (program === fileURLToPath(import.meta.url) && file !== undefined) {
  const measured = JSON.parse(readFileSync(file, 'utf8')) as Session | Soak
  const refusal = force === '--force' || 'stores' in measured ? null : refuse(measured.machine)
  if (refusal !== null) {
    console.error(refusal)
    process.exitCode = 1
  } else if ('stores' in measured) publishSoak(measured)
  else publish(measured)
}
