import { refuse } from '@pawl/core/storage'

/** Names of database objects for use in statements, quoted and qualified. */
export interface Names {
  readonly schema: string
  /** Returns the qualified name of a table. */
  readonly qualify: (table: string) => string
  readonly workers: string
  readonly runs: string
  /** Sequence of the run keys. */
  readonly runKeys: string
  readonly runInfo: string
  /** Table of the values that runs expose. */
  readonly runState: string
  readonly decisions: string
  readonly checkpoints: string
  readonly notices: string
  /** Tables of the names by which notices are found, and of who has read them. */
  readonly noticeTo: string
  readonly noticeReads: string
  readonly events: string
  readonly messages: string
  readonly asks: string
  /** Table of the names by which open asks are found. */
  readonly askTo: string
  /** Tables of entries without a number yet, and of the numbered feed. */
  readonly news: string
  readonly feed: string
  /** The id of the store, and the key of the ids of asks. */
  readonly storeInfo: string
  readonly migrations: string
  /** The channel of LISTEN and NOTIFY, unquoted. */
  readonly channel: string
}

/**
 * Returns the qualified names of a schema. No statement relies on `search_path`.
 * @throws PawlError 'option-invalid'
 */
export function nameTables(schema: unknown): Names {
  if (typeof schema !== 'string' || !/^(?!pg_)[a-z_][a-z0-9_]{0,50}$/i.test(schema))
    refuse(
      'schema of postgres',
      schema,
      'Use letters, digits and underscores, at most 51 of them, not starting with a digit or with pg_.',
    )
  const qualify = (table: string) => `"${schema}"."${table}"`
  return {
    schema,
    qualify,
    workers: qualify('workers'),
    runs: qualify('runs'),
    runKeys: qualify('runs_run_seq'),
    runInfo: qualify('run_info'),
    runState: qualify('run_state'),
    decisions: qualify('decisions'),
    checkpoints: qualify('checkpoints'),
    notices: qualify('notices'),
    noticeTo: qualify('notice_to'),
    noticeReads: qualify('notice_reads'),
    events: qualify('events'),
    messages: qualify('messages'),
    asks: qualify('asks'),
    askTo: qualify('ask_to'),
    news: qualify('news'),
    feed: qualify('feed'),
    storeInfo: qualify('store_info'),
    migrations: qualify('migrations'),
    channel: `pawl:${schema}`,
  }
}

/** SQL: the database's clock in ms since 1970, rounded down so that nothing is due early. */
export const storeTime = 'floor(extract(epoch from clock_timestamp()) * 1000)::bigint'
