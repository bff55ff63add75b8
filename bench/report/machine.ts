import { cpus, loadavg, totalmem } from 'node:os'

/** The machine in general terms: nothing that names it. */
export interface Machine {
  readonly cores: number
  readonly processor: string
  readonly memoryGb: number
  readonly system: string
  readonly node: string
  /** How many processes wanted a processor in the minute before. */
  readonly load: number
}

export function describeMachine(): Machine {
  return {
    cores: cpus().length,
    processor: cpus()[0]?.model ?? 'unknown',
    memoryGb: Math.round(totalmem() / 2 ** 30),
    system: `${process.platform} ${process.arch}`,
    node: process.version,
    load: loadavg()[0] ?? 0,
  }
}
