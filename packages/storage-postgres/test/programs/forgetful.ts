import { connectTo } from '@pawl/core/storage'
import { postgres } from '@pawl/storage-postgres'

// Opens a store, watches it, reads something, and ends without closing it: `forgetful <url> [<schema>]`.
const [, , url = '', schema = 'pawl'] = process.argv
const port = connectTo(postgres(url, { schema }))
await port?.open()
port?.watch(() => {})
await port?.find('a')
