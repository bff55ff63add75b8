import { setTimeout as sleep } from 'node:timers/promises'
import { readServerTimes, timeBetween } from './server-time.ts'

/** Milliseconds of a clock that all processes of the machine share, so that one can begin what another ends. */
export function nowMs(): number {
  return Number(process.hrtime.bigint()) / 1e6
}

export interface Cost {
  readonly ms: number
  /** CPU time of all threads of this process. The rest of `ms` is waiting for the disk, the server or a processor. */
  readonly cpuMs: number
  /** CPU time of the database server; undefined without one. */
  readonly serverMs?: number | undefined
}

/** @param server the first process of a database server whose CPU time is measured as well */
export async function costOf(work: () => unknown, server?: number): Promise<Cost> {
  const before = server === undefined ? null : readServerTimes(server)
  const cpu = process.cpuUsage()
  const ms = await timeOf(work)
  const { user, system } = process.cpuUsage(cpu)
  const serverMs =
    before === null || server === undefined ? undefined : timeBetween(before, readServerTimes(server))
  return { ms, cpuMs: (user + system) / 1_000, serverMs }
}

/** CPU time of this process since it began, in ms. */
export function cpuMsSoFar(): number {
  const { user, system } = process.cpuUsage()
  return (user + system) / 1_000
}

export async function timeOf(work: () => unknown): Promise<number> {
  const from = nowMs()
  await work()
  return nowMs() - from
}

export async function until(
  what: string,
  holds: () => Promise<boolean> | boolean,
  withinMs = 60_000,
): Promise<void> {
  const end = nowMs() + withinMs
  while (!(await holds())) {
    if (nowMs() > end) throw new Error(`still not so after ${withinMs} ms: ${what}`)
    await sleep(5)
  }
}

export { sleep }
