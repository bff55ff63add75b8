import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { cases, isNamed } from '../../../bench/cases.ts'
import { proseOf, root } from './pages.ts'

/** The commands of a block of `sh`, without comments and the words around them. */
export function commandsOf(block: string): readonly string[] {
  return block
    .split('\n')
    .flatMap((line) => line.replace(/(^|\s)#.*/, '').split(/&&|;/))
    .map((command) => command.trim().replace(/^((while|until|do|!)\s+)+/, ''))
    .filter((command) => !['', 'done'].includes(command))
}

/** The commands in the sentences and tables of a page, such as those that repeat a measurement; not those with a gap to be filled in. */
export function commandsIn(text: string): readonly string[] {
  return [...proseOf(text).matchAll(/`((?:[A-Z_]+=\S+ )*(?:npm|npx|node) [^`]+)`/g)]
    .flatMap(([, command = '']) => commandsOf(command.replaceAll('\n', ' ')))
    .filter((command) => !/…|</.test(command))
}

/** Whether a page may tell people to type this: a known program, with files that exist or that the page itself defines. */
export function isCommand(command: string, ownFiles: readonly string[] = []): boolean {
  const [program = '', ...words] = command.replace(/^([A-Z_]+=\S+ )+/, '').split(/\s+/)
  // A test runs these with the servers they are for.
  if (program === 'curl') return true
  const files = words.filter((word) => /^(?!@)[\w.-]+\/\S+$|\.(ts|mjs|md)$/.test(word))
  if (!files.every((file) => ownFiles.includes(file) || existsSync(join(root, file)))) return false
  if (program === 'npm') return isNpmCommand(words) && (words[1] !== 'bench' || namesBenchmarks(command))
  if (program === 'npx') return isBinary(words[0] ?? '')
  return ['node', 'git', 'echo'].includes(program)
}

interface Manifest {
  readonly scripts: Readonly<Record<string, string>>
  readonly bin?: Readonly<Record<string, string>>
}
const { scripts } = readManifest('.')
const ownBinaries = readdirSync(join(root, 'packages'))
  .map((name) => `packages/${name}`)
  .filter((folder) => existsSync(join(root, folder, 'package.json')))
  .flatMap((folder) => Object.keys(readManifest(folder).bin ?? {}))

function readManifest(folder: string): Manifest {
  return JSON.parse(readFileSync(join(root, folder, 'package.json'), 'utf8')) as Manifest
}

function isBinary(name: string): boolean {
  return ownBinaries.includes(name) || existsSync(join(root, 'node_modules/.bin', name))
}

const benchmarks = [
  ...cases.map(({ name }) => name),
  ...readdirSync(join(root, 'bench'))
    .filter((file) => file.endsWith('.bench.ts'))
    .map((file) => file.slice(0, -'.bench.ts'.length)),
]

/** Whether each case that the command names is there. */
function namesBenchmarks(command: string): boolean {
  const [, given = ''] = command.split(' -- ')
  const named = given.replaceAll(/--(peers|against|rounds|store) \S+|--\w+/g, '').match(/"[^"]+"|\S+/g) ?? []
  return named.every((name) => benchmarks.some((one) => isNamed(one, [name.replaceAll('"', '')])))
}

function isNpmCommand([verb = '', script = '', ...more]: readonly string[]): boolean {
  if (verb === 'install')
    return [script, ...more].every(
      (word) => /^--save/.test(word) || existsSync(join(root, 'node_modules', word)),
    )
  return verb === 'run' ? Object.hasOwn(scripts, script) : ['ci', 'test'].includes(verb)
}
