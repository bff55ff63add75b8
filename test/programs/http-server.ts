import { createEngine } from '@pawl/core'
import { createServer } from '@pawl/server'
import { asking } from '../support/http/asking.ts'
import { openStore } from '../support/kill/open-store.ts'

// A server with its engine, in a process that is killed. It prints where it listens.

const [location = ''] = process.argv.slice(2)
// The process that started this one has ended.
process.stdin.on('end', () => process.exit()).resume()

const engine = await createEngine({
  store: openStore(location),
  procedures: [asking],
  lease: '1s',
  logger: { debug() {}, info() {}, warn() {}, error() {} },
})
const server = createServer({
  client: engine,
  auth: () => ({ actor: 'user:wim', names: [], role: 'watch' }),
})
const { url } = await server.listen({ port: 0 })
process.stdout.write(`${url}\n`)
