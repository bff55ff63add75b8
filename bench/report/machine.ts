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

/** Whether so much else was done on it that times measured there are too long. */
export function isBusy({ load, cores }: Machine): boolean {
  return load > cores * 0.5
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
