// Writes each package as it is published to .cache/publish.  usage: npm run stage [-- name ...]
import { readdirSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { stage } from './stage.ts'

const root = fileURLToPath(new URL('../..', import.meta.url))
const wanted = process.argv.slice(2)
const names = wanted.length > 0 ? wanted : readdirSync(join(root, 'packages'))
for (const name of names) {
  const { files, bytes } = await stage(root, join(root, '.cache/publish', name))
  console.log(`${name}: ${files} files, ${(bytes / 1000).toFixed(0)} kB`)
}
