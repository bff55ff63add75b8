import { type Command, InvalidArgumentError, Option } from 'commander'
import { usageError } from './door/problem.ts'

// Flags that a few commands share.

/** The names of the flags of {@link withChosen}. */
export const chosenFlags: string[] = ['status', 'procedure', 'tag', 'yes']

export function withChosen(command: Command): Command {
  return command
    .option('--status <status>', 'all runs with this status; several are separated by commas')
    .option('--procedure <name>', 'all runs of this procedure')
    .option('--tag <tag>', 'all runs with this tag')
    .option('--yes', 'do not ask for confirmation')
}

export function withAnswer(command: Command): Command {
  return command
    .option('--approve', 'approve')
    .option('--reject', 'reject')
    .option('--choice <choice>', 'the choice of a select, review, escalation or decision')
    .option('--set <path=value>', 'change an editable value of an approval; repeat it for several', collect)
    .option('--value <json|@file>', 'the value of an input')
    .option('--artifact <json|@file>', 'the edited artifact of a review')
    .option('--comment <text>', 'a comment')
    .option('--as <person>', 'who decided, such as user:ana; default: you')
    .option('--yes', 'give a risky answer without confirming it')
}

/** Follows until the end, so no limit applies. */
export function follow(description: string): Option {
  return new Option('--follow', description).conflicts('limit')
}

export function limit(): Option {
  return new Option('--limit <n>', 'at most this many, up to 500').default('50').argParser((text) => {
    if (!/^\d{1,3}$/.test(text) || Number(text) < 1 || Number(text) > 500)
      throw new InvalidArgumentError('It must be a whole number from 1 to 500.')
    return text
  })
}

/** A flag that has another name now. It is refused with the sentence that names it. */
export function renamed(flag: string, instead: string): Option {
  return new Option(flag).hideHelp().argParser(() => {
    throw usageError(instead)
  })
}

export function collect(value: string, others: readonly string[] = []): readonly string[] {
  return [...others, value]
}
