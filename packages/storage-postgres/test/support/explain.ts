import type pg from 'pg'
import type { Recorded } from '../../../../test/support/recording-pool.ts'

export interface Plan {
  /** Rows of tables it looked at, found or not. */
  readonly rows: number
  /** Tables it looked into. */
  readonly tables: ReadonlySet<string>
  /** As the server describes it. */
  readonly text: string
}

/** Carries out a statement of the store once more, as the store has it planned, and takes back what it changed. */
export async function explain(owner: pg.Pool, { name, text, values }: Recorded): Promise<Plan> {
  const client = await owner.connect()
  try {
    await client.query('begin')
    // One with a name is planned once, for any values; explained it would be planned for these.
    if (name !== undefined) await client.query('set local plan_cache_mode = force_generic_plan')
    await client.query(`prepare explained as ${text}`)
    const literals = values.map((value) => (value === null ? 'null' : client.escapeLiteral(write(value))))
    const { rows } = await client.query(
      `explain (analyze, format json) execute explained${literals.length > 0 ? `(${literals.join()})` : ''}`,
    )
    const [{ Plan: plan }] = rows[0]['QUERY PLAN']
    return {
      rows: countRows(plan),
      tables: new Set(listTables(plan)),
      text: JSON.stringify(plan, null, 1),
    }
  } finally {
    await client.query('rollback')
    await client.query('deallocate all')
    client.release()
  }
}

/** As the server reads it, written out: the values of `execute` are text. */
function write(value: unknown): string {
  const plain = Buffer.isBuffer(value) ? (readList(value) ?? value) : value
  if (Buffer.isBuffer(plain)) return `\\x${plain.toString('hex')}`
  if (!Array.isArray(plain)) return String(plain)
  const items = plain.map((one: unknown) => (one === null ? 'null' : JSON.stringify(write(one))))
  return `{${items.join()}}`
}

/** What is in a list of the store's (connection/lists.ts); null: these are bytes and no list. */
function readList(buffer: Buffer): readonly unknown[] | null {
  if (buffer.length < 20) return null
  const [dimensions, hasNull, oid, size, first] = [0, 4, 8, 12, 16].map((at) => buffer.readInt32BE(at))
  const read = readers.get(oid ?? 0)
  if (dimensions !== 1 || first !== 1 || (hasNull ?? 0) >> 1 !== 0 || read === undefined) return null
  let at = 20
  return Array.from({ length: size ?? 0 }, () => {
    const bytes = buffer.readInt32BE(at)
    const from = at + 4
    at = from + Math.max(0, bytes)
    return bytes < 0 ? null : read(buffer.subarray(from, at))
  })
}

const readers: ReadonlyMap<number, (bytes: Buffer) => unknown> = new Map<number, (bytes: Buffer) => unknown>([
  [16, (bytes) => bytes[0] === 1],
  [17, (bytes) => bytes],
  [20, (bytes) => bytes.readBigInt64BE()],
  [21, (bytes) => bytes.readInt16BE()],
  [23, (bytes) => bytes.readInt32BE()],
  [25, (bytes) => bytes.toString()],
])

interface Node {
  readonly 'Actual Loops': number
  readonly 'Actual Rows': number
  readonly 'Rows Removed by Filter'?: number
  readonly 'Rows Removed by Index Recheck'?: number
  readonly 'Relation Name'?: string
  readonly Plans?: readonly Node[]
}

function listTables({ 'Actual Loops': loops, 'Relation Name': table, Plans: nodes = [] }: Node): string[] {
  return [...(table !== undefined && loops > 0 ? [table] : []), ...nodes.flatMap(listTables)]
}

function countRows(node: Node): number {
  const { 'Rows Removed by Filter': filtered = 0, 'Rows Removed by Index Recheck': rechecked = 0 } = node
  const each = node['Relation Name'] === undefined ? 0 : node['Actual Rows'] + filtered + rechecked
  return (node.Plans ?? []).reduce((sum, one) => sum + countRows(one), each * node['Actual Loops'])
}
