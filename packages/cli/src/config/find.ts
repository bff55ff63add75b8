import { existsSync } from 'node:fs'
import { dirname, join, resolve } from 'node:path'
import type { Store } from '@pawl/core'
import { usageError } from '../door/problem.ts'
import { hideSecrets } from '../output/hide-secrets.ts'
import type { Config } from './define.ts'
import type { Found } from './found.ts'
import { loadModule } from './load.ts'
import { refuseForeign } from './refuse-foreign.ts'
import { hasScheme, refuseUnknownScheme } from './store.ts'

/** Flags that say where things are. They win over the environment, and that over the config. */
export interface Places {
  readonly store?: string | undefined
  readonly procedures?: readonly string[] | undefined
  readonly server?: string | undefined
  readonly token?: string | undefined
  readonly config?: string | undefined
}

/** Everything a command may need to know about its surroundings. */
export interface Located {
  readonly config: Found<Config> | undefined
  readonly store: Found<Store | string>
  /** Paths of modules. Empty if none was named and no default exists. */
  readonly procedures: Found<readonly string[]>
  readonly server: Found<string> | undefined
  readonly token: string | undefined
}

export async function locate(places: Places, cwd: string, env: NodeJS.ProcessEnv): Promise<Located> {
  const nearest = places.config === undefined ? findUp(cwd) : undefined
  if (nearest !== undefined) refuseForeign(nearest, cwd, process.getuid?.())
  const file = places.config === undefined ? nearest : resolve(cwd, places.config)
  const config = file === undefined ? undefined : { value: await readConfig(file), by: file }
  const beside = file === undefined ? cwd : dirname(file)
  const server = findServer(places, env, config)
  if (places.token !== undefined && server === undefined)
    throw usageError('`--token` belongs to a server: pass `--server` too.')
  const store = given(places.store, '--store') ??
    given(env['PAWL_STORE'], 'PAWL_STORE') ??
    fromConfig(config, ({ store }) => (typeof store === 'string' ? fromFolder(beside, store) : store)) ?? {
      value: join(cwd, 'pawl.db'),
      by: 'default',
    }
  refuseUnknownScheme(store)
  return {
    ...{ config, store },
    procedures: findProcedures(places, cwd, env, config, beside),
    server,
    token: places.token ?? env['PAWL_TOKEN'],
  }
}

/** A store that was named more specifically than the server is used instead of it. */
function findServer(
  places: Places,
  env: NodeJS.ProcessEnv,
  config: Found<Config> | undefined,
): Found<string> | undefined {
  const named = given(places.server, '--server')
  if (named !== undefined || places.store !== undefined) return named
  const inEnv = given(env['PAWL_SERVER'], 'PAWL_SERVER')
  if (inEnv !== undefined || env['PAWL_STORE']) return inEnv
  return fromConfig(config, ({ remote }) => remote)
}

/** @throws CommandError with status 2 if a command that works on a store would leave out the server that is named */
export function refuseServer(command: string, { server, store }: Located): void {
  if (server === undefined || store.by === '--store' || store.by === 'PAWL_STORE') return
  throw usageError(
    `\`pawl ${command}\` works on the store itself, not on the server ${hideSecrets(server.value)} (${server.by}). Pass \`--store\`.`,
  )
}

function findProcedures(
  { procedures }: Places,
  cwd: string,
  env: NodeJS.ProcessEnv,
  config: Found<Config> | undefined,
  beside: string,
): Found<readonly string[]> {
  const absolute = (paths: readonly string[], from: string) => paths.map((path) => resolve(from, path))
  if (procedures !== undefined && procedures.length > 0)
    return { value: absolute(procedures, cwd), by: '--procedures' }
  const named = env['PAWL_PROCEDURES']
  if (named) return { value: absolute(named.split(','), cwd), by: 'PAWL_PROCEDURES' }
  const configured = config?.value.procedures
  if (config && configured !== undefined)
    return { value: absolute([configured].flat() as string[], beside), by: config.by }
  const usual = ['procedures.ts', 'src/procedures.ts', 'procedures.js', 'src/procedures.js']
  const found = usual.map((path) => join(cwd, path)).find((path) => existsSync(path))
  return { value: found === undefined ? [] : [found], by: 'default' }
}

function given(value: string | undefined, by: string): Found<string> | undefined {
  return value === undefined || value === '' ? undefined : { value, by }
}

function fromConfig<T>(
  config: Found<Config> | undefined,
  pick: (config: Config) => T | undefined,
): Found<T> | undefined {
  const value = config === undefined ? undefined : pick(config.value)
  return config === undefined || value === undefined ? undefined : { value, by: config.by }
}

/** A path of the config is relative to it; an address is not a path. */
function fromFolder(folder: string, store: string): string {
  return hasScheme(store) ? store : resolve(folder, store)
}

/** The nearest config, upward to the root of the repository. */
function findUp(from: string): string | undefined {
  for (let folder = from; ; folder = dirname(folder)) {
    for (const name of ['pawl.config.ts', 'pawl.config.js', 'pawl.config.mjs'])
      if (existsSync(join(folder, name))) return join(folder, name)
    if (existsSync(join(folder, '.git')) || dirname(folder) === folder) return undefined
  }
}

async function readConfig(file: string): Promise<Config> {
  const config = ((await loadModule(file)) as { readonly default?: unknown }).default
  if (typeof config !== 'object' || config === null)
    throw usageError(`${file} must export a config as its default: \`export default defineConfig({ … })\`.`)
  return config as Config
}
