import { setTimeout as sleep } from 'node:timers/promises'

/** Milliseconds of a clock that all processes of the machine share, so that one can begin what another ends. */
export function nowMs(): number {
  return Number(process.hrtime.bigint()) / 1e6
}

export interface Cost {
  readonly ms: number
  /** CPU time of this process, all threads; what is left of `ms` is waiting for the disk, the server or the processor. */
  readonly cpuMs: number
}

export async function costOf(work: () => unknown): Promise<Cost> {
  const cpu = process.cpuUsage()
  const ms = await timeOf(work)
  const { user, system } = process.cpuUsage(cpu)
  return { ms, cpuMs: (user + system) / 1_000 }
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
