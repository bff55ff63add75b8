import { execFile } from 'node:child_process'
import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { mkdir, mkdtemp, readFile, realpath, rename, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { basename, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { build } from 'esbuild'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { stage } from '../scripts/publish/stage.ts'

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
/** Built files without an entry point, which @pawl/server serves. Vitest has built them before all tests. */
const inbox = join(root, 'packages/inbox')

const tsc = join(root, 'node_modules/.bin/tsc')
const loadsTypeScript = Boolean((process.features as { readonly typescript?: string | false }).typescript)

let empty: string

beforeAll(async () => {
  empty = await mkdtemp(join(tmpdir(), 'pawl-packed-'))
  await run(tsc, ['-b', ...folders], root)
  await packInto(empty)
  await installIn(empty)
})

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

/** The types of an SDK that an adapter extends may need more than its packages install. */
const isAdapter = (entry: string) =>
  manifests.some(({ name, peerDependencies }) => name === entry && peerDependencies)

test.each([
  { of: 'Pawl', chosen: entries.filter((entry) => !isAdapter(entry)), flags: [] },
  { of: 'adapters of SDKs', chosen: entries.filter(isAdapter), flags: ['--skipLibCheck'] },
])('the entry points of $of have types for those who install them', async ({ chosen, flags }) => {
  const lines = chosen.map((entry, index) => `export type * as names${index} from '${entry}'`)
  await writeFile(join(empty, 'program.ts'), `${lines.join('\n')}\n`)
  const options = ['--noEmit', '--strict', '--module', 'nodenext', '--types', 'node', ...flags]
  await run(tsc, [...options, 'program.ts'], empty)
})

test('a process that needs no lists and no migrations does not load kysely', async () => {
  await writeFile(join(empty, 'watched.js'), watchedProgram)
  const start = (step: string) => run(process.execPath, ['--import', nameLoaded, 'watched.js', step], empty)
  expect(loadsKysely(await start('begin'))).toBe(true)
  const loaded = await start('go on')
  expect(loaded).toContain('/better-sqlite3/')
  expect(loaded).toContain('gone on with true\n')
  expect(loadsKysely(loaded)).toBe(false)
  const listed = await start('list')
  expect(listed).toContain('1 completed\n')
  expect(loadsKysely(listed)).toBe(true)
})

/** It is part of a chunk, which names the modules that it consists of. */
function loadsKysely(printed: string): boolean {
  const files = printed.split('\n').filter((line) => line.startsWith('file:'))
  return files.some((file) => readFileSync(fileURLToPath(file), 'utf8').includes('node_modules/kysely/'))
}

test.each([
  { maps: 'without', flags: [] },
  { maps: 'with', flags: ['--enable-source-maps'] },
])('errors name the file of the author, $maps source maps', async ({ maps, flags }) => {
  const file = `${maps}-maps.ts`
  await writeFile(join(empty, file), bundledProgram)
  const printed = await run(process.execPath, ['--import', 'tsx', ...flags, file], empty)
  expect(printed).toContain(`stuck, called at "${await realpath(join(empty, file))}:8:`)
})

describe('in one file made by a bundler', () => {
  const kinds = [
    { format: 'cjs', maps: false, named: '' },
    { format: 'cjs', maps: true, named: 'bundled.ts:8:' },
    { format: 'esm', maps: false, named: '' },
    { format: 'esm', maps: true, named: 'bundled.ts:8:' },
  ] as const

  test.each(kinds)('an engine works: $format, source maps: $maps', async ({ format, maps, named }) => {
    const folder = join(empty, `${format}-${maps}`)
    await mkdir(folder)
    await writeFile(join(folder, 'bundled.ts'), bundledProgram)
    const outfile = join(folder, `out/deep/bundled.${format === 'cjs' ? 'cjs' : 'mjs'}`)
    await build({
      ...{ entryPoints: [join(folder, 'bundled.ts')], outfile, bundle: true, minify: true, format },
      ...{ platform: 'node', external: ['better-sqlite3'], sourcemap: maps, logLevel: 'error' },
    })
    const flags = maps ? ['--enable-source-maps'] : []
    const printed = await run(process.execPath, [...flags, outfile], folder)
    const [result, at, ...more] = printed.split('\n')
    expect([result, more]).toEqual(['went on with a', ['']])
    if (named === '') expect(at).toBe('stuck, called at ""')
    else expect(at).toContain(named)
  })
})

/** A run, and then one whose code has changed: the error names the call. */
const bundledProgram = `
import { createEngine, procedure } from '@pawl/core'
import { sqlite } from '@pawl/storage-sqlite'

async function main() {
  const version = (name: string) =>
    procedure({ name: 'p' }, async (ctx) => {
      const step = await ctx.step(name, () => name); await ctx.human.approve('Go on?'); return step })
  const store = sqlite('bundled-' + process.pid + '.db')
  const before = await createEngine({ store, procedures: [version('a')] })
  const run = await before.run(version('a'))
  const { id } = await before.inbox.next()
  await before.inbox.answer(id, { approved: true }, { as: 'user:ana' })
  console.log('went on with ' + (await run.result()))
  const waiting = await before.run(version('a'))
  const ask = await before.inbox.next()
  await before.stop()
  const logger = { debug() {}, info() {}, warn() {}, error() {} }
  const after = await createEngine({ store, procedures: [version('b')], logger })
  await after.inbox.answer(ask.id, { approved: true }, { as: 'user:ana' })
  const error = await after.get(waiting.id).result().catch((reason) => reason)
  console.log('stuck, called at ' + JSON.stringify(error.details.at))
  await after.stop()
}
void main()
`

test('a library may export functions around procedures, with the types of each', async () => {
  await writeFile(join(empty, 'library.ts'), libraryProgram)
  const strict = ['--strict', '--exactOptionalPropertyTypes', '--target', 'es2022', '--skipLibCheck', 'false']
  const flags = [...strict, '--declaration', '--outDir', 'library', '--module', 'nodenext']
  await run(tsc, [...flags, 'library.ts'], empty)
  expect(await readFile(join(empty, 'library/library.d.ts'), 'utf8')).toContain(
    'greet: import("@pawl/core").Procedure<string, number',
  )
})

test('npx pawl runs procedures in TypeScript, by tsx before Node 22.18 and by Node itself since', async () => {
  await writeFile(join(empty, 'procedures.ts'), procedures)
  const pawl = (...args: readonly string[]) => run('npx', ['--offline', 'pawl', ...args], empty)
  expect(await pawl('run', 'add', '--id', 'a:1')).toBe('  2\n')
  expect(await pawl('ls')).toMatch(/^completed\ta:1\tadd v1\t/)
  expect(await pawl('doctor')).toContain('add v1')
})

test('npx pawl needs no tsx where Node loads TypeScript by itself, and asks for it elsewhere', async () => {
  await writeFile(join(empty, 'procedures.ts'), procedures)
  const installed = join(empty, 'node_modules/tsx')
  await rename(installed, join(empty, 'tsx'))
  try {
    const ran = run('npx', ['--offline', 'pawl', 'run', 'add', '--id', 'a:2'], empty)
    if (loadsTypeScript) expect(await ran).toBe('  2\n')
    else await expect(ran).rejects.toThrow(/tsx/)
  } finally {
    await rename(join(empty, 'tsx'), installed)
  }
})

test('without better-sqlite3, the error offers the driver of Node, which works where Node has it', async () => {
  const installed = join(empty, 'node_modules/better-sqlite3')
  await rename(installed, join(empty, 'better-sqlite3'))
  const list = (options: string) => `
    import { createClient } from '@pawl/core'
    import { sqlite } from '@pawl/storage-sqlite'
    const client = createClient({ store: sqlite('other.db'${options}) })
    console.log(await client.list().then(({ items }) => items.length, (error) => error.message))
    await client.stop()`
  const start = (options: string) =>
    run(process.execPath, ['--input-type=module', '--eval', list(options)], empty)
  expect(await start('')).toMatch(
    /better-sqlite3 is not installed(.|\n)*`sqlite\(file, { driver: 'node' }\)`/,
  )
  const hasNodeSqlite = process.getBuiltinModule('node:sqlite') !== undefined
  expect(await start(", { driver: 'node' }")).toMatch(
    hasNodeSqlite ? /^0\n$/ : /which Node [\d.]+ does not have/,
  )
  await rename(join(empty, 'better-sqlite3'), installed)
})

const procedures = `
import { procedure } from '@pawl/core'

export const add = procedure({ name: 'add' }, (ctx) => ctx.step('add', (): number => 1 + 1))
`

const libraryProgram = `
import { type Ctx, procedure } from '@pawl/core'
import { testEngine } from '@pawl/testing'
import { z } from 'zod'

export const taking = <I extends z.ZodType>(input: I) => procedure({ name: 'a', input }, async (_, given) => given)
export const hearing = <S extends z.ZodType>(s: S) =>
  procedure({ name: 'b', signals: { s } }, async (ctx) => ctx.receive('s'))
export const picking = <const C extends readonly string[]>(ctx: Ctx, choices: C) => ctx.human.select('?', choices)
export const greet = procedure({ name: 'c', input: z.string() }, async (_, name) => name.length)
export const tested = async () => {
  const engine = await testEngine({ procedures: [greet] })
  // @ts-expect-error: it has a type of its own
  engine.thereIsNoSuchThing()
  await using also = await testEngine({ procedures: [greet] })
  return also.calls
}
`

/** Prints the path of each module as it is loaded. */
const nameLoaded = toDataUrl(`
  import { register } from 'node:module'
  register(${JSON.stringify(
    toDataUrl(`
      import { writeSync } from 'node:fs'
      export async function load(url, context, next) {
        writeSync(1, url + '\\n')
        return next(url, context)
      }`),
  )})`)

const watchedProgram = `
  import { createEngine, procedure } from '@pawl/core'
  import { sqlite } from '@pawl/storage-sqlite'

  const asking = procedure({ name: 'asking' }, async (ctx) => (await ctx.human.approve('Go on?')).approved)
  const engine = await createEngine({ store: sqlite('watched.db'), procedures: [asking] })
  const step = process.argv[2]
  if (step === 'begin') {
    await engine.run(asking, undefined, { id: 'one' })
    await engine.inbox.next({ run: 'one' })
  }
  if (step === 'go on') {
    await engine.inbox.answer('one/0', { approved: true }, { as: 'user:ana' })
    console.log('gone on with ' + (await engine.get(asking, 'one').result()))
  }
  if (step === 'list') console.log((await engine.list({ status: 'completed' })).items.length + ' completed')
  await engine.stop()
`

function toDataUrl(program: string): string {
  return `data:text/javascript,${encodeURIComponent(program)}`
}

/** Writes one tarball a package into `folder`/tarballs, as it is published. */
async function packInto(folder: string): Promise<void> {
  const tarballs = join(folder, 'tarballs')
  const staged = [...folders, inbox].map((one) => join(folder, 'staged', basename(one)))
  for (const target of staged) await stage(root, target)
  await mkdir(tarballs)
  await run(
    'npm',
    ['pack', '--silent', '--ignore-scripts', '--pack-destination', tarballs, ...staged],
    folder,
  )
}

/**
 * Installs the tarballs as a user would, with their optional peers. What they depend on is linked to the copies of this workspace:
 * no network is needed, and no database driver is compiled again.
 */
async function installIn(folder: string): Promise<void> {
  const tarballs = readdirSync(join(folder, 'tarballs')).map((file) => `file:tarballs/${file}`)
  const linked = folders
    .flatMap((folder, index) => {
      const { dependencies, peerDependencies } = manifests[index] as Manifest
      return Object.keys({ ...dependencies, ...peerDependencies }).map((name) => [folder, name] as const)
    })
    .filter(([, name]) => !name.startsWith('@pawl/'))
    // Most users have these: TypeScript for Node needs the first, schemas the second.
    .concat([
      [root, '@types/node'],
      [root, 'tsx'],
      [root, 'zod'],
    ])
    .map(([folder, name]) => `file:${findModule(folder, name)}`)
  await writeFile(join(folder, 'package.json'), JSON.stringify({ private: true, type: 'module' }))
  const flags = ['--offline', '--ignore-scripts', '--no-audit', '--no-fund']
  await run('npm', ['install', ...flags, ...tarballs, ...linked], folder)
}

/** A package may have a version of its own beside that of the workspace. */
function findModule(folder: string, name: string): string {
  const own = join(folder, 'node_modules', name)
  return existsSync(own) ? own : join(root, 'node_modules', name)
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
