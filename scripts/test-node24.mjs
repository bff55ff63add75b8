// Runs the tests of the core, of SQLite, of the memory store, of the packed packages and of TypeScript that Node loads by itself on
// Node 24, with the drivers that belong to it.
// usage: npm run test:node24 [-- what vitest takes]
import { execFileSync, spawnSync } from 'node:child_process'
import { prepareNode24 } from './node24.mjs'

const tests = [
  ...['packages/core', 'packages/storage-sqlite', 'packages/testing', 'test/kill-', 'test/family-kills'],
  ...['packages/cli/test/node-typescript.test.ts', 'test/packed-install.test.ts'],
]

const { tree, environment } = prepareNode24()
const version = execFileSync('node', ['--version'], { env: environment, encoding: 'utf8' }).trim()
const chosen = process.argv.length > 2 ? process.argv.slice(2) : tests
console.log(`Node ${version}: vitest run ${chosen.join(' ')}`)
const { status } = spawnSync('node', ['node_modules/vitest/vitest.mjs', 'run', ...chosen], {
  cwd: tree,
  env: environment,
  stdio: 'inherit',
})
process.exitCode = status ?? 1
