// Builds the inbox, unless what was built is newer than its sources.  usage: node --import tsx scripts/build-inbox.ts
import buildInbox from '../test/inbox/support/build.ts'

await buildInbox()
