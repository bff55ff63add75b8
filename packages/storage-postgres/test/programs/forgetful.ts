import { connectTo } from '@pawl/core/storage'
import { postgres } from '@pawl/storage-postgres'

// Opens a store, watches it, reads something, and ends without closing it.
const port = connectTo(postgres(process.argv[2] ?? ''))
await port?.open()
port?.watch(() => {})
await port?.find('a')
