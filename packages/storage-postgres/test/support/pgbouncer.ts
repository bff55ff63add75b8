import { type ChildProcess, spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { chownSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { findCredentials } from '../../../../scripts/postgres/binaries.ts'

export const hasPgBouncer: boolean = spawnSync('pgbouncer', ['--version'], { stdio: 'ignore' }).status === 0

/** PgBouncer in transaction mode: between two transactions a session may be given another server connection. */
export class PgBouncer {
  readonly port: number
  readonly #process: ChildProcess
  readonly #folder: string

  private constructor(port: number, child: ChildProcess, folder: string) {
    this.port = port
    this.#process = child
    this.#folder = folder
  }

  /** @param poolSize server connections for each pair of user and database */
  static async start(targetPort: number, poolSize: number): Promise<PgBouncer> {
    const credentials = findCredentials()
    const folder = mkdtempSync(join(tmpdir(), 'pawl-pgbouncer-'))
    const port = await findPort()
    const configuration = join(folder, 'pgbouncer.ini')
    writeFileSync(join(folder, 'users.txt'), '"pawl_app" ""\n')
    writeFileSync(
      configuration,
      `[databases]
* = host=127.0.0.1 port=${targetPort}
[pgbouncer]
listen_addr = 127.0.0.1
listen_port = ${port}
unix_socket_dir =
auth_type = trust
auth_file = ${join(folder, 'users.txt')}
pool_mode = transaction
default_pool_size = ${poolSize}
max_client_conn = 500
`,
    )
    for (const file of ['', 'users.txt', 'pgbouncer.ini']) {
      if (credentials.uid !== undefined) chownSync(join(folder, file), credentials.uid, credentials.gid ?? 0)
    }
    const child = spawn('pgbouncer', [configuration], { ...credentials, stdio: ['ignore', 'ignore', 'pipe'] })
    let log = ''
    await new Promise<void>((resolve, reject) => {
      child.once('exit', () => reject(new Error(`PgBouncer ended: ${log}`)))
      child.stderr.on('data', (text) => {
        log += text
        if (log.includes('process up')) resolve()
      })
    })
    return new PgBouncer(port, child, folder)
  }

  async stop(): Promise<void> {
    const exited = once(this.#process, 'exit')
    this.#process.kill('SIGTERM')
    await exited
    rmSync(this.#folder, { recursive: true })
  }
}

function findPort(): Promise<number> {
  return new Promise((resolve) => {
    const server = createServer()
    server.listen(0, '127.0.0.1', () => {
      const address = server.address()
      server.close(() => resolve(typeof address === 'object' && address ? address.port : 0))
    })
  })
}
