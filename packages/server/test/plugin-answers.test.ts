import { type AnsweredBy, createEngine, type PluginHost, procedure } from '@pawl/core'
import { createServer, type ServerOptions } from '@pawl/server'
import { memory } from '@pawl/testing'
import { expect, onTestFinished, test } from 'vitest'

const logger = { debug() {}, info() {}, warn() {}, error() {} }
const approve = procedure({ name: 'approve' }, (ctx) => ctx.human.approve('Go?', { to: 'group:ops' }))
const yes = { approved: true }

/** An ask of a run that ana has started, and the host of a plug-in of an engine with a server. */
async function ask(options: Partial<ServerOptions>) {
  let host: PluginHost | undefined
  const engine = await createEngine({
    store: memory(),
    procedures: [approve],
    logger,
    plugins: [
      {
        name: 'chat',
        start: (_, given) => {
          host = given
        },
      },
    ],
  })
  const server = createServer({ client: engine, auth: () => null, logger, ...options })
  onTestFinished(async () => {
    await server.stop()
    await engine.stop()
  })
  const run = await engine.run(approve, undefined, { by: 'user:ana' })
  const asked = await engine.inbox.next({ run: run.id })
  return { run, answer: (by: AnsweredBy) => (host as PluginHost).answer(asked, yes, by) }
}

const names = ['group:ops'] as const

test.each<[string, AnsweredBy]>([
  ['answers', { as: 'user:ana', names }],
  ['acts for another', { as: 'user:bob', actedBy: 'user:ana', names }],
  ['is acted for', { as: 'user:ana', actedBy: 'user:bob', names }],
  ['is acted for by a program', { as: 'user:ana', actedBy: 'system:crm', names }],
  ['has made the link of another', { as: 'user:bob', madeBy: 'user:ana', names }],
])('a server with `selfApproval: false` binds a plug-in if who started the run %s', async (_, by) => {
  const { run, answer } = await ask({ selfApproval: false })
  await expect(answer(by)).rejects.toMatchObject({
    code: 'answer-forbidden',
    message: expect.stringContaining('user:ana started the run'),
  })
  await answer({ as: 'user:bob', actedBy: 'user:eve', madeBy: 'system:crm', names })
  expect(await run.result()).toMatchObject({ approved: true, by: 'user:bob' })
})

test('`may` of a server judges the one who acts for the person', async () => {
  const { run, answer } = await ask({ may: ({ actor }) => actor !== 'user:eve' })
  await expect(answer({ as: 'user:bob', actedBy: 'user:eve', names })).rejects.toMatchObject({
    code: 'answer-forbidden',
    message: expect.stringContaining('user:eve may not answer'),
  })
  await answer({ as: 'user:bob', actedBy: 'system:crm', names })
  expect(await run.result()).toMatchObject({ approved: true, by: 'user:bob' })
})
