import { suspectTries } from '@pawl/core/storage'
import type { Dump } from '../conformance/subject.ts'
import type { Tables } from './tables.ts'

export function dumpTables(tables: Tables): Dump {
  const runs = [...tables.runsByKey.values()].sort((a, b) => a.run - b.run)
  return {
    runs: runs.map(
      ({
        run,
        id,
        procedure,
        version,
        state,
        mark,
        worker,
        wakeAt,
        cancelAt,
        epoch,
        events,
        base,
        mail,
        tries,
        positives,
        alone,
        isTested,
        link,
        info,
      }) => ({
        run,
        id,
        procedure,
        version,
        state,
        mark,
        worker,
        wakeAt,
        cancelAt,
        epoch,
        head: events.length,
        base,
        mail,
        tries,
        positives: tries < suspectTries ? 0 : positives,
        alone: tries < suspectTries ? 0 : alone,
        tested: worker !== null && tries >= suspectTries && isTested,
        link,
        info,
      }),
    ),
    events: runs.flatMap(({ run, events }) => events.map((event) => ({ run, ...event }))),
    messages: runs.flatMap(({ run, messages }) =>
      messages.map(({ n, kind, name, key, isUsed, payload }) => ({
        run,
        n,
        kind,
        name,
        key,
        used: isUsed,
        payload,
      })),
    ),
    states: runs.flatMap(({ run, states }) =>
      [...states.values()]
        .sort((a, b) => (a.name < b.name ? -1 : 1))
        .map(({ name, payload }) => ({ run, name, payload })),
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
