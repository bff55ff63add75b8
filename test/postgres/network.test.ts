import { setTimeout as wait } from 'node:timers/promises'
import { expect, onTestFinished, test } from 'vitest'
import { makePostgresPlace } from '../support/kill/postgres-place.ts'
import { besiege } from '../support/kill/siege.ts'
import { changeUrl } from '../support/postgres-database.ts'
import { TcpProxy } from '../support/tcp-proxy.ts'

const seed = Number(process.env['SEED'] ?? Math.floor(Math.random() * 2 ** 31))

test(`connections break in the middle of statements, and nothing is lost or repeated (SEED=${seed})`, {
  timeout: 120_000,
}, async () => {
  const place = await makePostgresPlace()
  const fates = ['swallow', 'late', 'lose'] as const
  const broken = { swallow: 0, late: 0, lose: 0 }
  const proxy = await TcpProxy.start({ targetPort: Number(new URL(place.location).port) })
  onTestFinished(() => proxy.stop())
  const report = await besiege({
    ...{ seed, place, workers: 2, runs: 50 },
    location: changeUrl(place.location, { port: proxy.port }),
    disasters: {
      count: 5,
      async strike(random) {
        proxy.decide = (text) => {
          const fate = random() < 0.05 && text !== '' ? fates[Math.floor(random() * 3)] : undefined
          if (fate !== undefined) broken[fate]++
          return fate ?? 'pass'
        }
        await wait(500 + random() * 500)
        proxy.cut()
      },
    },
  })
  console.log(broken, { ...report, repeats: report.repeats.length })
  expect(report.problems).toEqual([])
  expect(Object.values(broken).every((count) => count > 0)).toBe(true)
})
