import { execFile } from 'node:child_process'
import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { afterAll, beforeAll, expect, test } from 'vitest'

interface Manifest {
  readonly name: string
  readonly exports: Record<string, unknown>
  readonly dependencies?: Record<string, string>
  readonly peerDependencies?: Record<string, string>
}

const root = fileURLToPath(new URL('..', import.meta.url))
const folders = readdirSync(join(root, 'packages'))
  .map((name) => join(root, 'packages', name))
  .filter((folder) => existsSync(join(folder, 'src/index.ts')))
const manifests = folders.map((folder) => readManifest(folder))

const tsc = join(root, 'node_modules/.bin/tsc')

let empty: string

beforeAll(async () => {
  empty = await mkdtemp(join(tmpdir(), 'pawl-packed-'))
  await run(tsc, ['-b', ...folders], root)
  await packInto(empty)
  await installIn(empty)
}, 120_000)

afterAll(() => rm(empty, { recursive: true, force: true }))

test.each(manifests.map(({ name }) => name))('%s is installed from its tarball, with its licence', (name) => {
  expect(existsSync(join(empty, 'node_modules', name, 'LICENSE'))).toBe(true)
  expect(existsSync(join(empty, 'node_modules', name, 'test'))).toBe(false)
})

const entries = manifests.flatMap(({ name, exports }) =>
  Object.keys(exports)
    .filter((path) => path !== './package.json')
    .map((path) => name + path.slice(1)),
)

test.each(entries)('plain node imports %s', async (entry) => {
  const program = `const module = await import('${entry}'); console.log(typeof module)`
  expect(await run(process.execPath, ['--input-type=module', '--eval', program], empty)).toBe('object\n')
})

test('every entry point has types for those who install it', async () => {
  const lines = entries.map((entry, index) => `export type * as names${index} from '${entry}'`)
  await writeFile(join(empty, 'program.ts'), `${lines.join('\n')}\n`)
  await run(tsc, ['--noEmit', '--strict', '--module', 'nodenext', '--types', 'node', 'program.ts'], empty)
})

/** Writes one tarball a package into `folder`/tarballs. */
async function packInto(folder: string): Promise<void> {
  const tarballs = join(folder, 'tarballs')
  await mkdir(tarballs)
  await run('npm', ['pack', '--silent', '--ignore-scripts', '--pack-destination', tarballs, ...folders], root)
}

/**
 * Installs the tarballs as a user would, with their optional peers. What they depend on is linked to the copies of this workspace:
 * no network is needed, and no database driver is compiled again.
 */
async function installIn(folder: string): Promise<void> {
  const tarballs = readdirSync(join(folder, 'tarballs')).map((file) => `file:tarballs/${file}`)
  const linked = manifests
    .flatMap(({ dependencies, peerDependencies }) => Object.keys({ ...dependencies, ...peerDependencies }))
    .filter((name) => !name.startsWith('@pawl/'))
    .concat('@types/node') // what anyone who writes TypeScript for Node has
    .map((name) => `file:${join(root, 'node_modules', name)}`)
  await writeFile(join(folder, 'package.json'), JSON.stringify({ private: true, type: 'module' }))
  const flags = ['--offline', '--ignore-scripts', '--no-audit', '--no-fund']
  await run('npm', ['install', ...flags, ...tarballs, ...linked], folder)
}

function readManifest(folder: string): Manifest {
  return JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8')) as Manifest
}

/** Runs a program to its end and returns what it printed; a failure carries both of its outputs. */
async function run(program: string, args: readonly string[], cwd: string): Promise<string> {
  try {
    return (await promisify(execFile)(program, args, { cwd })).stdout
  } catch (error) {
    const { message, stdout } = error as Error & { stdout: string }
    throw new Error(`${message}\n${stdout}`)
  }
}
