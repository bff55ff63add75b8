import { describe, expect, it, test } from 'vitest'
import { isTooNew, noBinary, notInstalled } from '../../src/connection/better-sqlite.ts'
import { judgeFileSystem, readFileSystem } from '../../src/connection/file-system.ts'
import { loadNodeSqlite } from '../../src/connection/node-sqlite.ts'
import { isTrustedVersion } from '../../src/connection/sqlite-version.ts'
import { explainFault } from '../../src/faults.ts'
import { tempFile } from '../support/stores.ts'

describe('versions of SQLite', () => {
  it.each([
    '3.7.0',
    '3.40.1',
    '3.44.5',
    '3.45.0',
    '3.49.1',
    '3.50.0',
    '3.50.6',
    '3.51.0',
    '3.51.2',
    '3.52.0',
  ])('%s is refused: it can corrupt what several processes write', (version) =>
    expect(isTrustedVersion(version)).toBe(false),
  )

  it.each(['3.44.6', '3.44.9', '3.50.7', '3.51.3', '3.52.1', '3.53.0', '3.53.2', '3.60.10', '4.0.0'])(
    '%s is trusted',
    (version) => expect(isTrustedVersion(version)).toBe(true),
  )
})

test.each([
  ['20.19.0', true],
  ['22.13.1', true],
  ['22.14.0', false],
  ['24.0.0', false],
])('better-sqlite3 13 is not loaded by Node %s: %s', (node, isRefused) => {
  expect(isTooNew({ explain: () => [] }, node)).toBe(isRefused)
  expect(isTooNew({}, node)).toBe(false)
})

test.each([
  [{ node: '22.14.0' }, 'that Node 22.14.0 can load', 'npm rebuild better-sqlite3'],
  [{ node: '26.3.0', bun: '1.4.5' }, 'that Bun 1.4.5 can load', 'Install version 13'],
  [{ node: '24.2.0', deno: '2.5.0' }, 'that Deno 2.5.0 can load', 'Install version 13'],
])('a driver without a binary for %o is told of with what helps there', (versions, what, remedy) => {
  const { message } = noBinary(new Error('…'), versions as NodeJS.ProcessVersions)
  expect(message).toContain(what)
  expect(message).toContain(remedy)
})

describe('without better-sqlite3', () => {
  it.each([notInstalled, noBinary])('%o offers the driver of Node by name', (describeError) => {
    const { message } = describeError(new Error('…'))
    expect(message).toContain("`sqlite(file, { driver: 'node' })`")
  })

  it.each([notInstalled, noBinary])(
    '%o says which Node has a driver if this one has none',
    (describeError) => {
      const versions = { ...process.versions, node: '22.14.0', sqlite: '3.47.2' }
      const { message } = describeError(new Error('…'), versions)
      expect(message).toContain('Or use Node 22.23, 24.21 or later')
      expect(message).toContain('Node 22.14.0 does not have it')
    },
  )

  it('the driver of Node is refused without node:sqlite, with the remedy', () => {
    const versions = (others: object) => ({ node: '20.20.2', ...others }) as NodeJS.ProcessVersions
    const missing = () => undefined
    expect(() => loadNodeSqlite(versions({}), missing)).toThrow(
      /which Node 20.20.2 does not have.*omit `driver`/s,
    )
    expect(() => loadNodeSqlite(versions({ bun: '1.4.5' }), missing)).toThrow('which Bun 1.4.5 does not have')
  })
})

test.each([
  [13, 'The disk of a.db is full'],
  [4874, 'has no space for the -shm'],
  [1034, 'The disk of a.db failed'],
  [26, 'is not a SQLite database'],
  [1032, 'a.db is not writable'],
])('result code %d of node:sqlite is explained: %s', (errcode, what) => {
  const error = Object.assign(new Error('…'), { code: 'ERR_SQLITE_ERROR', errcode })
  expect((explainFault(error, 'a.db') as Error).message).toContain(what)
})

test('a -shm without space is reported as a full disk', () => {
  const error = Object.assign(new Error('disk I/O error'), { code: 'SQLITE_IOERR_SHMSIZE' })
  const explained = explainFault(error, 'a.db') as Error
  expect(explained.message).toContain('The disk of a.db has no space')
  expect(explained.message).toContain('Free some space')
  expect(explained.message).not.toContain('started')
})

describe('file systems', () => {
  it.each([
    [0x6969, 'NFS'],
    [0xff534d42, 'CIFS'],
    [0xfe534d42 - 2 ** 32, 'SMB 2'],
    [0x01021997, '9p'],
  ])('%d is refused: several machines can share it', (type, name) => {
    expect(judgeFileSystem(type)).toEqual({ verdict: 'unfit', name })
  })

  it('overlay is used with a warning: it is deleted with its container', () => {
    expect(judgeFileSystem(0x794c7630)).toEqual({ verdict: 'fleeting', name: 'overlay' })
  })

  it.each([0xef53, 0x58465342, 0x9123683e, 0x01021994])(
    '%d (ext4, XFS, btrfs, tmpfs) is accepted',
    (type) => {
      expect(judgeFileSystem(type)).toEqual({ verdict: 'fit' })
    },
  )

  it('the file system of a file that does not exist yet is read', async () => {
    expect((await readFileSystem(tempFile())).verdict).not.toBe('unfit')
  })
})
