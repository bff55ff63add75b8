import type { Readable, Writable } from 'node:stream'
import { isCancel, log, note, select, text } from '@clack/prompts'
import { type Actor, type Answer, type Ask, type Client, PawlError } from '@pawl/core'

/** Where the person sits. Default: the terminal of this process. */
export interface Terminal {
  readonly input?: Readable
  readonly output?: Writable
}

/** Whether there is a person to ask: not in a pipe, not in CI. */
export function hasTerminal(): boolean {
  return process.stdin.isTTY === true && process.stdout.isTTY === true
}

/**
 * Puts an open question to the person at the terminal until it is settled. An answer that is refused leaves
 * the question open, so the person is shown why and asked again.
 * @returns the answer; undefined when the person left (Ctrl-C) or another person was faster
 */
export async function settleInTerminal(
  client: Client,
  ask: Ask,
  as: Actor,
  terminal: Terminal = {},
): Promise<Answer | undefined> {
  show(ask, terminal)
  for (;;) {
    const answer = await readAnswer(ask, terminal)
    if (answer === undefined) return undefined
    try {
      await client.inbox.answer(ask.id, answer, { as })
      return answer
    } catch (error) {
      if (PawlError.is(error, 'ask-closed')) {
        log.warn(`${error.details.winner?.by ?? 'The clock'} was faster.`, terminal)
        return undefined
      }
      if (!PawlError.is(error, 'answer-invalid')) throw error
      log.error(error.details.issues.map(({ path, message }) => `${path} ${message}`).join('\n'), terminal)
    }
  }
}

/** Everything a person should see before they answer. */
function show(ask: Ask, terminal: Terminal): void {
  const lines = [
    ask.message,
    '',
    ...Object.entries((ask.params as object | undefined) ?? {}).map(
      ([name, value]) => `${name}: ${print(value)}`,
    ),
    ...(ask.artifact === undefined ? [] : [print(ask.artifact)]),
    ...ask.details.map(({ title, body }) => `${title}: ${print(body)}`),
    ...ask.links.map(({ label, url }) => `${label}: ${url}`),
    ...(ask.risk === undefined ? [] : [`Risk: ${ask.risk.level}`]),
    ...(ask.dueAt === undefined ? [] : [`Until ${ask.dueAt.toLocaleString()}, then ${ask.onTimeout}`]),
  ]
  note(lines.join('\n').trim(), `${ask.procedure} asks`, terminal)
}

function print(value: unknown): string {
  if (typeof value !== 'object' || value === null || value instanceof Date) return shorten(String(value))
  const parts = Object.entries(value).map(
    ([name, part]) => `${name}: ${typeof part === 'string' ? part : JSON.stringify(part)}`,
  )
  return parts.map(shorten).join('\n')
}

/** A long text is for the preview, not for the terminal. */
function shorten(text: string): string {
  const lines = text.split('\n')
  return lines.length <= 4 ? text : [...lines.slice(0, 3), `… and ${lines.length - 3} lines more`].join('\n')
}

const prompt = 'Your answer?'

/** One answer of the kind the question takes; undefined when the person left. */
function readAnswer(ask: Ask, terminal: Terminal): Promise<Answer | undefined> {
  switch (ask.kind) {
    case 'approve':
      return readApproval(ask, terminal)
    case 'input':
      return readInput(ask, terminal)
    case 'review':
      return readReview(ask, terminal)
    case 'select':
    case 'escalate':
    case 'decide':
      return readChoice(ask, terminal)
  }
}

async function readApproval(ask: Ask, terminal: Terminal): Promise<Answer | undefined> {
  const change =
    ask.editable.length > 0 ? [{ value: 'change', label: `Change the ${ask.editable.join(', ')}` }] : []
  const picked = await select({
    message: prompt,
    options: [{ value: 'approve', label: 'Approve' }, { value: 'reject', label: 'Reject' }, ...change],
    ...terminal,
  })
  if (isCancel(picked)) return undefined
  if (picked !== 'change') return { approved: picked === 'approve' }
  const params = await readFields(ask.params as Fields, ask.editable, terminal)
  return params && { approved: true, params }
}

async function readChoice(ask: Ask, terminal: Terminal): Promise<Answer | undefined> {
  const choice = await pick(prompt, ask.choices.map(choiceOption), terminal)
  return choice === undefined ? undefined : { choice }
}

const editing = 'edit the text'

async function readReview(ask: Ask, terminal: Terminal): Promise<Answer | undefined> {
  const edit = ask.editable.length > 0 ? [{ value: editing, label: 'Edit first' }] : []
  let artifact = ask.artifact
  for (;;) {
    const choice = await pick(prompt, [...ask.choices.map(choiceOption), ...edit], terminal)
    if (choice === undefined) return undefined
    if (choice === editing) {
      const edited = await readArtifact(artifact, terminal)
      if (edited === undefined) return undefined
      artifact = edited
      continue
    }
    const wantsComment = choice !== ask.choices[0]?.value
    const comment = wantsComment ? await readText('Why? (may be left empty)', '', terminal) : undefined
    return { choice, ...(artifact === ask.artifact ? {} : { artifact }), ...(comment ? { comment } : {}) }
  }
}

/** Line by line; what has more lines than one is left as it is. */
async function readArtifact(artifact: unknown, terminal: Terminal): Promise<unknown> {
  if (typeof artifact === 'string') return readText('New text', artifact, terminal)
  const fields = artifact as Fields
  const names = Object.keys(fields).filter((name) => !String(fields[name]).includes('\n'))
  return readFields(fields, names, terminal)
}

function choiceOption({ value, label, effect }: Ask['choices'][number]): Option {
  return { value, label, ...(effect === undefined ? {} : { hint: effect }) }
}

// ── forms

type Fields = { readonly [name: string]: unknown }
interface Option {
  readonly value: string
  readonly label?: string
  readonly hint?: string
}
interface FieldSchema {
  readonly type?: string
  readonly enum?: readonly string[]
  readonly properties?: { readonly [name: string]: FieldSchema }
}

/** A form made from the JSON Schema of the question. */
async function readInput(ask: Ask, terminal: Terminal): Promise<Answer | undefined> {
  const schema = (ask.schema ?? {}) as FieldSchema
  if (schema.properties === undefined) {
    const value = await readField(prompt, schema, ask.initial, terminal)
    return value === undefined ? undefined : { value }
  }
  const value: { [name: string]: unknown } = {}
  for (const [name, field] of Object.entries(schema.properties)) {
    value[name] = await readField(name, field, (ask.initial as Fields | undefined)?.[name], terminal)
    if (value[name] === undefined) return undefined
  }
  return { value }
}

function readField(
  name: string,
  { type, enum: values }: FieldSchema,
  initial: unknown,
  terminal: Terminal,
): Promise<unknown> {
  if (values !== undefined)
    return pick(
      name,
      values.map((value) => ({ value })),
      terminal,
    )
  const given = typeof initial === 'string' || typeof initial === 'number' ? String(initial) : ''
  return type === 'number' || type === 'integer'
    ? readNumber(name, given, terminal)
    : readText(name, given, terminal)
}

/** The fields with the named ones read anew, each of the type it had. */
async function readFields(
  fields: Fields,
  names: readonly string[],
  terminal: Terminal,
): Promise<Fields | undefined> {
  const changed: { [name: string]: unknown } = { ...fields }
  for (const name of names) {
    const before = fields[name]
    const read = typeof before === 'number' ? readNumber : readText
    changed[name] = await read(name, String(before), terminal)
    if (changed[name] === undefined) return undefined
  }
  return changed
}

async function pick(message: string, options: Option[], terminal: Terminal): Promise<string | undefined> {
  const picked = await select<string>({ message, options, ...terminal })
  return isCancel(picked) ? undefined : picked
}

async function readText(
  message: string,
  initialValue: string,
  terminal: Terminal,
): Promise<string | undefined> {
  const given = await text({ message, initialValue, ...terminal })
  return isCancel(given) ? undefined : (given ?? '')
}

async function readNumber(
  message: string,
  initialValue: string,
  terminal: Terminal,
): Promise<number | undefined> {
  const validate = (given: string | undefined) =>
    given?.trim() && Number.isFinite(Number(given)) ? undefined : 'Please type a number'
  const given = await text({ message, initialValue, validate, ...terminal })
  return isCancel(given) ? undefined : Number(given)
}
