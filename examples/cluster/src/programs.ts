import { type Child, startChild } from '../../shared/src/child.ts'

/** Starts a worker as a process of its own. */
export function startWorker(url: string): Child {
  return startChild('./worker', import.meta.url, { env: { PAWL_STORE: url } })
}
