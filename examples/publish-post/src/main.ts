// Publishes a draft, with an agent's check, a person's review, and a look at what became of it.
import { parseArgs } from 'node:util'
import { type Answer, type Ask, createEngine, PawlError } from '@pawl/core'
import { attend, untilClosed } from '../../shared/src/attend.ts'
import { openStore } from '../../shared/src/store.ts'
import { hasTerminal, settleInTerminal } from '../../shared/src/terminal.ts'
import { publishPost } from './publish-post.ts'

const { values, positionals } = parseArgs({
  options: { yes: { type: 'boolean' }, careless: { type: 'boolean' } },
  allowPositionals: true,
})
const [slug = 'harbour-lights'] = positionals

const engine = await createEngine({
  store: await openStore('.pawl/publish-post.db'),
  procedures: [publishPost],
})
// The same post is the same run, however often this program is started.
const run = await engine.run(publishPost, { slug }, { id: `publish:${slug}` })
try {
  const outcome = await attend(engine, run, settle)
  if (outcome === undefined) console.log('The question stays open. Start it again to continue.')
  else console.log(`${slug}: ${outcome.status} (${outcome.why})`)
} catch (error) {
  if (!PawlError.is(error, 'run-failed')) throw error
  console.error(error.details.cause.message)
  process.exitCode = 1
}
await engine.stop()

async function settle(ask: Ask): Promise<boolean> {
  if (values.yes || values.careless) {
    await engine.inbox.answer(ask.id, answerTo(ask), { as: 'user:script' })
    return true
  }
  if (hasTerminal()) return (await settleInTerminal(engine, ask, 'user:you')) !== undefined
  console.log(`Waiting for an answer: ${ask.message}`)
  return untilClosed(engine, ask)
}

/** Agrees to everything, and has a post published a second later; a careless one spoils its links. */
function answerTo(ask: Ask): Answer {
  if (ask.kind !== 'review') return { choice: 'approve' }
  const post = ask.artifact as { readonly html: string }
  const html = values.careless ? post.html.replaceAll('href="', 'href="nowhere/') : post.html
  return {
    choice: 'approve',
    artifact: { ...post, html, publishAt: new Date(Date.now() + 1000).toISOString() },
  }
}
