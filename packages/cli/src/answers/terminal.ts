import { isCancel, multiselect, select, text } from '@clack/prompts'
import { interrupted } from '../door/problem.ts'
import { safe } from '../output/out.ts'

export interface Choice<T> {
  readonly value: T
  readonly label: string
  readonly hint?: string | undefined
}

export interface EntryOptions {
  /** Initial text of the line. */
  readonly initial?: string
  /** Shown while the line is empty. */
  readonly placeholder?: string
  /** Says what is wrong with a line, or returns undefined. */
  readonly check?: (line: string) => string | undefined
}

/** Questions to the person at the terminal. They are written to stderr, so that stdout holds the result alone. */
export interface Terminal {
  choose<T>(message: string, choices: readonly Choice<T>[], initial?: T): Promise<T>
  chooseSeveral<T>(
    message: string,
    choices: readonly Choice<T>[],
    initial: readonly T[],
  ): Promise<readonly T[]>
  enter(message: string, options?: EntryOptions): Promise<string>
  agree(message: string): Promise<boolean>
}

/** Opens the terminal. Each method throws a CommandError with status 130 on Ctrl-C, or once `signal` has aborted. */
export function openTerminal(signal: AbortSignal): Terminal {
  const streams = { input: process.stdin, output: process.stderr, signal }
  return {
    async choose<T>(message: string, choices: readonly Choice<T>[], initial?: T): Promise<T> {
      const at = choices.findIndex(({ value }) => value === initial)
      // Options are picked by position: a value may be of any type.
      const picked = await select<number>({
        ...streams,
        message: safe(message),
        options: choices.map(toOption),
        ...(at < 0 ? {} : { initialValue: at }),
      })
      return (choices[given(picked)] as Choice<T>).value
    },
    async chooseSeveral<T>(message: string, choices: readonly Choice<T>[], initial: readonly T[]) {
      const picked = await multiselect<number>({
        ...streams,
        message: safe(message),
        options: choices.map(toOption),
        initialValues: choices.flatMap(({ value }, index) => (initial.includes(value) ? [index] : [])),
        required: false,
      })
      return given(picked)
        .toSorted((one, other) => one - other)
        .map((index) => (choices[index] as Choice<T>).value)
    },
    async enter(message, { initial = '', placeholder, check } = {}) {
      const line = await text({
        ...streams,
        message: safe(message),
        initialValue: safe(initial),
        ...(placeholder === undefined ? {} : { placeholder: safe(placeholder) }),
        ...(check === undefined ? {} : { validate: (line) => check(line ?? '') }),
      })
      return given(line) ?? ''
    },
    async agree(message) {
      return this.choose(message, [
        { value: false, label: 'No' },
        { value: true, label: 'Yes' },
      ])
    },
  }
}

function toOption({ label, hint }: Choice<unknown>, index: number) {
  return { value: index, label: safe(label), ...(hint === undefined ? {} : { hint: safe(hint) }) }
}

function given<T>(value: T): Exclude<T, symbol> {
  if (isCancel(value)) throw interrupted('Interrupted. Nothing was changed.')
  return value as Exclude<T, symbol>
}
