import { execFile } from 'node:child_process'
import {
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'

// What a newcomer declares, the compiler asks for wherever it has to be built. Each case changes a copy of the
// sources, and lists the files in which `tsc` then fails.

const root = new URL('..', import.meta.url).pathname
const packages = [
  'core',
  'testing',
  'storage-sqlite',
  'storage-postgres',
  'server',
  'channels',
  'slack',
  'cli',
]
let copy: string

beforeAll(() => {
  copy = mkdtempSync(join(tmpdir(), 'pawl-compiler-'))
  for (const name of packages)
    for (const part of ['src', 'package.json'])
      cpSync(join(root, 'packages', name, part), join(copy, 'packages', name, part), { recursive: true })
  for (const name of ['tsconfig.base.json', 'tsconfig.test.json']) cpSync(join(root, name), join(copy, name))
  const config = { extends: './tsconfig.test.json', include: ['packages/*/src'] }
  writeFileSync(join(copy, 'tsconfig.json'), JSON.stringify(config))
  // The libraries as they are; the packages of the copy by their names.
  mkdirSync(join(copy, 'node_modules/@pawl'), { recursive: true })
  for (const name of readdirSync(join(root, 'node_modules')))
    if (name !== '@pawl' && !name.startsWith('.'))
      symlinkSync(join(root, 'node_modules', name), join(copy, 'node_modules', name))
  for (const name of packages) {
    symlinkSync(join(copy, 'packages', name), join(copy, 'node_modules/@pawl', name))
    const own = join(root, 'packages', name, 'node_modules')
    if (existsSync(own)) symlinkSync(own, join(copy, 'packages', name, 'node_modules'))
  }
})
afterAll(() => rmSync(copy, { recursive: true, force: true }))

/**
 * The files in which the compiler finds faults, relative to `packages`. Of what it has found in the copy as it is, only
 * what a change touches is checked again.
 */
function compile(): Promise<readonly string[]> {
  const known = join(copy, 'known.tsbuildinfo')
  const found = join(copy, 'found.tsbuildinfo')
  if (existsSync(known)) cpSync(known, found)
  const options = ['-p', copy, '--incremental', '--tsBuildInfoFile', found]
  return new Promise((resolve) => {
    execFile(join(root, 'node_modules/.bin/tsc'), options, { cwd: copy }, (_, stdout) => {
      if (!existsSync(known)) cpSync(found, known)
      const files = [...stdout.matchAll(/^packages\/(\S+?)\(\d+,\d+\): error/gm)].map(
        ([, file]) => file as string,
      )
      resolve([...new Set(files)].sort())
    })
  })
}

async function compileWith(file: string, from: string, to: string): Promise<readonly string[]> {
  const path = join(copy, 'packages', file)
  const before = readFileSync(path, 'utf8')
  expect(before).toContain(from)
  writeFileSync(path, before.replace(from, to))
  try {
    return await compile()
  } finally {
    writeFileSync(path, before)
  }
}

test('the copy compiles as it is', async () => {
  expect(await compile()).toEqual([])
})

test('a new method of Client is asked for by the client and by the test engine', async () => {
  const head = 'export interface Client {\n'
  expect(
    await compileWith('core/src/client/types.ts', head, `${head}  rename(id: string): Promise<void>\n`),
  ).toEqual(['core/src/client/client.ts', 'testing/src/test-engine.ts'])
})

test('a new method of Inbox is asked for by the inbox and by the test engine', async () => {
  const head = 'export interface Inbox {\n'
  expect(
    await compileWith('core/src/client/types.ts', head, `${head}  delegate(ask: string): Promise<void>\n`),
  ).toEqual(['core/src/client/inbox/inbox.ts', 'testing/src/test-engine.ts'])
})

test('a new method of Ctx is asked for by the context', async () => {
  const member = '  readonly runId: string\n'
  expect(
    await compileWith('core/src/authoring/ctx.ts', member, `${member}  wave(hand: string): void\n`),
  ).toEqual(['core/src/authoring/context.ts'])
})

test('a new method of a concern is asked for by each store', async () => {
  const head = 'export interface StateStore {\n'
  expect(
    await compileWith(
      'core/src/ports/store/states.ts',
      head,
      `${head}  forget(name: string): Promise<void>\n`,
    ),
  ).toEqual([
    'storage-postgres/src/concerns/states.ts',
    'storage-sqlite/src/concerns/states.ts',
    'testing/src/memory/concerns/states.ts',
  ])
})

test('a new concern that a store may lack is asked for by each store that lacks none, and by the texts of errors', async () => {
  const head = 'export interface OptionalConcerns {\n'
  expect(
    await compileWith('core/src/ports/store/store.ts', head, `${head}  readonly votes: FeedStore\n`),
  ).toEqual(
    expect.arrayContaining([
      'core/src/ports/concerns.ts',
      'storage-postgres/src/store.ts',
      'storage-sqlite/src/store.ts',
      'testing/src/memory/store.ts',
    ]),
  )
})

test('a new option is asked for where the options are checked', async () => {
  const head = 'export interface StopOptions {\n'
  expect(
    await compileWith('core/src/client/types.ts', head, `${head}  readonly quietly?: boolean\n`),
  ).toEqual(['core/src/client/options.ts'])
})

test('a new kind of operation is asked for by the operations, the activities and the views', async () => {
  expect(
    await compileWith(
      'core/src/events/event.ts',
      "  'checkpoint',\n]",
      "  'checkpoint',\n  'transaction',\n]",
    ),
  ).toEqual(
    expect.arrayContaining([
      'core/src/authoring/operations.ts',
      'core/src/client/views/operation-views.ts',
      'core/src/runs/cut.ts',
      'core/src/runs/preview.ts',
      'core/src/worker/activities/registry.ts',
      'testing/src/explore/outcomes/registry.ts',
    ]),
  )
})

test('a new kind of ask is asked for by the check of answers and by the command line', async () => {
  expect(
    await compileWith(
      'core/src/base/words.ts',
      "'escalate', 'decide'] as const",
      "'escalate', 'decide', 'vote'] as const",
    ),
  ).toEqual([
    'cli/src/answers/prompt.ts',
    'cli/src/answers/read-answer.ts',
    'cli/src/commands/answer.ts',
    'core/src/asks/answer-check.ts',
    'core/src/asks/decisions.ts',
    'core/src/client/checkpoints/resume.ts',
    'testing/src/explore/outcomes/asks.ts',
  ])
})

test('a new role is asked for by the server and by the command line', async () => {
  expect(
    await compileWith(
      'server/src/auth/roles.ts',
      "'operate', 'admin'] as const",
      "'operate', 'admin', 'approve'] as const",
    ),
  ).toEqual(['cli/src/roles.ts', 'server/src/auth/roles.ts'])
})

test('a new effect of a unit is asked for by every store', async () => {
  const head = 'export type Effect =\n'
  expect(
    await compileWith(
      'core/src/ports/store/log.ts',
      head,
      `${head}  | { readonly do: 'show-state'; readonly name: string }\n`,
    ),
  ).toEqual([
    'core/src/ports/store/payload-bytes.ts',
    'core/src/worker/run/written.ts',
    'storage-postgres/src/concerns/log.ts',
    'storage-postgres/src/writes/commit-statements.ts',
    'storage-postgres/src/writes/wide-effects.ts',
    'storage-sqlite/src/writes/commit.ts',
    'testing/src/memory/writes/commit.ts',
  ])
})

/** Of the files, those of the three stores. */
function ofStores(files: readonly string[]): readonly string[] {
  return files.filter((file) => file.startsWith('storage-') || file.startsWith('testing/src/memory'))
}

test('a new field of a run is asked for where each store writes it and reads it', async () => {
  const head = 'export interface NewRun {\n'
  const files = await compileWith(
    'core/src/ports/store/runs.ts',
    head,
    `${head}  readonly queue: string | null\n`,
  )
  expect(ofStores(files)).toEqual([
    'storage-postgres/src/reads/runs.ts',
    'storage-postgres/src/writes/rows.ts',
    'storage-sqlite/src/reads/runs.ts',
    'storage-sqlite/src/writes/rows.ts',
    'testing/src/memory/reads/runs.ts',
    'testing/src/memory/writes/create.ts',
  ])
})

// The memory store shows all of its record of an ask, so nothing is asked of its reads.
test('a new field of an ask is asked for where each store writes it and reads it', async () => {
  const head = 'export interface NewAsk {\n'
  const files = await compileWith('core/src/ports/store/asks.ts', head, `${head}  readonly votes: number\n`)
  expect(ofStores(files)).toEqual([
    'storage-postgres/src/reads/asks.ts',
    'storage-postgres/src/writes/rows.ts',
    'storage-sqlite/src/reads/asks.ts',
    'storage-sqlite/src/writes/rows.ts',
    'testing/src/memory/writes/commit.ts',
  ])
})

test('a new field of an answer is asked for where each store writes it and reads it', async () => {
  const head = 'export interface NewAnswer {\n'
  const files = await compileWith(
    'core/src/ports/store/asks.ts',
    head,
    `${head}  readonly via: string | null\n`,
  )
  expect(ofStores(files)).toEqual([
    'storage-postgres/src/reads/asks.ts',
    'storage-postgres/src/writes/rows.ts',
    'storage-sqlite/src/reads/asks.ts',
    'storage-sqlite/src/writes/rows.ts',
    'testing/src/memory/writes/answer.ts',
    'testing/src/memory/writes/commit.ts',
  ])
})

test('a new field of a message is asked for where each store writes it and reads it', async () => {
  const head = 'export interface NewMessage {\n'
  const files = await compileWith('core/src/ports/store/mail.ts', head, `${head}  readonly weight: number\n`)
  expect(ofStores(files)).toEqual(
    expect.arrayContaining([
      'storage-postgres/src/reads/extract.ts',
      'storage-postgres/src/reads/mail.ts',
      'storage-postgres/src/writes/rows.ts',
      'storage-postgres/src/writes/send.ts',
      'storage-sqlite/src/reads/extract.ts',
      'storage-sqlite/src/reads/mail.ts',
      'storage-sqlite/src/writes/rows.ts',
      'storage-sqlite/src/writes/send.ts',
      'testing/src/memory/reads/mail.ts',
      'testing/src/memory/writes/send.ts',
    ]),
  )
})

test('a new field of a unit is asked for where each store writes it', async () => {
  const head = 'export interface Unit {\n'
  const files = await compileWith(
    'core/src/ports/store/log.ts',
    head,
    `${head}  readonly by: string | null\n`,
  )
  expect(ofStores(files)).toEqual(
    expect.arrayContaining([
      'storage-postgres/src/writes/commit-single.ts',
      'storage-postgres/src/writes/rows.ts',
      'storage-sqlite/src/writes/commit.ts',
      'testing/src/memory/writes/commit.ts',
    ]),
  )
})
