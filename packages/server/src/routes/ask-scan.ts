import type { Ask, AskCount, Client, CountFilter, RiskLevel } from '@pawl/core'
import { riskLevels, urgencyOf } from '@pawl/core/internal'
import type { Rights } from '../auth/rights.ts'

// Filters that the store does not know. Few asks may match them, so a request reads a limited number of asks.

/** Maximum number of asks that one request reads. */
const maxScanned = 1_000
/** Asks that are read at once. */
const scanSize = 200

/** Selects asks by what the store does not know. */
export interface Sieve {
  readonly rights: Rights
  readonly risk: RiskLevel | undefined
}

interface Scan {
  readonly filter: CountFilter
  readonly limit: number
  readonly cursor?: string | undefined
}

interface Scanned {
  readonly items: readonly Ask[]
  /** Cursor of the next request; undefined if no further ask can match. */
  readonly cursor: string | undefined
}

/** Reads asks until `limit` match, which may be a few more, or until enough were read. */
export async function scanAsks(
  client: Client,
  sieve: Sieve,
  { filter, limit, cursor }: Scan,
): Promise<Scanned> {
  const items: Ask[] = []
  let next = cursor
  for (let scanned = 0; scanned < maxScanned; scanned += scanSize) {
    const page = await client.inbox.list({ ...filter, limit: scanSize, cursor: next })
    items.push(...page.items.filter((ask) => matches(sieve, ask)))
    next = isBeyond(sieve, filter, page.items.at(-1)) ? undefined : page.cursor
    if (next === undefined || items.length >= limit) break
  }
  return { items, cursor: next }
}

/** Counts the asks that {@link scanAsks} finds in one request. */
export async function countScanned(client: Client, sieve: Sieve, filter: CountFilter): Promise<AskCount> {
  const { items, cursor } = await scanAsks(client, sieve, { filter, limit: maxScanned })
  return { count: items.length, capped: cursor !== undefined }
}

function matches({ rights, risk }: Sieve, ask: Ask): boolean {
  return rights.seesAsk(ask) && (risk === undefined || ask.risk?.level === risk)
}

/** Whether an ask is less urgent than the risk: open asks are listed by urgency, the overdue ones first. */
function isBeyond({ risk }: Sieve, { status = 'open' }: CountFilter, last: Ask | undefined): boolean {
  if (risk === undefined || last === undefined || status !== 'open') return false
  return !last.overdue && urgencyOf(last) < riskLevels.indexOf(risk)
}
