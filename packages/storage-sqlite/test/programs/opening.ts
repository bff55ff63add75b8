// Opens a store with the default driver, and prints what that says.
import { connectTo, PawlError, type StorePort } from '@pawl/core/storage'
import { sqlite } from '@pawl/storage-sqlite'

const store = connectTo(sqlite(process.argv[2] ?? '')) as StorePort
const opened = await store.open().catch((error: unknown) => error)
console.log(
  JSON.stringify(
    PawlError.is(opened, 'store-unusable')
      ? { what: opened.message, remedy: opened.details.remedy }
      : String(opened),
  ),
)
await store.close()
