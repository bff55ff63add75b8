import { connectTo } from '@pawl/core/storage'
import { postgres } from '@pawl/storage-postgres'
import { expect, test } from 'vitest'
import { PostgresServer } from '../../../scripts/postgres/server.ts'
import { changeUrl, makeDatabase } from '../../../test/support/postgres-database.ts'
import { TcpProxy } from '../../../test/support/tcp-proxy.ts'
import { swallowCommits } from './support/swallowed-commits.ts'

const wanted = Number(process.env['COMMITS'] ?? 10_000)

test(`${wanted} commits of unknown outcome are not lost, repeated or invented`, async () => {
  const server = await PostgresServer.start()
  const database = await makeDatabase({ server: server.url() })
  const proxy = await TcpProxy.start({ targetPort: server.port })
  const port = connectTo(postgres(changeUrl(database.url, { port: proxy.port })))
  await port?.open()
  const worker = (await port?.workers.register({ name: 'torture', leaseMs: 3_600_000 })) ?? 0
  if (!port) throw new Error('no port')
  const report = await swallowCommits({ port, proxy, worker, runs: 100, unknown: wanted })
  console.log({ unknown: report.unknown, events: report.ledger.count })
  expect(await report.ledger.compare(database.owner)).toEqual({ lost: 0, foreign: 0, gaps: 0 })
  await port.close()
  await proxy.stop()
  await database.remove()
  await server.remove()
})
