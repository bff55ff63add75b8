import { execFileSync } from 'node:child_process'
import {
  cpSync,
  existsSync,
  mkdirSync,
  readdirSync,
  renameSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath, pathToFileURL } from 'node:url'
import { startActor } from '../actor.ts'
import { check } from '../base/check.ts'

/**
 * The packages of one commit, built, and the bench of this one beside them. All builds have the same layout and
 * find what npm installed in the folders above.
 */
export interface Build {
  readonly folder: string
  /** The program of its actors. */
  readonly program: URL
}

/** The two sides of a comparison and the control. A difference between two copies of one build is noise. */
export interface Builds {
  readonly commit: string
  readonly subject: string
  readonly sides: { readonly [side in Side]: Build }
  remove(): void
}

export const sides = ['before', 'now', 'control'] as const
export type Side = (typeof sides)[number]

/** Packages that the bench loads. */
const packages = ['core', 'storage-sqlite', 'storage-postgres']
// From bench/dist/bench/against.
const root: string = fileURLToPath(new URL('../../../../', import.meta.url))
const cache: string = join(root, '.cache', 'bench')

/** Builds the packages of a commit unless they are in .cache/bench, and copies those of the working tree twice. */
export function makeBuilds(revision: string): Builds {
  const commit = git('rev-parse', '--verify', '--end-of-options', `${revision}^{commit}`).trim()
  mkdirSync(cache, { recursive: true })
  removeLeftovers()
  const before = join(cache, commit)
  if (!existsSync(before)) buildCommit(commit, before)
  const copies = ['now', 'control'].map((name) => join(cache, `${name}-${process.pid}`))
  for (const copy of copies) copyPackages(copy)
  for (const folder of [before, ...copies]) copyBench(folder)
  const buildIn = (folder = ''): Build => ({
    folder,
    program: pathToFileURL(join(folder, 'bench/dist/bench/programs/actor.js')),
  })
  return {
    commit,
    subject: git('log', '-1', '--format=%h %s', commit).trim(),
    sides: { before: buildIn(before), now: buildIn(copies[0]), control: buildIn(copies[1]) },
    remove: () => {
      for (const copy of copies) rmSync(copy, { recursive: true, force: true })
    },
  }
}

/** Throws unless the processes of each build load the engine of that build. */
export async function checkBuilds(builds: Pick<Builds, 'sides'>): Promise<void> {
  for (const side of sides) {
    const { folder, program } = builds.sides[side]
    const found = (await startActor('find engine', null, program).result()) as readonly string[]
    const expected = packages.map(
      (name) => pathToFileURL(join(folder, 'packages', name, 'dist/index.js')).href,
    )
    check(`the engine of "${side}"`, found, expected)
  }
}

/** Says so if the dependencies differ: both sides are measured with those that are installed now. */
export function tellDependencies(commit: string): string | null {
  const changed = git('diff', '--name-only', commit, '--', 'package-lock.json').trim()
  return changed === ''
    ? null
    : 'package-lock.json differs between the two: both are measured with what is installed now.'
}

function buildCommit(commit: string, folder: string): void {
  const draft = `${folder}.new-${process.pid}`
  rmSync(draft, { recursive: true, force: true })
  mkdirSync(draft)
  const archive = execFileSync('git', ['archive', '--format=tar', commit, 'packages', 'tsconfig.base.json'], {
    cwd: root,
    maxBuffer: 2 ** 30,
  })
  execFileSync('tar', ['-xf', '-', '-C', draft], { input: archive })
  linkPackages(draft)
  const compiler = join(root, 'node_modules/typescript/bin/tsc')
  const projects = packages
    .map((name) => join('packages', name))
    .filter((path) => existsSync(join(draft, path)))
  execFileSync(process.execPath, [compiler, '-b', ...projects], { cwd: draft, stdio: 'inherit' })
  renameSync(draft, folder)
}

/** Copies the current build, because work may continue while it is measured. */
function copyPackages(folder: string): void {
  for (const name of packages) {
    for (const part of ['package.json', 'dist'])
      cpSync(join(root, 'packages', name, part), join(folder, 'packages', name, part), { recursive: true })
  }
  linkPackages(folder)
}

/** Replaces the bench of an earlier comparison: the bench of this commit measures all sides. */
function copyBench(folder: string): void {
  const bench = join(folder, 'bench/dist')
  rmSync(bench, { recursive: true, force: true })
  cpSync(join(root, 'bench/dist'), bench, { recursive: true })
}

/** Links the packages to each other instead of to those of the working tree. */
function linkPackages(folder: string): void {
  writeFileSync(join(folder, 'package.json'), '{ "private": true, "type": "module" }\n')
  mkdirSync(join(folder, 'node_modules/@pawl'), { recursive: true })
  for (const name of packages)
    symlinkSync(join('../../packages', name), join(folder, 'node_modules/@pawl', name), 'junction')
}

/** Removes copies of killed processes. */
function removeLeftovers(): void {
  for (const name of readdirSync(cache)) {
    const id = /-(\d+)$/.exec(name)?.[1]
    if (id !== undefined && !isAlive(Number(id))) rmSync(join(cache, name), { recursive: true, force: true })
  }
}

function isAlive(id: number): boolean {
  try {
    return process.kill(id, 0)
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'EPERM'
  }
}

function git(...args: readonly string[]): string {
  return execFileSync('git', args, { cwd: root, encoding: 'utf8' })
}
