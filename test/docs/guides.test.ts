import { readPages } from './support/pages.ts'
import { runPages } from './support/run-pages.ts'

// The programs of the errors have a file of their own; those that need a server run beside the store they are about.
runPages(
  readPages().filter(
    ({ path, text }) => !path.startsWith('docs/errors/') && !text.includes("'@pawl/storage-postgres'"),
  ),
)
