import { appendFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { PostgresServer } from '../../../../scripts/postgres/server.ts'
import { changeUrl, runOn } from '../../../../test/support/postgres-database.ts'
import { TcpProxy } from '../../../../test/support/tcp-proxy.ts'
import { until } from './units.ts'

/** A primary, a standby, and the address where clients find whichever is primary, as behind a proxy or a name. */
export class ServerPair {
  readonly address: TcpProxy
  primary: PostgresServer
  #standby: PostgresServer | undefined

  private constructor(primary: PostgresServer, address: TcpProxy) {
    this.primary = primary
    this.address = address
  }

  /** Only a primary to begin with. */
  static async start(): Promise<ServerPair> {
    const primary = await PostgresServer.start()
    return new ServerPair(primary, await TcpProxy.start({ targetPort: primary.port }))
  }

  /** Of the address. */
  get url(): string {
    return changeUrl(this.primary.url(), { port: this.address.port })
  }

  get standby(): PostgresServer {
    if (this.#standby === undefined) throw new Error('There is no standby.')
    return this.#standby
  }

  /** Copies the data directory while the primary is stopped, and makes the copy a standby. */
  async addStandby(): Promise<void> {
    await this.primary.stop('fast')
    const directory = this.primary.copyData()
    const data = join(directory, 'data')
    writeFileSync(join(data, 'standby.signal'), '')
    appendFileSync(
      join(data, 'postgresql.auto.conf'),
      `primary_conninfo = 'host=127.0.0.1 port=${this.primary.port} user=postgres application_name=standby'\n`,
    )
    await this.primary.start()
    this.#standby = await PostgresServer.start({ directory })
  }

  /** From now on commits wait for the standby, and it has all that came before. */
  async makeSynchronous(): Promise<void> {
    await runOn(this.primary.url(), `alter system set synchronous_standby_names = 'standby'`)
    await runOn(this.primary.url(), 'select pg_reload_conf()')
    await until(async () => {
      const { rows } = await runOn(this.primary.url(), 'select sync_state from pg_stat_replication')
      return rows[0]?.sync_state === 'sync'
    })
    // Waits for the standby itself, and for whatever was written before it.
    await runOn(this.primary.url(), `select pg_logical_emit_message(true, 'pawl', 'synchronous')`)
  }

  /** The standby has everything. */
  async caughtUp(): Promise<void> {
    await until(async () => {
      const { rows } = await runOn(
        this.primary.url(),
        'select coalesce(bool_and(replay_lsn = pg_current_wal_lsn()), false) as done from pg_stat_replication',
      )
      return rows[0].done
    })
  }

  /** Makes the standby the primary. The one that was is dead already. */
  promote(): void {
    this.standby.promote()
  }

  /** Leads everybody to the new primary, and takes the old one away. */
  async switchOver(): Promise<void> {
    this.address.targetPort = this.standby.port
    this.address.cut()
    await this.primary.remove()
    this.primary = this.standby
    this.#standby = undefined
  }

  async remove(): Promise<void> {
    await this.address.stop()
    await this.primary.remove()
    await this.#standby?.remove()
  }
}
