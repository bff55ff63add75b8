import { hostname } from 'node:os'

/** Names this process for people. */
export function describeProcess(): string {
  return `${hostname()} ${process.pid}`
}
