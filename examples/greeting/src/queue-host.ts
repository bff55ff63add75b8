// The host of the reviewers' queue. It knows nothing of Pawl: it reads the files of requests, and writes those of replies.
import { readdir, readFile, rename, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { createInterface } from 'node:readline/promises'
import { parseArgs } from 'node:util'
import { queues } from './queues.ts'

interface Request {
  readonly ask: string
  readonly run: string
  readonly message: string
  readonly artifact: string
  readonly sections: readonly { readonly title: string; readonly body: unknown }[]
  readonly decisions: readonly string[]
}

const { values } = parseArgs({
  options: { choice: { type: 'string' }, comment: { type: 'string' }, as: { type: 'string' } },
})
const folder = join(queues, 'greeting-reviewers', 'approvals')
const files = await readdir(join(folder, 'requests')).catch(() => [])
const waiting = files.filter((file) => !file.startsWith('.'))
console.log(`${waiting.length} waiting in ${folder}`)
for (const file of waiting) {
  const request = JSON.parse(await readFile(join(folder, 'requests', file), 'utf8')) as Request
  console.log(`${request.run}: ${request.message}\n  ${request.artifact}`)
  for (const { title, body } of request.sections) console.log(`  ${title}: ${String(body)}`)
  const decision = values.choice ?? (await pick(request.decisions))
  await reply(file, { decision, ...(values.comment === undefined ? {} : { comment: values.comment }) })
  console.log(`${request.run}: ${decision}`)
}

async function pick(decisions: readonly string[]): Promise<string> {
  const terminal = createInterface(process.stdin, process.stdout)
  const given = await terminal.question(`  ${decisions.join(', ')}? `)
  terminal.close()
  return given.trim()
}

/** Under another name first, so that a half-written reply is never read. */
async function reply(file: string, resolution: object): Promise<void> {
  const unfinished = join(folder, 'replies', `.${file}`)
  await writeFile(unfinished, JSON.stringify({ by: `user:${values.as ?? 'reviewer'}`, resolution }))
  await rename(unfinished, join(folder, 'replies', file))
}
