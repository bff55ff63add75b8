import { join } from 'node:path'

/** Where this example keeps its files: the payments ledger, the diary and, unless PAWL_STORE says otherwise, the database. */
export function fileOf(name: string): string {
  return join(process.env['REFUND_FOLDER'] || '.pawl/refund', name)
}
