// Runs every check and says which failed.  usage: npm run check [-- name ...]
import { spawnSync } from 'node:child_process'
import { existsSync, readdirSync } from 'node:fs'

const root = new URL('..', import.meta.url)
const bin = (name) => `node_modules/.bin/${name}`
const published = readdirSync(new URL('packages', root)).filter((name) =>
  existsSync(new URL(`packages/${name}/src/index.ts`, root)),
)

/**
 * Names and command lines, in order: those after `build` and `stage` read what these wrote.
 * @type {[string, string[]][]}
 */
const checks = [
  ['lock', ['node', 'scripts/fix-lock.mjs', '--check']],
  ['format', [bin('biome'), 'ci', '--colors=off']],
  ['words', ['node', '--import', 'tsx', 'scripts/check-words.ts']],
  ['docstrings', ['node', '--import', 'tsx', 'scripts/check-docstrings.ts']],
  ['errors', ['node', '--import', 'tsx', 'scripts/errors/index.ts', '--check']],
  ['reference', ['node', '--import', 'tsx', 'scripts/reference/index.ts', '--check']],
  ['layers', ['node', '--import', 'tsx', 'scripts/check-layers.ts']],
  ['build', [bin('tsc'), '-b']],
  ['lint', [bin('oxlint'), '--type-aware', '--deny-warnings']],
  ['types', [bin('tsc'), '-p', 'tsconfig.test.json']],
  ['unused', [bin('knip'), '--no-config-hints']],
  ['stage', ['node', '--import', 'tsx', 'scripts/publish/index.ts', ...published]],
  ...published.flatMap((name) => [
    [`publint ${name}`, [bin('publint'), `.cache/publish/${name}`, '--strict']],
    [`attw ${name}`, [bin('attw'), '--pack', `.cache/publish/${name}`, '--profile', 'esm-only']],
  ]),
]

const wanted = process.argv.slice(2)
const chosen = checks.filter(([name]) => wanted.length === 0 || wanted.includes(name.split(' ')[0]))
if (chosen.length === 0) {
  console.error(
    `no check is called ${wanted.join(' or ')}; there are: ${checks.map(([name]) => name).join(', ')}`,
  )
  process.exit(2)
}

const failed = []
for (const [name, [command, ...args]] of chosen) {
  const startedAt = Date.now()
  const { status, error, stdout, stderr } = spawnSync(command, args, { cwd: root, encoding: 'utf8' })
  const seconds = ((Date.now() - startedAt) / 1000).toFixed(1)
  console.log(`${status === 0 ? 'ok    ' : 'FAILED'}  ${name}  (${seconds} s)`)
  if (status === 0) continue
  failed.push(name)
  console.log(`${error ?? ''}${stdout}${stderr}`)
}
if (failed.length > 0) {
  console.error(`failed: ${failed.join(', ')}`)
  process.exitCode = 1
}
