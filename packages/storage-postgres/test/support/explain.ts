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
      `explain (analyze, format json) execute explained(${literals.join()})`,
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

/** As the server reads it. The store hands over lists as text, save those of bytes. */
function write(value: unknown): string {
  if (Buffer.isBuffer(value)) return `\\x${value.toString('hex')}`
  if (!Array.isArray(value)) return String(value)
  const items = value.map((one: unknown) => (one === null ? 'null' : JSON.stringify(write(one))))
  return `{${items.join()}}`
}

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
