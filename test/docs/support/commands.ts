import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { root } from './pages.ts'

/** The commands of a block of `sh`, without comments and the words around them. */
export function commandsOf(block: string): readonly string[] {
  return block
    .split('\n')
    .flatMap((line) => line.replace(/(^|\s)#.*/, '').split(/&&|;/))
    .map((command) => command.trim().replace(/^((while|until|do|!)\s+)+/, ''))
    .filter((command) => !['', 'done'].includes(command))
}

/** Whether a page may tell people to type this: a known program, with files that exist or that the page itself defines. */
export function isCommand(command: string, ownFiles: readonly string[] = []): boolean {
  const [program = '', ...words] = command.replace(/^([A-Z_]+=\S+ )+/, '').split(/\s+/)
  const files = words.filter((word) => /^[\w.-]+\/\S+$|\.(ts|mjs|md)$/.test(word))
  if (!files.every((file) => ownFiles.includes(file) || existsSync(join(root, file)))) return false
  if (program === 'npm') return isNpmCommand(words)
  if (program === 'npx') return existsSync(join(root, 'node_modules/.bin', words[0] ?? ''))
  return ['node', 'git', 'echo'].includes(program)
}

interface Manifest {
  readonly scripts: Readonly<Record<string, string>>
}
const { scripts } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')) as Manifest

function isNpmCommand([verb = '', script = '']: readonly string[]): boolean {
  return verb === 'run' ? Object.hasOwn(scripts, script) : ['ci', 'test'].includes(verb)
}
