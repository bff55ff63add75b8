import { connectTo } from '@pawl/core/storage'
import { postgres } from '@pawl/storage-postgres'

// Opens a store, watches it, reads something, and ends without closing it: `forgetful <url> [<schema>]`. Writes
// how many ms it stayed after that.
const [, , url = '', schema = 'pawl'] = process.argv
const port = connectTo(postgres(url, { schema }))
await port?.open()
port?.watch(() => {})
await port?.runs.find('a')
const doneAt = performance.now()
process.once('exit', () => process.stdout.write(String(performance.now() - doneAt)))
