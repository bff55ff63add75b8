import { expect, test } from 'vitest'
import { z } from 'zod'
import { referringSchemas } from '../../../test/support/referring-schemas.ts'
import { describeNeeds, exampleOf } from '../src/answers/example.ts'
import { askForValue } from '../src/answers/form.ts'
import type { Terminal } from '../src/answers/terminal.ts'
import { inTerminal, noTerminal } from './support/terminal.ts'
import { createWorkspace, serve, type Workspace } from './support/workspace.ts'

async function runsOf(workspace: Workspace): Promise<readonly unknown[]> {
  return JSON.parse((await workspace.pawl('ls', '--json')).stdout) as readonly unknown[]
}

test('run without an input that is needed starts nothing, names the fields and shows an example', async () => {
  using workspace = await createWorkspace()
  const says = [
    'Procedure greet needs an input: name (string). No run was started.',
    'Pass it as JSON: `pawl run greet --input \'{"name":"..."}\'`.',
  ].join(' ')
  const text = await workspace.pawl('run', 'greet')
  expect(text).toMatchObject({ status: 2, stdout: '', stderr: expect.stringContaining(`Error: ${says}\n`) })
  const json = await workspace.pawl('run', 'greet', '--json')
  expect(json).toMatchObject({ status: 2, stderr: '' })
  expect(JSON.parse(json.stdout)).toMatchObject({ code: 'input-invalid', detail: says })
  expect(await runsOf(workspace)).toEqual([])
})

test('run with an invalid input starts nothing and names what is wrong', async () => {
  using workspace = await createWorkspace()
  const ran = await workspace.pawl('run', 'greet', '--input', '{"name":7}')
  expect(ran).toMatchObject({ status: 5, stderr: expect.stringContaining('The input is invalid: name: ') })
  expect(await runsOf(workspace)).toEqual([])
})

test('run asks for an input that is needed in a terminal, and again for what is refused', async ({
  skip,
}) => {
  skip(noTerminal !== undefined, noTerminal)
  using workspace = await createWorkspace()
  await using terminal = inTerminal(workspace, ['run', 'order', '--id', 'o:1'])
  await terminal.see('◆  item')
  terminal.type('ab')
  terminal.press('enter')
  await terminal.see('◆  where.town')
  terminal.type('Ulm')
  terminal.press('enter')
  await terminal.see('◆  express')
  terminal.press('enter')
  await terminal.see('item: Too small')
  await terminal.see('◆  item')
  terminal.type('c')
  terminal.press('enter')
  await terminal.see('◆  where.town')
  terminal.press('enter')
  await terminal.see('◆  express')
  terminal.press('enter')
  await terminal.see('Running o:1')
  expect(await terminal.end(), terminal.screen).toBe(0)
  const order = { item: 'abc', where: { town: 'Ulm' }, express: false }
  const { stdout } = await workspace.pawl('run', 'order', '--id', 'o:1', '--input', JSON.stringify(order))
  expect(JSON.parse(stdout)).toEqual(order)
})

test('run stops if what was refused is entered again, since no part of the input is a question', async ({
  skip,
}) => {
  skip(noTerminal !== undefined, noTerminal)
  using workspace = await createWorkspace()
  await using terminal = inTerminal(workspace, ['run', 'refusing'])
  await terminal.see('Error: The input is invalid: It is refused')
  expect(await terminal.end()).toBe(5)
  expect(await runsOf(workspace)).toEqual([])
})

test.for([
  ['run', 'add'],
  ['resume', 'a:1/0'],
])('%s refuses --procedures if the work is left to workers', async (command) => {
  using workspace = await createWorkspace()
  for (const elsewhere of [['--detach'], ['--server', 'http://127.0.0.1:9']]) {
    const ran = await workspace.pawl(...command, ...elsewhere, '--procedures', 'none.ts')
    expect(ran).toMatchObject({ status: 2, stdout: '' })
    expect(ran.stderr).toContain('workers use their own procedures. Omit `--procedures`.')
  }
})

test('run starts nothing if the question for the input is left by Ctrl-C', async ({ skip }) => {
  skip(noTerminal !== undefined, noTerminal)
  using workspace = await createWorkspace()
  await using terminal = inTerminal(workspace, ['run', 'greet'])
  await terminal.see('◆  name')
  terminal.press('ctrl-c')
  expect(await terminal.end()).toBe(130)
  expect(await runsOf(workspace)).toEqual([])
})

test('an example of a schema has what is required, and is bounded for a schema that contains itself', () => {
  const tree = {
    $ref: '#/$defs/tree',
    $defs: {
      tree: {
        type: 'object',
        properties: {
          id: { type: 'integer', minimum: 3 },
          kind: { enum: ['leaf', 'branch'] },
          size: { default: 2 },
          next: { anyOf: [{ $ref: '#/$defs/tree' }, { type: 'null' }] },
          note: { type: 'string' },
          tags: { type: 'array', minItems: 1, items: { type: 'string' } },
        },
        required: ['id', 'kind', 'size', 'next', 'tags'],
      },
    },
  }
  expect(exampleOf(tree)).toMatchObject({ id: 3, kind: 'leaf', next: null, tags: ['...'] })
  expect(exampleOf(tree)).not.toHaveProperty('size')
  const pair = z.tuple([z.string(), z.int().min(3)])
  expect(exampleOf(z.toJSONSchema(pair, { io: 'input' }))).toEqual(['...', 3])
  const endless = { type: 'object', properties: { next: { $ref: '#' } }, required: ['next'] }
  expect(exampleOf(endless)).toBe('...')
  expect(exampleOf(undefined)).toBe('...')
  expect(describeNeeds(tree)).toBe(
    'id (integer), kind ("leaf" or "branch"), next (object or null), tags (array)',
  )
  expect(describeNeeds({ type: 'string' })).toBe('string')
  expect(describeNeeds({})).toBe('any value')
})

test('an example of a schema that contains itself many times is small', () => {
  const names = Array.from({ length: 30 }, (_, n) => `f${n}`)
  const properties = Object.fromEntries(names.map((name) => [name, { $ref: '#' }]))
  expect(JSON.stringify(exampleOf({ type: 'object', properties, required: names })).length).toBeLessThan(
    10_000,
  )
})

test('a part that needs itself is entered as JSON', async () => {
  const terminal: Terminal = {
    choose: () => expect.unreachable(),
    chooseSeveral: () => expect.unreachable(),
    enter: async () => '{"next":1}',
    agree: () => expect.unreachable(),
  }
  const schema = { type: 'object', properties: { next: { $ref: '#' } }, required: ['next'] }
  expect(JSON.stringify(await askForValue(terminal, 'Order', schema, undefined))).toContain('"next":1')
  const named = { $ref: '#/$defs/a%20b', $defs: { 'a b': { const: 5 } } }
  expect(await askForValue(terminal, 'Order', named, undefined)).toBe(5)
})

test.each(referringSchemas)('a question for a part that $name', async (of) => {
  const { schema, entry, label, initial, valid } = of
  const answers: unknown[] = []
  const asked: (readonly [message: string, initial: unknown, placeholder: unknown])[] = []
  const terminal: Terminal = {
    async choose(_message, choices) {
      const isNull = answers[0] === null
      if (isNull) answers.shift()
      return (choices[isNull ? 1 : 0] as (typeof choices)[number]).value
    },
    chooseSeveral: () => expect.unreachable(),
    async enter(message, { initial: first = '', placeholder } = {}) {
      asked.push([message, first, placeholder])
      return String(answers.shift())
    },
    agree: () => expect.unreachable(),
  }
  for (const part of valid) {
    answers.push(...(entry === 'object' ? leavesOf(part) : [entry === 'json' ? JSON.stringify(part) : part]))
    expect(await askForValue(terminal, 'Order', schema, undefined)).toEqual({ part })
  }
  if (entry === 'object' || valid.length === 0) return
  expect(asked[0]).toEqual([label, initial ?? '', entry === 'json' ? 'JSON' : undefined])
})

/** Texts and nulls in the order in which they are asked for. */
function leavesOf(value: unknown): readonly unknown[] {
  return typeof value === 'object' && value !== null ? Object.values(value).flatMap(leavesOf) : [value]
}

test('a question begins with the default of its part, and names where the part is', async () => {
  const asked: (readonly [label: string, initial: unknown])[] = []
  const terminal: Terminal = {
    async choose(message, choices, initial) {
      asked.push([message, initial])
      return initial ?? (choices[0] as (typeof choices)[number]).value
    },
    async chooseSeveral(message, _choices, initial) {
      asked.push([message, initial])
      return initial
    },
    async enter(message, { initial = '' } = {}) {
      asked.push([message, initial])
      return initial
    },
    agree: () => expect.unreachable(),
  }
  const place = z.object({
    town: z.string().default('Ulm'),
    kinds: z.array(z.enum(['home', 'work'])).default(['work']),
  })
  // JSON has a code for each of its control characters.
  const sign = z.string().default('\x1b[2J\x9b')
  const schema = z.object({ count: z.int().default(3), express: z.boolean().default(false), place, sign })
  const value = await askForValue(terminal, 'Order', z.toJSONSchema(schema, { io: 'input' }), undefined)
  expect(value).toEqual({
    ...{ count: 3, express: false, place: { town: 'Ulm', kinds: ['work'] }, sign: '\x1b[2J\x9b' },
  })
  expect(asked).toEqual([
    ['count', '3'],
    ['express', false],
    ['place.town', 'Ulm'],
    ['place.kinds', ['work']],
    ['sign', '"\\u001b[2J\\u009b"'],
  ])
})

test('a server refuses a run without its input too, and the command says the same', async () => {
  using workspace = await createWorkspace()
  await using served = await serve(workspace)
  const ran = await served.pawl('run', 'greet')
  expect(ran, ran.stderr).toMatchObject({ status: 2, stdout: '' })
  expect(ran.stderr).toContain('Procedure greet needs an input: name (string). No run was started.')
  expect(await runsOf(served)).toEqual([])
})
