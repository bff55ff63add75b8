// Runs a program that is killed with SIGKILL and goes on, on Bun and on Deno, from the packed packages.
// usage: npm run test:runtimes [-- bun] [-- deno]
//
// Everything happens in .cache/runtimes. Both need better-sqlite3 13: only its binaries load outside Node.
import { execFileSync, spawnSync } from 'node:child_process'
import { cpSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'

const root = dirname(dirname(fileURLToPath(import.meta.url)))
const place = join(root, '.cache/runtimes')
const packages = ['core', 'storage-sqlite']
/** @type {Record<string, string[]>} */
const runtimes = { bun: ['bun'], deno: ['deno', 'run', '--allow-all'] }

const chosen = process.argv.length > 2 ? process.argv.slice(2) : Object.keys(runtimes)
const unknown = chosen.filter((name) => !(name in runtimes))
if (unknown.length > 0) {
  console.error(
    `no runtime is called ${unknown.join(' or ')}; there are: ${Object.keys(runtimes).join(', ')}`,
  )
  process.exit(2)
}
install()
for (const name of chosen) tryOut(name, runtimes[name] ?? [])

/** Installs the packages as a project does, and the runtimes beside them. */
function install() {
  mkdirSync(place, { recursive: true })
  for (const file of readdirSync(place)) if (file.endsWith('.tgz')) rmSync(join(place, file))
  execFileSync('npm', ['run', 'build'], { cwd: root, stdio: 'inherit' })
  for (const name of packages)
    npm(['pack', '--pack-destination', place, '--silent'], join(root, 'packages', name))
  const tarballs = readdirSync(place).filter((file) => file.endsWith('.tgz'))
  writeFileSync(join(place, 'package.json'), '{ "private": true, "type": "module" }\n')
  // Without scripts, since this Node may be too old to build the driver; it brings its binaries.
  npm(
    ['install', '--no-save', '--no-package-lock', '--no-audit', '--no-fund', '--ignore-scripts'].concat(
      tarballs.map((tarball) => `./${tarball}`),
      ['better-sqlite3@13', 'zod@4', ...Object.keys(runtimes)],
    ),
    place,
  )
  npm(['rebuild', ...Object.keys(runtimes)], place)
  cpSync(join(root, 'scripts/runtimes/orders.mjs'), join(place, 'orders.mjs'))
}

/** @param {string} name @param {string[]} command */
function tryOut(name, command) {
  const [program = '', ...args] = command
  const file = join(place, `${name}.db`)
  const ledger = join(place, `${name}.ledger`)
  for (const old of [file, `${file}-wal`, `${file}-shm`, ledger]) rmSync(old, { force: true })
  const orders = (/** @type {string} */ ends) =>
    spawnSync(join(place, 'node_modules/.bin', program), [...args, 'orders.mjs', file, ledger, ends], {
      cwd: place,
      encoding: 'utf8',
      stdio: ['ignore', 'pipe', 'inherit'],
      timeout: 120_000,
    })

  // The runtimes' own launchers may hide the signal: what counts is where the ledger ends.
  orders('kill')
  const before = readLedger(ledger)
  const { stdout } = orders('finish')
  const after = readLedger(ledger).slice(before.length)
  expect(name, 'it was killed midway', before.length, 2000)
  expect(name, 'what it said', stdout.trim(), '{"runs":200,"wrong":0,"stray":"stuck","failures":1}')
  const all = new Set([...before, ...after])
  expect(name, 'steps that were done', all.size, 4000)
  expect(name, 'steps redone although a later one had begun', redone(before, after), 0)
  console.log(
    `ok      ${name}  (${before.length + after.length - all.size} steps were under way when it was killed)`,
  )
}

/** @param {string} ledger */
function readLedger(ledger) {
  return readFileSync(ledger, 'utf8').trim().split('\n')
}

/**
 * How many steps were done again although a later one of their run had begun, so that they were recorded.
 * @param {string[]} before
 * @param {string[]} after
 */
function redone(before, after) {
  const last = new Map(before.map((line) => [runOf(line), stepOf(line)]))
  return after.filter((line) => stepOf(line) < (last.get(runOf(line)) ?? 0)).length
}

/** @param {string} line */
function runOf(line) {
  return line.split('/')[0]
}

/** @param {string} line */
function stepOf(line) {
  return Number(line.split('/')[1])
}

/** @param {string} name @param {string} what @param {string | number} seen @param {string | number} wanted */
function expect(name, what, seen, wanted) {
  if (seen === wanted) return
  console.error(`failed  ${name}  ${what}: ${seen}, and not ${wanted}`)
  process.exit(1)
}

/** @param {string[]} args @param {string} cwd */
function npm(args, cwd) {
  execFileSync('npm', args, { cwd, stdio: 'inherit' })
}
