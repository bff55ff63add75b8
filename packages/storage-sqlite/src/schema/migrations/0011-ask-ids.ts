import { sql } from 'kysely'
import type { Migration } from '../migration.ts'
import { queries } from '../queries.ts'

/** The key of the ids of asks. Unlike the id of the store it stays in a copy, so that ids in mails stay valid. */
export const askIds: Migration = {
  version: 11,
  name: 'ask-ids',
  statements: () => [
    {
      compile: () =>
        sql`insert into store_info (name, value) values ('ask-ids', lower(hex(randomblob(16))))`.compile(
          queries,
        ),
    },
  ],
}
