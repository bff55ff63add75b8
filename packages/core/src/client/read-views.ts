import { canExecute } from '../ports/abilities.ts'
import type { ProcedureVersions, RunRow, StorePort } from '../ports/store.ts'
import { isDue, nextPositionAfter, toRunView } from './run-view.ts'
import type { RunView } from './views.ts'

/** Of the end of a log: enough to see which operation was the last. */
const tailEvents = 10

/** The runs as people see them. Asks for the live workers only if one of the runs is due and no worker has it. */
export async function readViews(store: StorePort, rows: readonly RunRow[]): Promise<readonly RunView[]> {
  const now = await store.now()
  const abilities = rows.some((row) => isDue(row, now)) ? await store.abilities() : null
  return Promise.all(rows.map((row) => readView(store, row, now, abilities)))
}

async function readView(
  store: StorePort,
  row: RunRow,
  now: number,
  abilities: readonly ProcedureVersions[] | null,
): Promise<RunView> {
  const view = toRunView(row, now)
  const { procedure, version } = row
  if (abilities === null || !isDue(row, now) || canExecute(abilities, procedure, version)) return view
  const tail = await store.load(row.run, Math.max(0, row.head - tailEvents), tailEvents)
  const position = nextPositionAfter(row, tail)
  return {
    ...view,
    waitingFor: [{ kind: 'worker', name: procedure, position, ask: undefined, until: undefined }],
  }
}
