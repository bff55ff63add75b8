import type { LogEvent } from '../events/event.ts'
import type { RunRow, StorePort } from '../ports/store.ts'

const pageSize = 1_000

export async function readWholeLog(store: StorePort, { run, head }: RunRow): Promise<readonly LogEvent[]> {
  const events: LogEvent[] = []
  while (events.length < head) {
    const page = await store.load(run, events.length, pageSize)
    if (page.length === 0) break
    events.push(...page)
  }
  return events
}
