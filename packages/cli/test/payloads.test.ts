import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createEngine, procedure } from '@pawl/core'
import { sqlite } from '@pawl/storage-sqlite'
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { z } from 'zod'
import { runCommand } from '../src/program.ts'

const payloads = fc.letrec((tie) => ({
  value: fc.oneof(
    { depthSize: 'small' },
    fc.constantFrom(null, undefined, true, false, Number.NaN, -0, Number.POSITIVE_INFINITY),
    fc.double(),
    fc.string({ unit: 'grapheme' }),
    fc.bigInt(),
    fc.date({ noInvalidDate: false }),
    fc.uint8Array(),
    fc.array(tie('value')),
    fc.array(tie('value')).map((items) => new Set(items)),
    fc.array(fc.tuple(tie('value'), tie('value'))).map((pairs) => new Map(pairs)),
    fc.dictionary(fc.oneof(fc.string(), fc.constantFrom('$pawl', 'value')), tie('value'), {
      noNullPrototype: true,
    }),
  ),
})).value

const echo = procedure({ name: 'echo', input: z.unknown() }, (ctx, input) => ctx.step('echo', () => input))

test('all types of payloads go in by --input and --edit, and come out by --json', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'pawl-payloads-'))
  const file = join(folder, 'pawl.db')
  const pawl = async (...args: readonly string[]): Promise<unknown> => {
    const written: string[] = []
    const stdout = { write: (text: string) => written.push(text) }
    const status = await runCommand([...args, '--store', file, '--json'], {
      ...{ cwd: folder, env: {}, signal: new AbortController().signal },
      ...{ stdin: {}, stdout, stderr: { write: () => {} } },
    })
    expect(status, written.join('')).toBe(0)
    return JSON.parse(written.join(''))
  }
  /** Writes the result of the only step of a run, as the log prints it, to a file. */
  const write = async (run: string): Promise<string> => {
    const [entry] = (await pawl('log', run)) as readonly { readonly result: unknown }[]
    writeFileSync(join(folder, 'value.json'), JSON.stringify(entry?.result))
    return '@value.json'
  }
  const silent = { debug() {}, info() {}, warn() {}, error() {} }
  const engine = await createEngine({ store: sqlite(file), procedures: [echo], logger: silent })
  let n = 0
  const many = fc.array(payloads, { minLength: 40, maxLength: 40 })
  try {
    const law = fc.asyncProperty(many, async (values) => {
      const [typed, run, fork] = [`t:${n}`, `r:${n}`, `f:${n++}`] as const
      await (await engine.run(echo, values, { id: typed })).result()
      const value = await write(typed)
      await pawl('run', 'echo', '--id', run, '--input', value, '--detach')
      expect(await engine.get(run).result()).toStrictEqual(values)
      await (await engine.run(echo, 'other', { id: `o:${run}` })).result()
      await pawl('fork', `o:${run}`, '--at', '1', '--edit', `0=${value}`, '--id', fork)
      expect(await engine.get(fork).result()).toStrictEqual(values)
      await write(fork)
      expect(JSON.parse(readFileSync(join(folder, 'value.json'), 'utf8'))).toEqual(
        ((await pawl('log', typed)) as readonly { readonly result: unknown }[])[0]?.result,
      )
    })
    await fc.assert(law, { numRuns: 3 })
  } finally {
    await engine.stop()
    rmSync(folder, { recursive: true, force: true })
  }
})
