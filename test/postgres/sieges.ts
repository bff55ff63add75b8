import { setTimeout as wait } from 'node:timers/promises'
import type { PostgresServer } from '../../scripts/postgres/server.ts'
import { makePostgresPlace } from '../support/kill/postgres-place.ts'
import { besiege, type SiegeOptions, type SiegeReport } from '../support/kill/siege.ts'
import { changeUrl } from '../support/postgres-database.ts'
import { type Fate, TcpProxy } from '../support/tcp-proxy.ts'

interface Options
  extends Pick<SiegeOptions, 'seed' | 'story' | 'workers' | 'kills' | 'pauses' | 'atOnce' | 'runs' | 'env'> {
  /** Another server than the tests'. */
  readonly server?: string
}

/** The siege of support/kill, on a database of its own. */
export async function besiegePostgres({ server, ...options }: Options): Promise<SiegeReport> {
  return besiege({ mercyMs: 1_000, ...options, place: await makePostgresPlace(server) })
}

/** The server crashes, again and again, while engines work. */
export async function crashServer(
  server: PostgresServer,
  { crashes, ...options }: Options & { readonly crashes: number },
): Promise<SiegeReport> {
  return besiege({
    ...options,
    place: await makePostgresPlace(server.url()),
    disasters: {
      count: crashes,
      async strike(random) {
        await wait(300 + random() * 700)
        await server.stop('immediate')
        await wait(random() * 300)
        await server.start()
      },
    },
  })
}

export interface NetworkReport extends SiegeReport {
  /** How many statements met each fate. */
  readonly broken: Readonly<Record<BadFate, number>>
}
const badFates = ['swallow', 'late', 'lose'] as const satisfies readonly Fate[]
type BadFate = (typeof badFates)[number]

/** Connections break in the middle of statements, and now and then all at once. */
export async function breakConnections({
  cuts,
  ...options
}: Options & { readonly cuts: number }): Promise<NetworkReport> {
  const place = await makePostgresPlace(options.server)
  const broken = { swallow: 0, late: 0, lose: 0 }
  const proxy = await TcpProxy.start({ targetPort: Number(new URL(place.location).port) })
  try {
    const report = await besiege({
      ...options,
      place,
      location: changeUrl(place.location, { port: proxy.port }),
      disasters: {
        count: cuts,
        async strike(random) {
          proxy.decide = (text) => {
            const fate = text !== '' && random() < 0.05 ? badFates[Math.floor(random() * 3)] : undefined
            if (fate === undefined) return 'pass'
            broken[fate]++
            return fate
          }
          await wait(500 + random() * 500)
          proxy.cut()
        },
      },
    })
    return { ...report, broken }
  } finally {
    await proxy.stop()
  }
}
