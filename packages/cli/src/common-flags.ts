import { type Command, Option } from 'commander'
import { usageError } from './door/problem.ts'
import { collect } from './flags.ts'

export type CommonFlag = 'store' | 'server' | 'token' | 'procedures' | 'config' | 'json'

/** Flags that several commands have. */
const commonFlags: { readonly [name in CommonFlag]: readonly [flag: string, description: string] } = {
  store: ['--store <path|url>', 'a SQLite file, or a postgres:// address'],
  server: ['--server <url>', 'a running Pawl server, used instead of the store'],
  token: ['--token <token>', 'the token for the server; prefer PAWL_TOKEN'],
  procedures: ['--procedures <file>', 'a module that exports procedures; repeat it for several'],
  config: ['--config <file>', 'the config to use instead of pawl.config.ts'],
  json: ['--json', 'print one JSON document'],
}

const names = Object.keys(commonFlags) as readonly CommonFlag[]

/** The flags of commands, by where the commands work. */
export const uses: { readonly [where in 'door' | 'code' | 'store' | 'storeAndCode']: readonly CommonFlag[] } =
  {
    /** On a store or on a server. */
    door: ['store', 'server', 'token', 'config', 'json'],
    /** The same, with the code of procedures if it is a store. */
    code: names,
    /** On a store only. */
    store: ['store', 'config', 'json'],
    storeAndCode: ['store', 'procedures', 'config', 'json'],
  }

/** Adds the common flags to a command. A flag that it does not use is refused with a sentence, and is not in its help. */
export function addCommonFlags(command: Command, used: readonly CommonFlag[]): Command {
  for (const name of names) {
    const [flag, description] = commonFlags[name]
    const option = new Option(flag, description)
    if (name === 'procedures') option.argParser(collect)
    if (!used.includes(name)) option.hideHelp()
    command.addOption(option)
  }
  return command.hook('preAction', () => refuseUnused(command, used))
}

function refuseUnused(command: Command, used: readonly CommonFlag[]): void {
  const given: { readonly [flag in CommonFlag]?: unknown } = command.opts()
  if (used.includes('server') && given.store !== undefined && given.server !== undefined)
    throw usageError('Pass `--store` or `--server`, not both.')
  const unused = names.find((name) => given[name] !== undefined && !used.includes(name))
  if (unused === undefined) return
  const others = used.map((name) => `\`--${name}\``)
  const instead =
    unused === 'server' && used.includes('store')
      ? 'It works on the store itself: pass `--store`.'
      : others.length === 0
        ? ''
        : `Of the common flags it uses ${others.join(', ')}.`
  throw usageError(`\`pawl ${command.name()}\` does not use \`--${unused}\`. ${instead}`.trimEnd())
}
