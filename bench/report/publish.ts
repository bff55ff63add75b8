import { spawnSync } from 'node:child_process'
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { writePage } from './page.ts'
import { plotAll } from './plots.ts'
import type { Session } from './session.ts'

const docs = fileURLToPath(new URL('../../../../docs/', import.meta.url))

/** Writes docs/performance.md and its plots. */
export function publish(session: Session): void {
  const plots = plotAll(session)
  mkdirSync(`${docs}performance`, { recursive: true })
  for (const [file, content] of plots) writeFileSync(`${docs}performance/${file}`, content)
  writeFileSync(`${docs}performance.md`, writePage(session, [...plots.keys()]))
  // Tables as wide as their widest cell, like those of all pages.
  spawnSync(`${docs}../node_modules/.bin/biome`, ['format', '--write', `${docs}performance.md`], {
    stdio: 'ignore',
  })
  console.log('\nwritten to docs/performance.md')
}

// By itself: node bench/dist/bench/report/publish.js bench/results/<date>.json
const [, program, file] = process.argv
if (program === fileURLToPath(import.meta.url) && file !== undefined)
  publish(JSON.parse(readFileSync(file, 'utf8')) as Session)
