import { existsSync, readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { dirname, extname, join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { usageError } from '../door/problem.ts'

/**
 * Imports a module of the user. TypeScript is loaded by Node itself from 22.18, and before by the `tsx` of the user's project.
 * @throws CommandError with status 2 if it cannot be loaded
 */
export async function loadModule(file: string): Promise<object> {
  if (!existsSync(file)) throw usageError(`There is no file ${file}.`)
  try {
    const isTypeScript = ['.ts', '.mts'].includes(extname(file))
    return isTypeScript && !nodeLoadsTypeScript()
      ? await loadByTsx(file)
      : await import(pathToFileURL(file).href)
  } catch (error) {
    const { message, code } = error as Error & { readonly code?: string }
    if (code === 'no-tsx') throw usageError(message)
    throw usageError(`${file} cannot be loaded: ${message}`)
  }
}

/** True from Node 22.18 and 23.6 on, which need no flag. */
function nodeLoadsTypeScript(): boolean {
  return Boolean((process.features as { readonly typescript?: string | false }).typescript)
}

/** Registered for the whole process, as `node --import tsx` does: imported by `tsImport`, CommonJS has its whole source for a name. */
async function loadByTsx(file: string): Promise<object> {
  const tsx = findTsx(file)
  if (!registered.has(tsx.folder)) {
    registered.add(tsx.folder)
    for (const half of ['./cjs/api', './esm/api'] as const) {
      const { register } = (await import(tsx.urlOf(half))) as { register(): unknown }
      register()
    }
  }
  return exportsOf((await import(pathToFileURL(file).href)) as object)
}

/** Node may see only `default` of a CommonJS module, which then holds all exports. */
function exportsOf(module: object): object {
  const { default: whole } = module as { readonly default?: { readonly __esModule?: boolean } | null }
  return whole?.__esModule === true ? whole : module
}

const registered = new Set<string>()

/** The tsx nearest to the file. `require` would find its CommonJS half, which loads modules in another way. */
function findTsx(file: string): {
  readonly folder: string
  urlOf(half: keyof TsxManifest['exports']): string
} {
  let manifest: string
  try {
    manifest = createRequire(join(dirname(file), 'noop.js')).resolve('tsx/package.json')
  } catch {
    throw Object.assign(
      new Error(
        `${file} is TypeScript, which Node ${process.versions.node} cannot load. Run \`npm install --save-dev tsx\`, or use Node 22.18 or newer.`,
      ),
      { code: 'no-tsx' },
    )
  }
  const { exports } = JSON.parse(readFileSync(manifest, 'utf8')) as TsxManifest
  const folder = dirname(manifest)
  return { folder, urlOf: (half) => pathToFileURL(join(folder, exports[half].import.default)).href }
}

interface TsxManifest {
  readonly exports: {
    readonly [half in './cjs/api' | './esm/api']: { readonly import: { readonly default: string } }
  }
}
