import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import type { Places } from '../places/places.ts'
import { peersFolder } from './peer-process.ts'

/** Place where a peer keeps its runs during one measurement. */
export interface PeerPlace {
  /** Environment with which its program finds the place. */
  readonly address: object
  /** Restarts what was killed. */
  revive(): Promise<void>
  remove(): Promise<void>
}

export async function makeDatabase(places: Places): Promise<PeerPlace> {
  const address = await places.make()
  return { address, revive: async () => {}, remove: async () => {} }
}

/** A Restate server on a folder of its own, all of it on 127.0.0.1. */
export async function startRestate(): Promise<PeerPlace> {
  const folder = mkdtempSync(join(tmpdir(), 'pawl-bench-restate-'))
  const [node, ingress, admin, port] = await findPorts(4)
  const configuration = join(folder, 'restate.toml')
  // Sets the addresses only; all other settings are defaults.
  const lines = [
    'cluster-name = "bench"',
    'node-name = "bench"',
    `base-dir = ${JSON.stringify(join(folder, 'data'))}`,
    'bind-ip = "127.0.0.1"',
    'advertised-host = "127.0.0.1"',
    'listen-mode = "tcp"',
    'disable-telemetry = true',
    `bind-port = ${node}`,
    `[ingress]\nbind-port = ${ingress}`,
    `[admin]\nbind-port = ${admin}`,
  ]
  writeFileSync(configuration, `${lines.join('\n')}\n`)
  const addresses = [`http://127.0.0.1:${ingress}`, `http://127.0.0.1:${admin}`] as const
  let server = await startServer(configuration, addresses)
  return {
    get address() {
      return { ingress: addresses[0], admin: addresses[1], port, folder, serverPid: server.pid }
    },
    async revive() {
      if (server.exitCode === null && server.signalCode === null) await once(server, 'exit')
      server = await startServer(configuration, addresses)
    },
    async remove() {
      await endServer(server)
      rmSync(folder, { recursive: true, force: true })
    },
  }
}

async function startServer(
  configuration: string,
  [ingress, admin]: readonly [string, string],
): Promise<ChildProcess> {
  const name = `@restatedev/restate-server-${process.platform}-${process.arch}`
  const program = `${peersFolder}node_modules/${name}/bin/restate-server`
  if (!existsSync(program)) throw new Error(`there is no ${name}`)
  const flags = ['--config-file', configuration, '--no-logo']
  // On Linux the kernel ends it together with this process.
  const setpriv = '/usr/bin/setpriv'
  const server = existsSync(setpriv)
    ? spawn(setpriv, ['--pdeathsig', 'KILL', '--', program, ...flags], { stdio: 'ignore' })
    : spawn(program, flags, { stdio: 'ignore' })
  try {
    await untilHealthy(server, [`${ingress}/restate/health`, `${admin}/health`])
  } catch (error) {
    await endServer(server)
    throw error
  }
  return server
}

async function untilHealthy(server: ChildProcess, addresses: readonly string[]): Promise<void> {
  let failure: Error | undefined
  server.once('error', (error) => {
    failure = error
  })
  for (const end = Date.now() + 30_000; ; ) {
    const answers = await Promise.allSettled(addresses.map((address) => fetch(address)))
    if (answers.every((answer) => answer.status === 'fulfilled' && answer.value.ok)) return
    if (failure !== undefined) throw failure
    if (server.exitCode !== null) throw new Error(`its server ended with ${server.exitCode}`)
    if (Date.now() > end) throw new Error('its server was not ready within 30 s')
    await sleep(50)
  }
}

async function endServer(server: ChildProcess): Promise<void> {
  if (server.pid === undefined || server.exitCode !== null || server.signalCode !== null) return
  const gone = once(server, 'exit')
  server.kill('SIGKILL')
  await gone
}

/** Returns free ports, reserved together so that they differ. */
async function findPorts(count: number): Promise<readonly number[]> {
  const held = Array.from({ length: count }, () => createServer())
  const ports: number[] = []
  for (const one of held) {
    one.listen(0, '127.0.0.1')
    await once(one, 'listening')
    const address = one.address()
    if (address !== null && typeof address === 'object') ports.push(address.port)
  }
  await Promise.all(held.map((one) => new Promise((resolve) => one.close(resolve))))
  return ports
}
