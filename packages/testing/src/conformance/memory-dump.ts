import { suspectTries } from '@pawl/core/storage'
import { headOf, type Tables } from '../memory/tables.ts'
import type { Dump } from './subject.ts'

export function dumpTables(tables: Tables): Dump {
  const runs = [...tables.runsByKey.values()].sort((a, b) => a.run - b.run)
  return {
    runs: runs.map((record) => {
      const { run, id, procedure, version, state, mark, worker, wakeAt, cancelAt, epoch, base, mail } = record
      const { tries, positives, alone, isTested, link, info } = record
      const isSuspect = tries >= suspectTries
      return {
        ...{ run, id, procedure, version, state, mark, worker, wakeAt, cancelAt, epoch, base, mail, tries },
        ...{ head: headOf(record), link, info },
        positives: isSuspect ? positives : 0,
        alone: isSuspect ? alone : 0,
        tested: worker !== null && isSuspect && isTested,
      }
    }),
    events: runs.flatMap(({ run, events }) => events.map((event) => ({ run, ...event }))),
    messages: runs.flatMap(({ run, messages }) =>
      messages.map(({ n, kind, name, key, by, isUsed, payload }) => ({
        run,
        n,
        kind,
        name,
        key,
        by,
        used: isUsed,
        payload,
      })),
    ),
    states: runs.flatMap(({ run, states }) =>
      [...states.values()]
        .sort((a, b) => (a.name < b.name ? -1 : 1))
        .map(({ name, payload }) => ({ run, name, payload })),
    ),
    checkpoints: runs.flatMap(({ run, checkpoints }) =>
      [...checkpoints.values()]
        .sort((a, b) => a.slot - b.slot)
        .map(({ slot, position, seq, name, payload }) => ({ run, slot, position, seq, name, payload })),
    ),
    asks: runs.flatMap(({ run, asks }) =>
      [...asks.values()]
        .sort((a, b) => a.position - b.position)
        .map(({ position, status, kind, key, answeredBy, payload, answer }) => ({
          run,
          position,
          status,
          kind,
          key,
          answeredBy,
          payload,
          answer,
        })),
    ),
  }
}
