import type { Connection } from '../connection/connection.ts'
import type { Statements } from '../statements.ts'
import type { Transactions } from '../transactions.ts'

/** What the concerns of a store are made of. */
export interface StoreParts {
  readonly connection: Connection<Statements>
  readonly transactions: Transactions
}
