import type { Database } from '../connection/database.ts'
import type { Ownership } from '../connection/ownership.ts'
import type { Hints } from '../watch.ts'
import type { Claiming } from '../writes/claim.ts'

/** What the concerns of a store are made of. */
export interface StoreParts {
  readonly database: Database
  readonly ownership: Ownership
  readonly hints: Hints
  readonly claiming: Claiming
}
