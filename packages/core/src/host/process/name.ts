import { hostname } from 'node:os'

/** For people: where a worker runs. */
export function describeProcess(): string {
  return `${hostname()} ${process.pid}`
}
