import type { WholeStore } from '@pawl/core/storage'
import { describe, expect } from 'vitest'
import { answerTo, later, newAsk, newRun, type Standing, settled, signal, unitFor } from '../builders.ts'
import type { Stage, StageTest } from '../stage.ts'

const park = { do: 'park', wakeAt: null } as const
const refund = [{ name: 'refund', versions: [1] }]

export function describeConnections(test: StageTest): void {
  describe('several connections', () => {
    test('writes of one connection are read by the others', async (stage) => {
      const other = await stage.connect()
      const standing = await stage.owned('a', await stage.worker())
      await stage.commit(standing, { opens: [newAsk(3)] })
      await other.mail.send([signal('a')], null)
      expect(await other.runs.find('a')).toMatchObject({ head: 2, mail: 1 })
      expect(await stage.find('a')).toEqual(await other.runs.find('a'))
      expect(await stage.port.mail.list(standing.run, 0)).toHaveLength(1)
      expect(await other.asks.find('a', 3)).toMatchObject({ status: 'open' })
    })

    test('all have one key of the ids of asks, also later ones', async (stage) => {
      const key = await stage.port.askIdKey()
      expect(key).not.toBe('')
      const other = await stage.connect()
      expect(await other.askIdKey()).toBe(key)
      await other.close()
      expect(await (await stage.connect()).askIdKey()).toBe(key)
    })

    test('an id is created once by many', async (stage) => {
      const ports = await connectMany(stage, 4)
      const ids = Array.from({ length: 20 }, (_, index) => `run ${index}`)
      const created = await Promise.all(
        ports.flatMap((port) => ids.map((id) => port.runs.create([newRun(id)]))),
      )
      const outcomes = created.flat()
      expect(outcomes.filter(({ outcome }) => outcome === 'created')).toHaveLength(20)
      expect(new Set(outcomes.map(({ run }) => run)).size).toBe(20)
    })

    test('a due run is claimed by one of many', async (stage) => {
      const ports = await connectMany(stage, 4)
      await stage.port.runs.create(Array.from({ length: 40 }, (_, index) => newRun(`run ${index}`)))
      const claims = await Promise.all(
        ports.map(async (port) => {
          const worker = await port.workers.register({ name: 'w', leaseMs: 60_000 })
          const taken = []
          for (let round = 0; round < 40; round++) {
            taken.push(...(await port.claims.claim({ worker, procedures: refund }, 3)).runs)
          }
          return taken
        }),
      )
      const runs = claims.flat().map(({ id }) => id)
      expect([...runs].sort()).toEqual([...new Set(runs)].sort())
      expect(runs).toHaveLength(40)
    })

    test('of a hundred answers at once one wins, and the others are told the winner', async (stage) => {
      const ports = await connectMany(stage, 4)
      const standing = await stage.owned('a', await stage.worker())
      await stage.commit(standing, { opens: [newAsk(3)] })
      const answers = Array.from({ length: 100 }, (_, index) => answerTo('a', 3, { by: `user:${index}` }))
      const outcomes = (
        await Promise.all(answers.map((one, index) => port(ports, index).asks.answer([one], null)))
      ).flat()
      const winners = outcomes.filter(({ outcome }) => outcome === 'answered')
      expect(winners).toHaveLength(1)
      const reported = outcomes.flatMap((one) => (one.outcome === 'closed' ? one.ask.answeredBy : []))
      expect(reported).toHaveLength(99)
      expect(new Set(reported)).toEqual(new Set([(await stage.port.asks.find('a', 3))?.answeredBy]))
    })

    test('of an answer and a closing unit at once, one wins', async (stage) => {
      const [one, two] = [port(await connectMany(stage, 2), 0), await stage.connect()]
      const worker = await stage.worker()
      for (let round = 0; round < 20; round++) {
        const standing = await stage.owned(`run ${round}`, worker)
        await stage.commit(standing, { opens: [newAsk(3)] })
        const closes = [{ position: 3, status: 'timed-out' }] as const
        const [[answered], closed] = await Promise.all([
          one.asks.answer([answerTo(`run ${round}`, 3)], null),
          stage.commit(standing, { closes, strict: true }, two),
        ])
        expect(closed.outcome).toBe(answered?.outcome === 'answered' ? 'mail' : 'ok')
        expect(['answered', 'closed']).toContain(answered?.outcome)
      }
    })

    test('a key is kept once, whichever client sends it', async (stage) => {
      const ports = await connectMany(stage, 4)
      await stage.owned('a', await stage.worker())
      const outcomes = (
        await Promise.all(
          Array.from({ length: 40 }, (_, index) =>
            port(ports, index).mail.send([signal('a', { key: 'k' })], null),
          ),
        )
      ).flat()
      expect(outcomes.filter(({ outcome }) => outcome === 'stored')).toHaveLength(1)
      expect(await stage.find('a')).toMatchObject({ mail: 1 })
    })

    test('every message gets its own number', async (stage) => {
      const ports = await connectMany(stage, 4)
      const { run } = await stage.owned('a', await stage.worker())
      await Promise.all(
        Array.from({ length: 80 }, (_, index) => port(ports, index).mail.send([signal('a')], null)),
      )
      const numbers = (await stage.port.mail.list(run, 0)).map(({ n }) => n)
      expect(numbers).toEqual(Array.from({ length: 80 }, (_, index) => index + 1))
    })

    test('no message is missed, however parking and sending interleave', async (stage) => {
      const [sender, owner] = [await stage.connect(), await stage.connect()]
      const claimant = await stage.claimant()
      const runs = Array.from({ length: 10 }, (_, index) => `run ${index}`)
      for (const id of runs) await stage.parked(id, claimant.worker)
      const rounds = 20
      const sending = sendInTurn(sender, runs, rounds)
      let received = 0
      while (received < rounds * runs.length) received += await receiveAll(owner, claimant.worker)
      await sending
      expect(received).toBe(rounds * runs.length)
    })

    test('a unit that is fenced in one connection is written in another', async (stage) => {
      const other = await stage.connect()
      const standing = await stage.owned('a', await stage.doomedWorker())
      await other.workers.sweep()
      const worker = await other.workers.register({ name: 'new', leaseMs: 60_000 })
      const [claimed] = (await other.claims.claim({ worker, procedures: refund }, 1)).runs
      const current = { ...standing, worker, epoch: claimed?.epoch ?? 0 }
      const [stale, fresh] = await Promise.all([
        stage.port.log.commit(standing.worker, [unitFor(standing)]),
        other.log.commit(worker, [unitFor(current)]),
      ])
      expect([stale[0]?.outcome, fresh[0]?.outcome]).toEqual(['fenced', 'ok'])
    })

    test('writers of different runs do not disturb each other', async (stage) => {
      const ports = await connectMany(stage, 3)
      await Promise.all(
        ports.map(async (own, index) => {
          const worker = await own.workers.register({ name: 'w', leaseMs: 60_000 })
          const standing = await stage.owned(`run ${index}`, worker)
          for (let round = 0; round < 25; round++) {
            expect(await stage.commit(standing, { events: [settled(round)] }, own)).toMatchObject({
              outcome: 'ok',
            })
          }
        }),
      )
      expect((await stage.dump()).events).toHaveLength(3 + 75)
    })

    test('sending to runs in opposite orders does not deadlock', async (stage) => {
      const [one, two] = await connectMany(stage, 2)
      const worker = await stage.worker()
      const runs = Array.from({ length: 10 }, (_, index) => `run ${index}`)
      for (const id of runs) await stage.owned(id, worker)
      for (let round = 0; round < 10; round++) {
        await Promise.all([
          one?.mail.send(
            runs.map((id) => signal(id)),
            null,
          ),
          two?.mail.send(
            [...runs].reverse().map((id) => signal(id)),
            null,
          ),
        ])
      }
      expect((await stage.dump()).messages).toHaveLength(200)
    })

    test('committing and sending to the same runs does not deadlock', async (stage) => {
      const other = await stage.connect()
      const worker = await stage.worker()
      const standings: Standing[] = []
      for (let index = 0; index < 10; index++) standings.push(await stage.owned(`run ${index}`, worker))
      for (let round = 0; round < 10; round++) {
        const [outcomes] = await Promise.all([
          stage.port.log.commit(
            worker,
            standings.map((standing) => unitFor(standing)),
          ),
          other.mail.send(
            [...standings].reverse().map(({ id }) => signal(id)),
            null,
          ),
        ])
        expect(outcomes.every(({ outcome }) => outcome === 'ok')).toBe(true)
        for (const standing of standings) standing.head++
      }
    })

    test('a hint arrives when another connection has written', async (stage) => {
      const other = await stage.connect()
      const standing = await stage.parked('a', await stage.worker())
      const hinted = new Promise<void>((resolve) => stage.port.watch(resolve))
      await other.mail.send([signal('a')], null)
      await hinted
      expect(await stage.find(standing.id)).toMatchObject({ mail: 1 })
    })

    test('no hint arrives after watching has ended', async (stage) => {
      const other = await stage.connect()
      await stage.parked('a', await stage.worker(), { next: { do: 'park', wakeAt: later } })
      let hints = 0
      const stop = stage.port.watch(() => hints++)
      stop()
      stop()
      const stillWatching = new Promise<void>((resolve) => stage.port.watch(resolve))
      await other.mail.send([signal('a')], null)
      await stillWatching
      expect(hints).toBe(0)
    })

    test('a connection that is closed leaves the others open', async (stage) => {
      const other = await stage.connect()
      await other.close()
      await stage.owned('a', await stage.worker())
      expect(await stage.find('a')).toMatchObject({ id: 'a' })
      await expect(other.runs.find('a')).rejects.toThrow()
    })
  })
}

async function connectMany(stage: Stage, count: number): Promise<WholeStore[]> {
  return Promise.all(Array.from({ length: count }, () => stage.connect()))
}

function port(ports: readonly WholeStore[], index: number): WholeStore {
  return ports[index % ports.length] as WholeStore
}

async function sendInTurn(sender: WholeStore, runs: readonly string[], rounds: number): Promise<void> {
  for (let round = 0; round < rounds; round++) {
    for (const id of runs) {
      await sender.mail.send([signal(id)], null)
      if (round % 3 === 0) await new Promise((resolve) => setImmediate(resolve))
    }
  }
}

/** Claims the due run, consumes its mail and parks it, until it stays parked. Returns the number of messages. */
async function receiveAll(owner: WholeStore, worker: number): Promise<number> {
  let received = 0
  for (const claimed of (await owner.claims.claim({ worker, procedures: refund }, 100)).runs) {
    const standing: Standing = { ...claimed, worker, seen: 0 }
    for (let isParked = false; !isParked; ) {
      const mail = await owner.mail.list(standing.run, standing.seen)
      received += mail.length
      standing.seen = mail.at(-1)?.n ?? standing.seen
      const unit = unitFor(standing, { next: park, consumes: mail.map(({ n }) => n) })
      const [outcome] = await owner.log.commit(worker, [
        { ...unit, seen: Math.max(standing.seen, claimed.mail) },
      ])
      if (outcome?.outcome !== 'ok') throw new Error(`commit: ${outcome?.outcome}`)
      standing.head++
      isParked = outcome.parked
    }
  }
  await new Promise((resolve) => setImmediate(resolve))
  return received
}
