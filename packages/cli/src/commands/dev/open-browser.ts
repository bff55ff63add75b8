import { spawn } from 'node:child_process'

/** The command that opens an address, by platform. `BROWSER` names another. */
const openers: { readonly [platform: string]: readonly [string, ...string[]] } = {
  darwin: ['open'],
  win32: ['cmd', '/c', 'start', ''],
}

/** Opens an address in the browser. `onFailure` is called if there is none. */
export function openBrowser(url: string, env: NodeJS.ProcessEnv, onFailure: () => void): void {
  const named = env['BROWSER']
  const [command, ...args] =
    named === undefined || named === '' ? (openers[process.platform] ?? ['xdg-open']) : [named]
  const child = spawn(command, [...args, url], { stdio: 'ignore', detached: true })
  child.on('error', onFailure)
  child.on('exit', (code) => {
    if (code !== null && code !== 0) onFailure()
  })
  child.unref()
}
