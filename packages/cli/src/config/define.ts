import type { EngineOptions, Store } from '@pawl/core'
import type { ServerOptions } from '@pawl/server'

/** The configuration of the command line, in `pawl.config.ts`. */
export interface Config {
  /** A store, a path or a postgres:// address. Default: 'pawl.db'; `PAWL_STORE` and `--store` win. */
  readonly store?: Store | string
  /** Modules that export procedures, by path. Default: 'procedures.ts' or 'src/procedures.ts'. */
  readonly procedures?: string | readonly string[]
  /** Options of the engine in `pawl dev` and `pawl worker`. */
  readonly engine?: Omit<EngineOptions, 'store' | 'procedures'>
  /** Options of the server in `pawl dev` and `pawl server`. Default: port 4747 on 127.0.0.1. */
  readonly server?: Omit<ServerOptions, 'client'> & { readonly port?: number; readonly host?: string }
  /** A running server that commands talk to instead of the store. Its token is `PAWL_TOKEN`. */
  readonly remote?: `http://${string}` | `https://${string}`
}

/**
 * Types the default export of `pawl.config.ts`.
 * @example export default defineConfig({ store: 'postgres:///pawl', procedures: './src/procedures.ts' })
 */
export function defineConfig(config: Config): Config {
  return config
}
