import { expect, test } from 'vitest'
import { commandsOf } from '../../../test/docs/support/commands.ts'
import { proseOf, readPage, readPages } from '../../../test/docs/support/pages.ts'
import { createProgram } from '../src/command-line.ts'

const pages = readPages()
const program = createProgram(process, async () => {})
type Command = typeof program

interface Named {
  readonly path: string
  readonly command: string
}

/** What pages tell people to type after `pawl`: in blocks of `sh`, and in sentences. */
const named: readonly Named[] = pages.flatMap(({ path, text, blocks }) => {
  const typed = blocks.filter(({ language }) => language === 'sh').flatMap((block) => commandsOf(block.text))
  const told = [...proseOf(text).matchAll(/`((?:npx )?pawl [^`]+)`/g)].map(([, command = '']) => command)
  return [...typed, ...told]
    .filter((command) => /^(npx )?pawl /.test(command))
    .map((command) => ({ path, command: command.replace(/^(npx )?pawl\s+/, '') }))
})

/** What is unknown in a command line: a command, or an option of it. */
function unknownIn(command: string): readonly string[] {
  const words = command.replaceAll(/'[^']*'|"[^"]*"/g, 'text').split(/\s+/)
  const given = words.filter((word) => word.startsWith('--')).map((word) => word.replace(/=.*/, ''))
  const { found, rest } = findCommand(program, words)
  if (found === program && rest[0] !== undefined && !rest[0].startsWith('-')) return [rest[0]]
  const known = [
    '--help',
    ...[program, ...chainOf(found)].flatMap(({ options }) => options.map(({ long }) => long)),
  ]
  return given.filter((option) => !known.includes(option))
}

function findCommand(
  from: Command,
  words: readonly string[],
): { readonly found: Command; readonly rest: readonly string[] } {
  const [word, ...rest] = words
  const next = from.commands.find((one) => one.name() === word)
  return next === undefined ? { found: from, rest: words } : findCommand(next, rest)
}

/** A command and its parents. */
function chainOf(command: Command): readonly Command[] {
  return command.parent === null ? [command] : [command, ...chainOf(command.parent)]
}

test('the commands and options of pawl on the pages exist', () => {
  expect(named.length).toBeGreaterThan(40)
  const wrong = named.flatMap(({ path, command }) =>
    unknownIn(command).map((word) => `${path}: ${word} in pawl ${command}`),
  )
  expect(wrong).toEqual([])
})

test('the guide of the command line names every command', () => {
  const { text } = readPage('docs/guides/command-line.md')
  // Hidden commands are for programs, such as the scripts that complete.
  const shown = program.createHelp().visibleCommands(program)
  const names = shown.map((command) => command.name()).filter((name) => name !== 'help')
  expect(names.length).toBeGreaterThan(20)
  expect(names.filter((name) => !new RegExp(`pawl ${name}\\b`).test(text))).toEqual([])
})
