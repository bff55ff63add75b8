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

/** From Node 22.18 and 23.6 on, without a flag. */
function nodeLoadsTypeScript(): boolean {
  return Boolean((process.features as { readonly typescript?: string | false }).typescript)
}

type TsxApi = { tsImport(file: string, options: { readonly parentURL: string }): Promise<object> }

async function loadByTsx(file: string): Promise<object> {
  const { tsImport } = await importTsx(file)
  const url = pathToFileURL(file).href
  return tsImport(url, { parentURL: url })
}

/** The API of the tsx nearest to the file. `require` would find its CommonJS half, which loads modules in another way. */
async function importTsx(file: string): Promise<TsxApi> {
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
  const { default: path } = exports['./esm/api'].import
  return (await import(pathToFileURL(join(dirname(manifest), path)).href)) as TsxApi
}

interface TsxManifest {
  readonly exports: { readonly './esm/api': { readonly import: { readonly default: string } } }
}
