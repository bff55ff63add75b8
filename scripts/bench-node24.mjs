// Runs the bench on Node 24, with the drivers that belong to it.
// usage: npm run bench:node24 -- --drivers [what the bench takes]
import { spawnSync } from 'node:child_process'
import { prepareNode24 } from './node24.mjs'

const { tree, environment } = prepareNode24()
const commands = [
  ['node_modules/typescript/bin/tsc', '-b'],
  ['bench/dist/bench/index.js', ...process.argv.slice(2)],
]
for (const command of commands) {
  const { status } = spawnSync('node', command, { cwd: tree, env: environment, stdio: 'inherit' })
  process.exitCode = status ?? 1
  if (status !== 0) break
}
