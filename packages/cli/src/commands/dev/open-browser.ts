import { spawn } from 'node:child_process'
import { existsSync } from 'node:fs'
import { delimiter } from 'node:path'

type Command = readonly [string, ...string[]]

/** The command that opens an address, by platform. `BROWSER` names others. */
const openers: { readonly [platform: string]: Command } = {
  darwin: ['open'],
  win32: ['cmd', '/c', 'start', ''],
}

/** Opens an address in the browser. `onFailure` is called if there is none. */
export function openBrowser(url: string, env: NodeJS.ProcessEnv, onFailure: () => void): void {
  const named = readBrowsers(env['BROWSER'] ?? '')
  openByFirst(url, named.length > 0 ? named : [openers[process.platform] ?? ['xdg-open']], onFailure)
}

/** Each command is tried if the one before could not be started, or said that it failed. */
function openByFirst(url: string, [command, ...others]: readonly Command[], onFailure: () => void): void {
  if (command === undefined) return onFailure()
  // Never by a shell: nothing in the address may be read as a part of a command.
  const [program, ...args] = withUrl(command, url)
  const child = spawn(program, args, { stdio: 'ignore', detached: true })
  child.once('error', () => openByFirst(url, others, onFailure))
  child.once('exit', (code) => {
    if (code !== null && code !== 0) openByFirst(url, others, onFailure)
  })
  child.unref()
}

/** Inserts the address for `%s`, else appends it; `%%` is a percent sign. The rules are those of xdg-open. */
function withUrl([program, ...args]: Command, url: string): Command {
  if (!args.some((arg) => /%s/.test(arg.replaceAll('%%', '')))) return [program, ...args.map(unescaped), url]
  return [program, ...args.map((arg) => arg.replaceAll(/%[%s]/g, (sign) => (sign === '%s' ? url : '%')))]
}

function unescaped(arg: string): string {
  return arg.replaceAll('%%', '%')
}

/** Reads commands with arguments, separated as the folders of `PATH` are. A word with spaces is quoted, or is a file that exists. */
function readBrowsers(text: string): readonly Command[] {
  return text.split(delimiter).flatMap((entry): readonly Command[] => {
    if (existsSync(entry)) return [[entry]]
    const words = entry.match(/(?:"[^"]*"|'[^']*'|[^\s"'])+/g) ?? []
    const [program, ...args] = words.map((word) => word.replaceAll(/"([^"]*)"|'([^']*)'/g, '$1$2'))
    return program === undefined ? [] : [[program, ...args]]
  })
}
