import { execFile } from 'node:child_process'
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { expect, test } from 'vitest'
import { bundle } from '../../../test/support/bundle.ts'
import plugin from '../src/index.ts'

const root = join(import.meta.dirname, '../../..')

/** A TypeScript file; each line that ends in a comment is reported by the rule it names, and no other line is. */
const program = `import { readFile } from 'node:fs/promises'
import { type Ctx, type CtxOf, procedure } from '@pawl/core'

export const pay = procedure({ name: 'pay' }, async (ctx, input: { readonly amount: number }) => {
  ctx.human.approve('Pay?') // await-operations
  const ok = (await ctx.human.approve('Pay?')) as { readonly approved: boolean }
  if (ok) await ctx.step('pay', () => Date.now()) // no-result-as-condition
  const at = Date.now() // no-nondeterminism
  await readFile('rates.json') // effects-in-steps
  await ctx.step('outer', async () => {
    await ctx.sleep('1s') // no-operation-in-step
  })
  return at + input.amount
})

async function help(order: string, ctx: Ctx): Promise<void> {
  ctx.step('log', () => order) // await-operations
  await ctx.shield(async (ctx): Promise<void> => {
    ctx.sleep('1s') // await-operations
  })
}

export const wait = async (ctx: CtxOf<typeof pay>): Promise<Date> => {
  const started = new Date() // no-nondeterminism
  await help('a', ctx)
  await (ctx.sleep('1s') satisfies Promise<void>)
  return started
}

export function other(ctx: { readonly step: (name: string) => Promise<void> }): void {
  ctx.step('not ours')
}
`

test('oxlint reports the same of TypeScript', async () => {
  const built = await bundle(join(import.meta.dirname, '../src/index.ts'))
  mkdirSync(join(root, '.cache'), { recursive: true })
  const folder = mkdtempSync(join(root, '.cache/oxlint-'))
  try {
    writeFileSync(join(folder, 'program.ts'), program)
    const rules = Object.fromEntries(Object.keys(plugin.rules ?? {}).map((name) => [`pawl/${name}`, 'error']))
    const config = {
      jsPlugins: [{ name: 'pawl', specifier: built }],
      categories: { correctness: 'off' },
      rules,
    }
    writeFileSync(join(folder, '.oxlintrc.json'), JSON.stringify(config))
    const report = await oxlint(folder)
    const expected = program.split('\n').flatMap((line, index) => {
      const rule = / \/\/ (\S+)$/.exec(line)?.[1]
      return rule === undefined ? [] : [`${index + 1} pawl(${rule})`]
    })
    expect(report).toEqual(expected)
  } finally {
    rmSync(folder, { recursive: true, force: true })
    rmSync(dirname(built), { recursive: true, force: true })
  }
})

interface Report {
  readonly diagnostics: readonly {
    readonly code: string
    readonly labels: readonly { readonly span: { readonly line: number } }[]
  }[]
}

/** Runs oxlint and returns the line and the rule of each report, in order. */
async function oxlint(folder: string): Promise<readonly string[]> {
  const bin = join(root, 'node_modules/oxlint/bin/oxlint')
  const args = [bin, '-c', '.oxlintrc.json', '--format=json', '--no-ignore', 'program.ts']
  const output = await new Promise<string>((resolve) => {
    execFile(process.execPath, args, { cwd: folder }, (_error, stdout, stderr) => resolve(stdout || stderr))
  })
  const { diagnostics } = JSON.parse(output) as Report
  return diagnostics
    .map(({ code, labels }) => ({ code, line: labels[0]?.span.line ?? 0 }))
    .toSorted((a, b) => a.line - b.line)
    .map(({ code, line }) => `${line} ${code}`)
}
