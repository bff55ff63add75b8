import {
  anything,
  checkBoolean,
  defineStore,
  optional,
  readOptions,
  refuse,
  type Spec,
  type Store,
} from '@pawl/core/storage'
import type { ClientPool } from './connection/clients.ts'
import { nameTables } from './names.ts'
import { createStore } from './store.ts'

/** Options of `postgres`. */
export interface PostgresOptions {
  /** Schema that holds the tables. Default: 'pawl'. Range: letters, digits and underscores, at most 51 of them, not starting with a digit or with `pg_`. */
  readonly schema?: string
  /** Whether statements are prepared under names. Set it to `false` for PgBouncer in transaction mode. Default: `true`. */
  readonly prepared?: boolean
  /** Whether to use LISTEN and NOTIFY besides polling, on a separate connection. Set it to `false` for PgBouncer in transaction mode. Default: `true`. */
  readonly notifications?: boolean
}

const postgresOptions = {
  schema: optional(anything, 'pawl'),
  prepared: optional(checkBoolean, true),
  notifications: optional(checkBoolean, true),
} satisfies Spec<PostgresOptions>

/**
 * Creates a store that keeps runs in a PostgreSQL database, version 15 or newer. Any number of processes can share it.
 *
 * With a connection string, each engine and each client opens its own pool of at most ten connections. To share a pool,
 * pass `{ pool }` with a `Pool` of `pg`; Pawl does not close it. Opening the store can reject with `store-unusable`.
 * @throws PawlError 'option-invalid'
 * @example
 * const engine = await createEngine({ store: postgres('postgres://app@db/orders'), procedures: [refund] })
 */
export function postgres(
  connection: string | { readonly pool: unknown },
  options: PostgresOptions = {},
): Store {
  const { schema, prepared, notifications } = readOptions('of postgres', options, postgresOptions)
  const target = readConnection(connection)
  const names = nameTables(schema)
  return defineStore('postgres', () => createStore(target, { names, prepared, notifications }))
}

function readConnection(connection: string | { readonly pool: unknown }): string | ClientPool {
  if (typeof connection === 'string') return checkAddress(connection)
  if (isPool(connection?.pool)) return checkPool(connection.pool)
  const wanted = "Pass a connection string, or { pool } with a Pool of the package 'pg'."
  return refuse('connection of postgres', connection, wanted, describe(connection))
}

/** `pg` takes any other text for the name of a database, on a host that it makes up. */
function checkAddress(connection: string): string {
  if (/^(?:postgres(?:ql)?:\/\/|socket:|\/|$)/i.test(connection)) return connection
  const scheme = /^[a-z][a-z\d+.-]*:\/\//i.exec(connection)?.[0]
  const wanted =
    scheme === undefined
      ? 'It must begin with postgres://. For a file, use `sqlite()` of @pawl/storage-sqlite.'
      : 'It must begin with postgres://.'
  // What follows may be a password.
  return refuse(
    'connection of postgres',
    connection,
    wanted,
    scheme === undefined ? 'a text without a scheme' : `a ${scheme} address`,
  )
}

function checkPool(pool: ClientPool): ClientPool {
  if (pool.options?.binary !== true) return pool
  const wanted = 'Values are read as text: give it a pool without binary.'
  return refuse('pool of postgres', pool, wanted, 'one with binary: true')
}

/** Describes a value without its contents, which may include a password. */
function describe(value: unknown): string {
  if (value instanceof URL) return 'a URL, which is no string: pass its href'
  return typeof value === 'object' && value !== null
    ? `an object with ${Object.keys(value).slice(0, 5).join(', ') || 'nothing'}`
    : typeof value
}

function isPool(value: unknown): value is ClientPool {
  return (
    typeof value === 'object' && value !== null && 'connect' in value && typeof value.connect === 'function'
  )
}
