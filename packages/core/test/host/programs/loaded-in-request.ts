// The package is loaded by the first request.  Prints what each request sees, and what the root context does.
import { AsyncLocalStorage } from 'node:async_hooks'

const requests = new AsyncLocalStorage<string>()
const traces = new AsyncLocalStorage<string>()
const seen = () => [requests.getStore() ?? null, traces.getStore() ?? null]

async function handle(request: string) {
  const { inRootContext, setImmediateNative } = await import('../../../src/host/natives.ts')
  const inRoot = inRootContext(seen)
  const later = await new Promise((resolve) => inRootContext(() => setImmediateNative(() => resolve(seen()))))
  return { request, loaded: seen(), inRoot, later }
}

const inRequest = (request: string) =>
  requests.run(request, () => traces.run('a trace', () => handle(request)))
console.log(JSON.stringify([await inRequest('alice'), await inRequest('bob')]))
