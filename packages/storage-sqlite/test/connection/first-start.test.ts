import { mkdirSync, readdirSync, rmSync, utimesSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { nameAside, removeLeftovers } from '../../src/connection/aside.ts'
import { startProgram } from '../support/programs.ts'
import { openStore, tempFile } from '../support/stores.ts'

// Only Linux tells whether a process is gone; elsewhere files are judged by their age.
const knows = process.platform === 'linux'

const points = ['in make', 'before link', 'after link', 'after copy']
const listAside = (file: string): readonly string[] =>
  readdirSync(dirname(file))
    .filter((name) => name.includes('.new'))
    .sort()

/** Files are a moment old, unless it is said in hours. */
function put(file: string, name: string, hours = 0): void {
  const path = join(dirname(file), name)
  writeFileSync(path, name)
  const at = Date.now() / 1_000 - hours * 3_600
  utimesSync(path, at, at)
}

describe.runIf(knows)('a first start that is killed', () => {
  it.each(points)(
    'a first start that is killed %s leaves nothing once another process has opened the store',
    async (point) => {
      const file = tempFile()
      const program = await startProgram('first-start', [file, point, 'SIGKILL'])
      expect(await program.end()).toBe('SIGKILL')
      expect(listAside(file).length).toBeGreaterThan(0)
      const store = await openStore(file)
      expect(listAside(file)).toEqual([])
      await store.workers.register({ name: 'w', leaseMs: 1_000 })
    },
  )
})

describe.runIf(knows)('a first start that stands still', () => {
  it.each(points)(
    '%s keeps its files while other processes start, and then opens the store',
    async (point) => {
      const file = tempFile()
      const program = await startProgram('first-start', [file, point, 'SIGSTOP'])
      expect(await program.line()).toBe('there')
      const before = listAside(file)
      expect(before.length).toBeGreaterThan(0)
      await Promise.all([openStore(file), openStore(file)])
      const killed = await startProgram('first-start', [file, 'none', 'SIGKILL'])
      expect(await killed.end()).toBe(0)
      expect(listAside(file)).toEqual(before)
      program.signal('SIGCONT')
      expect(await program.line()).toBe('open')
      expect(await program.end()).toBe(0)
      expect(listAside(file)).toEqual([])
    },
  )

  it('a first start that was suspended opens the store although its files were removed', async () => {
    const file = tempFile()
    const program = await startProgram('first-start', [file, 'before link', 'SIGSTOP'])
    expect(await program.line()).toBe('there')
    await openStore(file)
    for (const name of listAside(file)) rmSync(join(dirname(file), name))
    program.signal('SIGCONT')
    expect(await program.line()).toBe('open')
    expect(await program.end()).toBe(0)
  })
})

describe('files of processes that cannot be looked up', () => {
  const uuid = '0b8e1c9a-4a0a-4d5c-9f54-1d2f3a4b5c6d'

  it('files of processes that cannot be looked up are removed after a day', async () => {
    const file = tempFile()
    const names = [
      'pawl.db.unknown.0123abcd.new',
      'pawl.db.unknown.0123abcd.new-wal',
      'pawl.db.7-7-0123456789ab.0123abcd.new-shm',
      `pawl.db.${uuid}.new`,
      `pawl.db.${uuid}.new-journal`,
    ]
    for (const name of names) put(file, name, 25)
    await openStore(file)
    expect(listAside(file)).toEqual([])
  })

  it('files of processes that cannot be looked up stay for a day', async () => {
    const file = tempFile()
    const names = ['pawl.db.7-7-0123456789ab.0123abcd.new', `pawl.db.${uuid}.new`]
    for (const name of names) put(file, name, 23)
    await openStore(file)
    expect(listAside(file)).toEqual(names.toSorted())
  })

  it('temporary files are distinguished from other files', async () => {
    const file = tempFile()
    const names = [
      'other.db.unknown.0123abcd.new',
      'pawl.db.unknown.0123abcd.new.bak',
      'pawl.db.copy.new',
      'pawl.db.unknown.new',
      'pawl.dbx.unknown.0123abcd.new',
      `x.pawl.db.${uuid}.new`,
    ]
    for (const name of names) put(file, name, 1_000)
    await openStore(file)
    expect(listAside(file)).toEqual(names.toSorted())
  })
})

it('a process keeps its own temporary files, however old', async () => {
  const file = tempFile()
  const aside = nameAside(file)
  put(file, aside.slice(dirname(file).length + 1), knows ? 1_000 : 1)
  await removeLeftovers(file)
  expect(listAside(file)).toHaveLength(1)
})

it('a store opens beside leftovers that it cannot remove', async () => {
  const file = tempFile()
  const path = join(dirname(file), 'pawl.db.7-7-0123456789ab.0123abcd.new')
  mkdirSync(path)
  utimesSync(path, 0, 0)
  expect(await (await openStore(file)).runs.find('a')).toBeNull()
})
