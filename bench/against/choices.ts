import { existsSync, statfsSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { type Case, cases, isNamed } from '../cases.ts'
import { type Places, postgresPlaces, sqlitePlaces } from '../places/places.ts'

type OpenPlaces = (folder: string) => Places | Promise<Places>

const stores: { readonly [name: string]: OpenPlaces } = { sqlite: sqlitePlaces, postgres: postgresPlaces }

/** A file system in memory, on Linux; and what three databases of each store take at most. */
const memory = '/dev/shm'
const neededBytes = 4 * 2 ** 30

/**
 * The folder for the databases: in memory, so that no disk that is shared with others decides what is faster.
 * BENCH_FOLDER names another one.
 */
export function chooseFolder(): string {
  const named = process.env['BENCH_FOLDER']
  if (named !== undefined) return named
  if (!existsSync(memory)) return tmpdir()
  const { bavail, bsize } = statfsSync(memory)
  return bavail * bsize >= neededBytes ? memory : tmpdir()
}

/** The cases with these names, in order. A name of several sizes means those that are compared by default. */
export function chooseCompared(names: readonly string[]): readonly Case[] {
  if (names.length === 0) return onlyCompared(cases)
  const chosen = names.flatMap((name) => {
    const named = cases.filter((one) => isNamed(one.name, [name]))
    return onlyCompared(named).length > 0 ? onlyCompared(named) : named
  })
  return [...new Set(chosen)]
}

function onlyCompared(some: readonly Case[]): readonly Case[] {
  return some.filter(({ against }) => against !== undefined)
}

/** The store with this name, or both. */
export function chooseStores(name: string | undefined): readonly OpenPlaces[] {
  if (name === undefined) return Object.values(stores)
  const store = stores[name]
  if (store === undefined)
    throw new Error(`--store is "${name}"; it can be ${Object.keys(stores).join(' or ')}`)
  return [store]
}

export function readRounds(given: string): number {
  const rounds = Number(given)
  if (!Number.isInteger(rounds) || rounds < 1) throw new Error(`--rounds is "${given}"; it must be 1 or more`)
  return rounds
}
