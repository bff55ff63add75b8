import { RuleTester } from 'eslint'
import { describe, it } from 'vitest'
import plugin from '../src/index.ts'

RuleTester.describe = describe
RuleTester.it = it
const plain = new RuleTester()

/** A procedure with a body. */
const inBody = (body: string): string =>
  `import { procedure } from '@pawl/core'\nexport const pay = procedure({ name: 'pay' }, async (ctx, input) => {\n${body}\n})`

interface Wrong {
  readonly code: string
  readonly messageId: string
  /** What a fix that is applied by itself makes of it. */
  readonly fixed?: string
  /** What the suggested one makes of it. */
  readonly suggested?: string
}

const suggestionIds: Readonly<Record<string, string>> = {
  'await-operations': 'add',
  'no-nondeterminism': 'replace',
  'no-result-as-condition': 'check',
}

function run(name: string, valid: readonly string[], invalid: readonly Wrong[]): void {
  const rule = plugin.rules?.[name]
  if (rule === undefined) throw new Error(`There is no rule ${name}.`)
  const messageId = suggestionIds[name] ?? ''
  const cases = {
    valid: valid.map((body) => inBody(body)),
    invalid: invalid.map(({ code, messageId: id, fixed, suggested }) => ({
      code: inBody(code),
      output: fixed === undefined ? null : inBody(fixed),
      errors: [
        {
          messageId: id,
          suggestions: suggested === undefined ? [] : [{ messageId, output: inBody(suggested) }],
        },
      ],
    })),
  }
  plain.run(name, rule, cases)
}

run(
  'await-operations',
  [
    "await ctx.human.approve('Pay?')",
    "return ctx.step('pay', pay)",
    "const a = ctx.step('a', a1); const b = ctx.step('b', b1); await Promise.all([a, b])",
    "const asked = ctx.human.approve('Pay?'); if (late) return; return asked",
    "void ctx.step('log', log)",
    "await ctx.step('a', a1).catch(() => {})",
    "const { approved } = await ctx.human.approve('Pay?')",
    "ctx.expose('title', 'x'); ctx.log.info('y'); ctx.progress({ done: 1 })",
    "other.human.approve('Pay?')",
    "{ const ctx = other(); ctx.step('pay', pay) }",
    "items.map((item) => ctx.step('a', () => item))",
  ],
  [
    { code: "ctx.human.approve('Pay?')", messageId: 'ask', suggested: "await ctx.human.approve('Pay?')" },
    { code: "ctx.step('pay', pay)", messageId: 'floating', suggested: "await ctx.step('pay', pay)" },
    {
      code: "void ctx.human.approve('Pay?')",
      messageId: 'ask',
      suggested: "void await ctx.human.approve('Pay?')",
    },
    {
      code: "const answer = ctx.human.approve('Pay?')",
      messageId: 'ask',
      suggested: "const answer = await ctx.human.approve('Pay?')",
    },
    {
      code: "const { approved } = ctx.human.approve('Pay?'); if (approved) pay()",
      messageId: 'unread',
      suggested: "const { approved } = await ctx.human.approve('Pay?'); if (approved) pay()",
    },
    {
      code: "if (ctx.human.approve('Pay?').approved) pay()",
      messageId: 'unread',
      suggested: "if ((await ctx.human.approve('Pay?')).approved) pay()",
    },
    {
      code: "ctx.step('pay', pay).catch(() => {})",
      messageId: 'floating',
      suggested: "await ctx.step('pay', pay).catch(() => {})",
    },
    {
      code: "await ctx.race({ a: async (ctx) => { ctx.sleep('1h') }, b: (ctx) => ctx.sleep('2h') })",
      messageId: 'floating',
      suggested:
        "await ctx.race({ a: async (ctx) => { await ctx.sleep('1h') }, b: (ctx) => ctx.sleep('2h') })",
    },
    { code: 'items.forEach((item) => { ctx.call(child, item) })', messageId: 'floating' },
  ],
)

run(
  'no-result-as-condition',
  [
    "if ((await ctx.human.approve('Pay?')).approved) pay()",
    "const { approved } = await ctx.human.approve('Pay?'); if (approved) pay()",
    "const sent = await ctx.gate('send', gate); if (!sent.done) return",
    "const received = await ctx.receive('paid', { timeout: '1h' }); if (received) pay()",
    "const answer = await ctx.human.approve('Pay?'); const shown = answer ?? none; return shown",
    'if (input) pay()',
  ],
  [
    {
      code: "if (await ctx.human.approve('Pay?')) pay()",
      messageId: 'always',
      suggested: "if ((await ctx.human.approve('Pay?')).approved) pay()",
    },
    {
      code: "const ok = await ctx.human.approve('Pay?'); if (ok) pay()",
      messageId: 'always',
      suggested: "const ok = await ctx.human.approve('Pay?'); if (ok.approved) pay()",
    },
    {
      code: "const ok = await ctx.human.approve('Pay?'); if (!ok) return",
      messageId: 'always',
      suggested: "const ok = await ctx.human.approve('Pay?'); if (!ok.approved) return",
    },
    {
      code: "const ok = await ctx.human.approve('Pay?'); return ok ? pay() : null",
      messageId: 'always',
      suggested: "const ok = await ctx.human.approve('Pay?'); return ok.approved ? pay() : null",
    },
    {
      code: "const ok = await ctx.human.approve('Pay?'); if (isLarge && ok) pay()",
      messageId: 'always',
      suggested: "const ok = await ctx.human.approve('Pay?'); if (isLarge && ok.approved) pay()",
    },
    {
      code: "const sent = await ctx.gate('send', gate); if (sent) done()",
      messageId: 'always',
      suggested: "const sent = await ctx.gate('send', gate); if (sent.done) done()",
    },
    {
      code: "const ok = await ctx.human.approve('Pay?'); return Boolean(ok)",
      messageId: 'always',
      suggested: "const ok = await ctx.human.approve('Pay?'); return Boolean(ok.approved)",
    },
  ],
)

run(
  'no-operation-in-step',
  [
    "await ctx.step('pay', () => pay(ctx.runId))",
    "await ctx.step('pay', () => { ctx.log.info('now') })",
    "await ctx.shield((ctx) => ctx.step('pay', pay))",
    "await ctx.map(items, { limit: 2 }, (ctx, item) => ctx.step('a', () => item))",
  ],
  [
    { code: "await ctx.step('outer', () => ctx.step('inner', pay))", messageId: 'nested' },
    {
      code: "await ctx.gate('send', { run: async () => { await ctx.sleep('1s') } })",
      messageId: 'nested',
    },
    {
      code: "const body = () => ctx.human.input('Name?', s); await ctx.step('a', body)",
      messageId: 'nested',
    },
    { code: "ctx.onRollback('undo', () => ctx.call(child))", messageId: 'nested' },
  ],
)

run(
  'no-nondeterminism',
  [
    'const now = ctx.now(); const then = new Date(0); return then < now',
    "await ctx.step('now', () => Date.now())",
    "const roll = () => Math.random(); await ctx.step('roll', roll)",
    'const Date = clock(); Date.now()',
    "await ctx.step('wait', async () => { setTimeout(done, 10) })",
  ],
  [
    {
      code: 'const at = Date.now()',
      messageId: 'differs',
      fixed: 'const at = ctx.now().getTime()',
    },
    { code: 'const at = new Date()', messageId: 'differs', fixed: 'const at = ctx.now()' },
    { code: 'const die = Math.random()', messageId: 'differs', suggested: 'const die = ctx.random()' },
    { code: 'const id = crypto.randomUUID()', messageId: 'differs', suggested: 'const id = ctx.uuid()' },
    {
      code: 'const id = globalThis.crypto.randomUUID()',
      messageId: 'differs',
      suggested: 'const id = ctx.uuid()',
    },
    { code: 'setTimeout(() => pay(), 1000)', messageId: 'differs' },
    {
      code: 'const all = items.map(() => Math.random())',
      messageId: 'differs',
      suggested: 'const all = items.map(() => ctx.random())',
    },
  ],
)

run(
  'effects-in-steps',
  [
    "await ctx.step('get', () => fetch(url))",
    'const fetch = input.fetch; fetch(url)',
    'return input.fetch(url)',
  ],
  [
    { code: 'const reply = await fetch(url)', messageId: 'outside' },
    { code: 'await Promise.all(urls.map((url) => globalThis.fetch(url)))', messageId: 'outside' },
  ],
)

const imported = `import { randomUUID } from 'node:crypto'
import fs, { readFileSync } from 'node:fs'
import { setTimeout as sleep } from 'node:timers/promises'
import { procedure as define } from '@pawl/core'
`

plain.run('effects-in-steps', plugin.rules?.['effects-in-steps'] as never, {
  valid: [
    `${imported} readFileSync('a')`,
    `${imported} define({ name: 'a' }, async (ctx) => ctx.step('read', () => readFileSync('a')))`,
  ],
  invalid: [
    {
      code: `${imported} define({ name: 'a' }, async (ctx) => { readFileSync('a'); fs.promises.readFile('b') })`,
      errors: [{ messageId: 'outside' }, { messageId: 'outside' }],
    },
  ],
})

plain.run('no-nondeterminism', plugin.rules?.['no-nondeterminism'] as never, {
  valid: [`${imported} sleep(10)`],
  invalid: [
    {
      code: `${imported} define({ name: 'a' }, async (run) => { await sleep(10); return randomUUID() })`,
      errors: [
        { messageId: 'differs' },
        {
          messageId: 'differs',
          suggestions: [
            {
              messageId: 'replace',
              output: `${imported} define({ name: 'a' }, async (run) => { await sleep(10); return run.uuid() })`,
            },
          ],
        },
      ],
    },
  ],
})
