import { execFile } from 'node:child_process'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { expect, onTestFinished, test } from 'vitest'

const root = fileURLToPath(new URL('../../../../', import.meta.url))

// The sentences are written for people: they must be in what the compiler prints.
const refusals = [
  {
    mistake: `ctx.receive('paid')`,
    sentence: 'this procedure declares no signals: add signals: { name: schema } to procedure({ … })',
  },
  {
    mistake: `client.get(hello, 'a').signal('paid')`,
    sentence: 'this procedure declares no signals: add signals: { name: schema } to procedure({ … })',
  },
  {
    mistake: `ctx.human.approve('Delete it?', { timeout: '1h', onTimeout: 'approve' })`,
    sentence: `onTimeout: 'approve' requires risk: 'low' or 'medium'`,
  },
  {
    mistake: `ctx.human.approve('Delete it?', { risk: 'high', timeout: '1h', onTimeout: 'approve' })`,
    sentence: `onTimeout: 'approve' requires risk: 'low' or 'medium'`,
  },
  ...[`{ timeout: '1h' }`, '{ timeout: null }', '{ onTimeout: null }', `{ onTimeout: 'fail' }`].map(
    (options) => ({
      mistake: `ctx.human.escalate('Totals differ', ${options})`,
      sentence: 'escalate waits until a person resolves it; use select with a timeout instead',
    }),
  ),
  ...[
    `ctx.human.approve('Delete it?', { onTimeout: 'fail' })`,
    `ctx.human.approve('Delete {n}?', { data: { n: 1 }, onTimeout: { escalateTo: 'user:ana' } })`,
    `ctx.human.input('Who?', z.string(), { onTimeout: { default: 'x' } })`,
    `ctx.human.select('Where to?', ['a', 'b'], { onTimeout: 'escalate' })`,
    `ctx.human.review('Fine?', 'text', { editable: true, onTimeout: 'keep-waiting' })`,
    `ctx.human.review('Fine?', 'text', { onTimeout: null })`,
  ].map((mistake) => ({
    mistake,
    sentence: "onTimeout says what happens when the timeout passes: add a timeout, such as timeout: '1h'",
  })),
]

test('explains every type error with a sentence', async () => {
  const printed = await compile([
    `import { type Client, type Ctx, procedure } from '${root}packages/core/src/index.ts'`,
    `import { z } from '${root}node_modules/zod/index.js'`,
    'declare const ctx: Ctx',
    'declare const client: Client',
    `const hello = procedure({ name: 'hello' }, async () => 1)`,
    ...refusals.map(({ mistake }) => mistake),
  ])
  for (const [index, { sentence }] of refusals.entries()) {
    const line = index + 6
    const about = printed.filter((message) => message.startsWith(`refused.ts(${line},`))
    expect(about.join('\n')).toContain(sentence)
  }
  expect(printed.filter((message) => message.startsWith('refused.ts('))).toHaveLength(refusals.length)
})

/** What the compiler says about a program, one text per mistake. */
async function compile(lines: readonly string[]): Promise<readonly string[]> {
  const folder = await mkdtemp(join(tmpdir(), 'pawl-refusals-'))
  onTestFinished(() => rm(folder, { recursive: true }))
  const config = {
    extends: `${root}tsconfig.test.json`,
    compilerOptions: { typeRoots: [`${root}node_modules/@types`], rewriteRelativeImportExtensions: false },
    include: ['*.ts'],
  }
  await writeFile(join(folder, 'package.json'), JSON.stringify({ type: 'module' }))
  await writeFile(join(folder, 'tsconfig.json'), JSON.stringify(config))
  await writeFile(join(folder, 'refused.ts'), lines.join('\n'))
  const compiler = `${root}node_modules/typescript/bin/tsc`
  const run = promisify(execFile)(process.execPath, [compiler, '--pretty', 'false', '-p', '.'], {
    cwd: folder,
  })
  const stdout = await run.then(
    (done) => done.stdout,
    (failed: { readonly stdout: string }) => failed.stdout,
  )
  return stdout.split(/\n(?=\S)/).filter((message) => message.trim() !== '')
}
