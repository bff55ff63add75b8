import { mkdirSync, writeFileSync } from 'node:fs'

/** What was measured, as it was written: not kept in the repository. */
const folder = new URL('../../../results/', import.meta.url)

export function keepResult(name: string, result: object): void {
  mkdirSync(folder, { recursive: true })
  const file = `${name.replaceAll(':', '-')}.json`
  writeFileSync(new URL(file, folder), `${JSON.stringify(result, null, 1)}\n`)
  console.log(`\nwritten to bench/results/${file}`)
}
